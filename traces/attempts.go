package traces

import (
	"errors"
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/cursor"
	"github.com/trajectory-arena/arena/traces/formats"
)

// detect decodes a document without a schema that has one of formats.Detectable, or is one
// line of such a document. It returns false for any other document.
func (d *decoder) detect(doc string) (decoded, bool, error) {
	if key := formats.SessionKey(doc); key != "" {
		return decoded{sessionKey: key}, true, nil
	}
	f := formats.Detect(doc)
	if f == nil {
		return decoded{}, false, nil
	}
	out, err := d.attempts(f, doc)
	return out, true, err
}

// attempts decodes a document of format f, which has one attempt or several.
func (d *decoder) attempts(f *formats.Format, doc string) (decoded, error) {
	attempts, err := f.Read(doc, d.limits.Elements)
	if errors.Is(err, formats.ErrTooMany) {
		return decoded{}, &damage{TooManyElements, err.Error()}
	}
	if e, ok := errors.AsType[*formats.NoMessages](err); ok {
		return decoded{}, wrongType(e.Name, "an array", e.Kind)
	}
	if err != nil {
		return decoded{}, err
	}
	if len(attempts) == 0 {
		return decoded{}, &damage{NotATrace, string(f.Name) + " without an attempt in it"}
	}

	results := make([]decoded, len(attempts))
	for i := range attempts {
		results[i], err = d.attempt(&attempts[i])
		if err != nil {
			return decoded{}, err
		}
	}
	results[0].siblings = results[1:]
	return results[0], nil
}

// attempt adds to an attempt its vetoes and the inference calls of its transcript.
func (d *decoder) attempt(a *formats.Attempt) (decoded, error) {
	t := new(a.Trace)
	for _, veto := range a.DeclaredVetoes {
		if !slices.Contains(knownVetoes, veto) {
			veto = vetoForeign
		}
		t.Veto(veto)
	}
	if a.HasLoneSurrogate {
		t.Veto(repairSurrogate)
	}
	err := d.readTranscript(t, a.Transcript)
	return decoded{
		trace:   t,
		session: a.Session,
		trial:   a.Trial,
		part:    a.Part,
	}, err
}

// vetoForeign stands for a word that a file brings and no reader here gives.
const vetoForeign = "foreign_veto" // the file says that the attempt is not to be trained on, in a word of its own

// knownVetoes are the vetoes of readers. Other words in a file become vetoForeign.
var knownVetoes = append(formats.Vetoes, vetoContent, repairUTF8, repairSurrogate, repairNUL)

// readTranscript assigns the inference calls of an episode to its turns. The elements of
// the list count towards the limit of the record.
func (d *decoder) readTranscript(t *arena.Trace, list arena.Raw) error {
	if list == "" {
		return nil
	}
	limits := d.limits
	limits.Elements -= d.nestedElements
	inner := &decoder{
		c:      cursor.New(string(list), limits),
		limits: limits,
	}
	inner.c.Array(inner.proxyCall)
	assignInferences(t, inner.parts.proxy)

	d.nestedElements += inner.c.Taken()
	if inner.c.LoneSurrogate() {
		d.nestedSurrogate = true
	}
	return inner.c.End()
}

package traces

import (
	"errors"
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/cursor"
	"github.com/trajectory-arena/arena/traces/formats"
)

// detect decodes a document that names no schema, as the first of formats.Detectable that it
// matches. If the document is one line of a session, such as one message, it returns only the key
// of the session. The bool is false if the document is neither.
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

// attempts decodes a document of format f. It returns the first attempt, with all others as its
// siblings. The error is a *damage if there is no attempt, if the document has no list of messages,
// or if a limit is exceeded.
func (d *decoder) attempts(f *formats.Format, doc string) (decoded, error) {
	attempts, err := f.Read(doc, d.limits.Elements)
	if errors.Is(err, formats.ErrTooMany) {
		return decoded{}, &damage{TooManyElements, err.Error()}
	}
	if e, ok := errors.AsType[*formats.NoMessages](err); ok {
		want := "an array"
		if e.Kind == arena.String {
			want += " of messages, and not one text with all of them,"
		}
		return decoded{}, wrongType(e.Name, want, e.Kind)
	}
	if err != nil {
		return decoded{}, err
	}
	if len(attempts) == 0 {
		detail := string(f.Name) + " without an attempt in it"
		if f.Whole != "" {
			detail += "; " + f.Whole
		}
		return decoded{}, &damage{NotATrace, detail}
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

// attempt converts an attempt that package formats read. It adds the vetoes (reasons not to train
// on the attempt) that the document declares, with vetoForeign in place of an unknown one, and one
// if a text has half of a UTF-16 surrogate pair. It assigns the model calls in the attempt's
// transcript to the steps, and returns an error if the transcript cannot be read.
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

// vetoForeign is the veto (reason not to train on an attempt) that replaces a veto which a document
// declares and this package does not know.
const vetoForeign = "foreign_veto" // the file says that the attempt is not to be trained on, in a word of its own

// knownVetoes are the vetoes (reasons not to train on an attempt) that a document may declare. The
// readers of this project set them, and its exports write them into documents. Any other declared
// veto becomes vetoForeign.
var knownVetoes = append(formats.Vetoes, vetoContent, repairUTF8, repairSurrogate, repairNUL)

// readTranscript reads list, the JSON array of the model calls of an episode (attempt), and assigns
// the calls to the steps of t. It does nothing if list is empty. The elements count towards the
// record's limit of list elements.
func (d *decoder) readTranscript(t *arena.Trace, list arena.Raw) error {
	if list == "" {
		return nil
	}
	limits := d.limits
	limits.Elements -= d.nestedElements
	inner := &decoder{
		c:      cursor.New(string(list), limits),
		limits: limits,

		logPath: "inference_transcript.calls",
	}
	inner.c.Array(inner.proxyCall)
	assignInferences(t, inner.parts.proxy)

	d.nestedElements += inner.c.Taken()
	if inner.c.LoneSurrogate() {
		d.nestedSurrogate = true
	}
	t.Lost = append(t.Lost, inner.unread.Words()...)
	return inner.c.End()
}

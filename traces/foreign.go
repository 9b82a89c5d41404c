package traces

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/cursor"
	"github.com/trajectory-arena/arena/traces/formats"
)

// foreign reads a document that names no schema and is of a format of package formats,
// or a line of one; is reports whether it was.
func (d *decoder) foreign(schema, doc string) (_ found, err error, is bool) {
	if schema != "" {
		return found{}, nil, false
	}
	if line := formats.SessionKey(doc); line != "" {
		return found{line: line}, nil, true
	}
	f := formats.Detect(doc)
	if f == nil {
		return found{}, nil, false
	}
	out, err := d.attempts(f, doc)
	return out, err, true
}

func (d *decoder) attempts(f *formats.Format, doc string) (found, error) {
	attempts, err := f.Read(doc, d.limits.Elements)
	var none *formats.NoMessages
	switch {
	case errors.Is(err, formats.ErrTooMany):
		return found{}, &damage{TooManyElements, err.Error()}
	case errors.As(err, &none):
		return found{}, wrongType(none.Name, "an array", none.Kind)
	case err != nil:
		return found{}, err
	case len(attempts) == 0:
		return found{}, &damage{NotATrace, string(f.Name) + " without an attempt in it"}
	}
	all := make([]found, len(attempts))
	for i := range attempts {
		a := &attempts[i]
		t := new(a.Trace)
		all[i] = found{trace: t, session: a.Session, trial: a.Trial, part: a.Part}
		for _, word := range a.DeclaredVetoes {
			if !slices.Contains(vetoes, word) {
				word = vetoForeign
			}
			t.Veto(word)
		}
		if a.HasLoneSurrogate {
			t.Veto(repairSurrogate)
		}
		if err := d.transcript(t, a.Transcript); err != nil {
			return found{}, err
		}
	}
	all[0].others = all[1:]
	return all[0], nil
}

// vetoForeign stands for a word that a file brings and no reader here gives.
const vetoForeign = "foreign_veto" // the file says that the attempt is not to be trained on, in a word of its own

// vetoes are the words that a reader may give a trace: no file makes up another.
var vetoes = append(formats.Vetoes, vetoContent, repairUTF8, repairSurrogate, repairNUL)

// session is a conversation that a file keeps as several records, such as one line
// a message.
type session struct {
	// line is where it begins, text its records.
	line int
	text bytes.Buffer
	// over is set once the session, or all of the file, is longer than is held.
	over bool
}

// heldLines is how many lines' worth of sessions are held of one file.
const heldLines = 8

func (r *reader) gather(name string, line int, record []byte) {
	s := r.named[name]
	if s == nil {
		s = &session{line: line}
		r.sessions, r.named[name] = append(r.sessions, s), s
	}
	r.gathered += int64(len(record))
	most := r.opt.Limits.LineBytes
	if s.over = s.over || int64(s.text.Len()+len(record)) > most || r.gathered > heldLines*most; s.over {
		s.text = bytes.Buffer{}
		return
	}
	if s.text.Len() > 0 {
		s.text.WriteByte(',')
	}
	s.text.Write(record)
}

func (r *reader) joined() error {
	all := r.sessions
	r.sessions, r.named = nil, map[string]*session{}
	for _, s := range all {
		if s.over {
			if err := r.fault(s.line, LineTooLong, fmt.Sprintf("session of more than %d bytes, or behind so many", r.opt.Limits.LineBytes), false); err != nil {
				return err
			}
			continue
		}
		if err := r.entry(slices.Concat([]byte(`{"session":[`), s.text.Bytes(), []byte("]}")), s.line); err != nil {
			return err
		}
	}
	return nil
}

// transcript files the inference calls of an episode under its turns. Their elements
// count towards the record's.
func (d *decoder) transcript(t *arena.Trace, list arena.Raw) error {
	if list == "" {
		return nil
	}
	limits := d.limits
	limits.Elements -= d.taken
	inner := &decoder{c: cursor.New(string(list), limits), limits: limits}
	inner.c.Array(inner.proxyCall)
	attribute(t, inner.parts.proxy)
	d.taken, d.surrogate = d.taken+inner.c.Taken(), d.surrogate || inner.c.LoneSurrogate()
	return inner.c.End()
}

// attribute files the inferences under the turns and the turns' calls after them:
// the session saw each call, so it is a dispatch. Calls have no time, so a turn gets
// the inferences up to the next that names one of its tools, and what that one says.
func attribute(t *arena.Trace, asked []arena.ProxyCall) {
	t.Source.HasProxyLog, t.InferenceTotal = true, len(asked)
	last := 0
	for i := range t.Steps {
		s := &t.Steps[i]
		if s.Role != arena.RoleAgent {
			continue
		}
		if n := naming(asked, s.Calls); n > 0 {
			s.Proxy, asked = asked[:n:n], asked[n:]
			// It says what the last of them did.
			said := gjson.Get(s.Proxy[n-1].Response.Text(), "choices.0.message")
			s.Content = said.Get("content").Str
			s.Reasoning = cmp.Or(said.Get("reasoning_content").Str, said.Get("reasoning").Str)
		}
		for _, call := range s.Calls {
			s.Proxy = append(s.Proxy, arena.ProxyCall{Method: "POST", Path: "/" + call.Name, Status: 200, Body: call.Arguments, Response: call.Result, Length: -1})
		}
		last = i
	}
	if len(t.Steps) > 0 {
		t.Steps[last].Proxy = append(t.Steps[last].Proxy, asked...)
	}
}

// naming is how many inferences there are up to the first that names one of the
// calls; 0 where none does.
func naming(asked []arena.ProxyCall, calls []arena.ToolCall) int {
	for i := range asked {
		for j := range calls {
			if calls[j].Name != "" && strings.Contains(string(asked[i].Response), calls[j].Name) {
				return i + 1
			}
		}
	}
	return 0
}

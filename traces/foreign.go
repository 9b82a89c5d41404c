package traces

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/traces/cold"
)

// foreign reads a document that names no schema and is of a format of package cold,
// or a line of one; is reports whether it was.
func (d *decoder) foreign(schema, doc string) (_ found, err error, is bool) {
	if schema != "" || doc == "" {
		return found{}, nil, false
	}
	if line := cold.Part(doc); line != "" {
		return found{line: line}, nil, true
	}
	f := cold.Find(doc)
	if f == nil {
		return found{}, nil, false
	}
	out, err := d.attempts(f, doc)
	return out, err, true
}

func (d *decoder) attempts(f *cold.Format, doc string) (found, error) {
	attempts, err := f.Read(doc, d.limits.Elements)
	var none *cold.NoMessages
	switch {
	case errors.Is(err, cold.ErrTooMany):
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
		all[i] = played(f, &attempts[i])
		if err := d.transcript(all[i].trace, attempts[i].Transcript); err != nil {
			return found{}, err
		}
	}
	all[0].others = all[1:]
	return all[0], nil
}

func played(f *cold.Format, a *cold.Attempt) found {
	t := newTrace(arena.Source{Shape: f.Name, TextArguments: !f.Typed})
	t.RunID, t.ProblemID, t.Agent, t.Model, t.Tools, t.Declared, t.Family = a.Run, a.Problem, a.Agent, a.Model, a.Tools, a.Reward, a.Family
	t.Status, t.Error, t.Lost = cmp.Or(a.Status, t.Status), a.Error, a.Lost
	if a.Seconds != nil {
		t.Seconds = *a.Seconds
	}
	if a.Inferences != nil {
		t.InferenceTotal = *a.Inferences
	}
	if a.Failures != nil {
		t.InferenceFailures = *a.Failures
	}
	v := conversation{t: t, asked: a.Asked}
	for i := range a.Messages {
		v.foreign(&a.Messages[i])
	}
	t.System, t.Query = cmp.Or(t.System, a.System), cmp.Or(a.Request, t.Query, a.Query)
	if a.Dialogue != nil {
		t.HasDialogue = *a.Dialogue
	}
	out := found{trace: t, session: a.Session, trial: a.Trial, part: a.Text}
	if a.NumberedID {
		out.repairs = append(out.repairs, repairID)
	}
	if a.NonText {
		addVeto(t, vetoNonText)
	}
	if a.Copied {
		addVeto(t, vetoCopied)
	}
	if a.Forged {
		addVeto(t, vetoLedger)
	}
	rule(t, &a.Verdict)
	for _, word := range a.Vetoes {
		if !slices.Contains(vetoes, word) {
			word = vetoForeign
		}
		addVeto(t, word)
	}
	if a.Surrogate {
		out.repairs = append(out.repairs, repairSurrogate)
	}
	return out
}

func (v *conversation) foreign(m *cold.Message) {
	switch m.Role {
	case cold.System:
		v.system(m.Step.Content)
	case cold.User:
		v.user(m.Step.Content)
	case cold.Agent:
		v.agent(m.Step)
	case cold.Tool:
		v.result(m.CallID, m.Name, m.Result)
	case cold.Observed:
		v.observed(m)
	case cold.Other:
		addVeto(v.t, vetoRole)
		v.step(arena.Step{Role: arena.RoleSystem, Content: m.Step.Content})
	}
}

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
			if err := r.fault(s.line, LineTooLong, fmt.Sprintf("session of more than %d bytes, or behind so many", r.opt.Limits.LineBytes)); err != nil {
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

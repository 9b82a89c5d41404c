package attempt

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/corpus/where"
	"github.com/trajectory-arena/arena/judges/gates"
)

// Argument is one attempt with all that speaks for and against it. Its scalar
// columns stand in Line; what JSON holds is what a table of attempts does not.
type Argument struct {
	*where.Line `json:"-"`
	Number      int       `json:"n"`
	Checks      []Check   `json:"checks,omitempty"`
	Features    []Feature `json:"features,omitempty"`
	Gates       []Gate    `json:"gates,omitempty"`
	// Steps are passages that the judge cites for no gate.
	Steps  []Passage `json:"steps,omitempty"`
	Detail string    `json:"detail,omitempty"`
	Near   *Near     `json:"near,omitempty"`
	// Rivals are the places in the ledger of all that were ranked at the problem, the
	// best first; Better that of the twin that stays, -1 for none.
	Rivals []int  `json:"rivals,omitempty"`
	Better int    `json:"better"`
	Story  *Story `json:"story,omitempty"`
}

// Check is one check of the filter, with what was measured and its limit.
type Check struct {
	Name   string  `json:"name"`
	Fires  bool    `json:"fires,omitempty"`
	Reason string  `json:"reason,omitempty"`
	Value  float64 `json:"value"`
	Limit  float64 `json:"limit"`
}

// Feature is one measured value.
type Feature struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// Gate is one gate of the judge: passed, failed, or not asked behind one that failed.
type Gate struct {
	Name     string    `json:"name"`
	State    string    `json:"state"`
	Passages []Passage `json:"passages,omitempty"`
}

// The states of a gate.
const (
	GatePassed   = "passed"
	GateFailed   = "failed"
	GateNotAsked = "not asked"
)

// Passage is what a judge cites from a step; 0 for none.
type Passage struct {
	Step  int64  `json:"step"`
	Quote string `json:"quote"`
}

// Near is the nearest protected problem.
type Near struct {
	Problem string `json:"problem"`
	// Texts are its requests, where the bank lies beside the corpus; Words are what
	// they share with the attempt's own request.
	Texts string   `json:"texts,omitempty"`
	Words []string `json:"words,omitempty"`
}

// Argue puts together what the ledger says of the attempt at a place.
func (l *Ledger) Argue(at int) *Argument {
	a := &Argument{Line: l.Lines[at], Number: at, Better: -1}
	if v := a.Verdict; v != nil {
		for _, c := range v.Checks {
			a.Checks = append(a.Checks, Check{c.Check, !c.Keep, c.Reason, finite(c.Value), finite(c.Limit)})
		}
		for _, f := range v.Features {
			a.Features = append(a.Features, Feature(f))
		}
	}
	if j := a.Judgement; j != nil {
		a.judged(j)
	}
	if x := a.Leak; x != nil {
		a.Near = &Near{Problem: x.Match, Texts: cmp.Or(l.protected[x.Match], l.protected[l.clusters[x.Match]])}
	}
	a.Rivals = l.byProblem[a.Attempt.ProblemID]
	if a.Place != nil {
		if better, known := l.Find(a.Place.Better); known {
			a.Better = better
		}
	}
	return a
}

// Clean replaces secrets in all that is quoted from a trace.
func (a *Argument) Clean(clean func(string) string) error {
	b, err := json.Marshal(a)
	if err != nil {
		return err
	}
	c := Argument{Line: a.Line}
	if err = json.Unmarshal([]byte(clean(string(b))), &c); err != nil {
		return err
	}
	*a = c
	return nil
}

// finite is 0 for what JSON has no number for.
func finite(x float64) float64 {
	if rows.Finite(x) == nil {
		return 0
	}
	return x
}

func (a *Argument) judged(j *rows.Judgement) {
	a.Detail = j.Detail
	failed := false
	for i, name := range gates.Names {
		g := Gate{Name: name, State: GateNotAsked}
		switch passed := i < len(j.Gates) && j.Gates[i]; {
		case passed:
			g.State = GatePassed
		case !failed && j.Score != nil:
			g.State, failed = GateFailed, true
		}
		a.Gates = append(a.Gates, g)
	}
	for _, s := range j.Spans {
		p := Passage{s.Step, s.Quote}
		if k := int(s.Gate) - 1; k >= 0 && k < len(a.Gates) {
			a.Gates[k].Passages = append(a.Gates[k].Passages, p)
		} else {
			a.Steps = append(a.Steps, p)
		}
	}
}

// shared are the words of a request that a protected text holds too, as the
// request writes them, each once; words of three letters and less tell nothing.
func shared(request, protected string) (out []string) {
	words := func(s string) []string {
		return strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	}
	held := map[string]bool{}
	for _, w := range words(protected) {
		held[strings.ToLower(w)] = true
	}
	for _, w := range words(request) {
		if len(w) > 3 && held[strings.ToLower(w)] && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

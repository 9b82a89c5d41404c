package attempt

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/corpus/where"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/stats"
	"github.com/trajectory-arena/arena/judges/shop/gates"
)

// Argument is one attempt with the evidence for and against it. The scalar columns are in Line.
// The JSON has only what the table of attempts does not have.
type Argument struct {
	*where.Line `json:"-"`
	Number      int            `json:"n"`
	Checks      []Check        `json:"checks,omitempty"`
	Features    []rows.Feature `json:"features,omitempty"`
	Gates       []Gate         `json:"gates,omitempty"`
	// Steps are the passages that the judge cites for no gate.
	Steps  []Passage `json:"steps,omitempty"`
	Detail string    `json:"detail,omitempty"`
	// Now is the grade of an attempt that the build did not ask about, made from its trace for this
	// argument. It is nil for all others.
	Now *float64 `json:"now,omitempty"`
	// Score says whether the attempt solved its problem, and who says so.
	Score string `json:"score"`
	// Unknown is the reason why the filter could not decide who made the calls, "" if it could.
	Unknown string `json:"unknown,omitempty"`
	// Unasked is the reason why the guard was not run or why its findings are not shown, "" if
	// they are. Pool is the pool of the problem's cluster, "" without a bank.
	Unasked string     `json:"unasked,omitempty"`
	Pool    guard.Pool `json:"pool,omitempty"`
	Near    *Near      `json:"near,omitempty"`
	// Rivals are the indices of all attempts that were ranked at the problem, the best first.
	Rivals []int `json:"rivals,omitempty"`
	// Better is the index of the near-duplicate that ranks above this attempt, -1 if there is
	// none.
	Better int `json:"better"`
	// Ways are the filter's ratings of the rivals' trajectories, from 0 to 1. They decide
	// between attempts with equal rewards.
	Ways []float64 `json:"ways,omitempty"`
	// First is a sentence on which of the two near-duplicates started first.
	First string `json:"first,omitempty"`
	Story *Story `json:"story,omitempty"`
}

// Check is one check of the filter, with the measured value and its limit.
type Check struct {
	Name   string  `json:"name"`
	Fires  bool    `json:"fires,omitempty"`
	Reason string  `json:"reason,omitempty"`
	Value  float64 `json:"value"`
	Limit  float64 `json:"limit"`
}

// Gate is one gate of the judge. It passed, failed, or was not reached because an earlier one
// failed.
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

// Passage is a text that a judge cites. Step is 0 if the judge names no step.
type Passage struct {
	Step  int64  `json:"step"`
	Quote string `json:"quote"`
}

// Near is the protected problem that is most similar to the attempt.
type Near struct {
	Problem string `json:"problem"`
	// Texts are the requests of the protected problem, if the corpus has a bank. Passage is the
	// sentence of the attempt that has the most words in common with them, and Where describes
	// its position.
	Texts   string `json:"texts,omitempty"`
	Passage string `json:"passage,omitempty"`
	Where   string `json:"where,omitempty"`
	// Found describes the places in the dialogue at which the id or title of a protected problem occurs.
	Found []string `json:"found,omitempty"`
}

// Argue returns the argument of the attempt with this index in l.Lines.
func (l *Ledger) Argue(index int) *Argument {
	a := &Argument{
		Line:   l.Lines[index],
		Number: index,
		Better: -1,
	}
	if v := a.Whole(); v != nil {
		for _, c := range v.Checks {
			a.Checks = append(a.Checks, Check{c.Check, !c.Keep, c.Reason, finite(c.Value), finite(c.Limit)})
		}
		a.Features = v.Features
		if v.Axis == string(arena.AxisUnknown) {
			a.Unknown = l.undecided(a) + "; who acted is asked first, and without an answer no other check decides"
		}
	}
	a.Score = score(a.Line)
	a.Pool = l.pools[a.Attempt.Cluster]
	a.Unasked = l.unasked(a)
	if j := a.Judgement; j != nil {
		a.judged(j)
	}
	if x := a.Leak; x != nil && a.Unasked == "" {
		a.Near = &Near{
			Problem: x.Match,
			Texts:   cmp.Or(l.protected[x.Match], l.protected[l.clusters[x.Match]]),
		}
	}
	a.Rivals = l.byProblem[a.Attempt.ProblemID]
	for _, rival := range a.Rivals {
		a.Ways = append(a.Ways, l.ways[rival])
	}
	if a.Place != nil {
		if better, known := l.Find(a.Place.Better); known {
			a.Better, a.First = better, first(a.Attempt, l.Lines[better].Attempt)
		}
	}
	return a
}

// score returns whether an attempt solved its problem, with who decided it: the source of the attempt, the
// subnet's rules or the verifier of an environment.
func score(l *where.Line) string {
	o := l.Outcome
	switch {
	case o == nil:
		return "not asked"
	case !o.Scored:
		return "none: " + cmp.Or(o.Error, "it did not end well, or left no dialogue")
	}
	result := "no success"
	if o.Success {
		result = "success"
	}
	switch {
	case l.Declared != nil && l.Declared.Reward != nil:
		return fmt.Sprintf("%s, since its source declares the reward %s", result, number(l.Declared.Reward))
	case o.Length != nil:
		return result + " by the subnet's rules"
	}
	result += " by the verifier of its environment"
	if len(o.Failed) > 0 {
		result += ", which failed " + strings.Join(o.Failed, ", ")
	}
	return result
}

// way returns the filter's rating of an attempt, from 0 to 1 and rounded to four decimals, for how
// the agent proceeded. The rating decides the order of attempts with equal rewards.
func way(line *where.Line) float64 {
	var s arena.Structure
	if v := line.Whole(); v != nil {
		for _, f := range v.Features {
			s.Features = append(s.Features, arena.Feature{
				Name:  f.Name,
				Value: f.Value,
			})
		}
	}
	return math.Round(filters.RankScore(&s)*1e4) / 1e4
}

// unasked returns the reason why an explanation shows no findings of the guard (which detects
// held-out problems) on an attempt: the guard was not run on it, because it runs last and only on
// attempts that may become rows, the attempt's own problem is held out, or the findings are secret.
// It returns "" if findings are shown.
func (l *Ledger) unasked(a *Argument) string {
	switch x := a.Attempt; {
	case l.protected == nil:
		return "what it found is not told outside"
	case len(l.heldOut[x.Cluster]) > 0:
		texts := slicesx.Map(strings.Split(l.protected[x.Cluster], "\n"), shorten)
		return fmt.Sprintf("its problem is in a cluster with %s, which is held out; the cluster asks: %s", strings.Join(l.heldOut[x.Cluster], ", "), strings.Join(texts, " | "))
	case a.Leak != nil:
	case x.Cluster == "":
		return "not asked: its problem is not known"
	case x.Stage == "read" || x.Stage == "filter":
		return "not asked: it left at " + x.Stage
	case a.Pool == guard.PoolNeverTouch:
		return "not asked: its own problem is protected, and in no split"
	}
	return ""
}

func (l *Ledger) undecided(a *Argument) string {
	measured := map[string]float64{}
	for _, f := range a.Features {
		measured[f.Name] = f.Value
	}
	day := slices.IndexFunc(a.Checks, func(c Check) bool {
		return c.Fires && filters.IsOfDay(c.Name)
	})
	dispatches, logged := measured["dispatches"]
	switch {
	case measured["turns"] == 0:
		return "it left no dialogue, so there are no calls to ask about"
	case day >= 0:
		return "the attempt's log speaks for the model, its agent's day against it (" + a.Checks[day].Name + ")"
	case !logged:
		return "no log of the proxy shows what the model replied"
	case dispatches == 0:
		return "the proxy saw no dispatch that a reply could have named"
	case measured["unreadable_replies"] < measured["inference"] && measured["log_odds"] == 0:
		return "as much speaks for the model as against it: the log-odds are 0"
	}
	return "replies cannot be read, or fit the calls in order and not by their clocks"
}

func first(this, other *rows.Attempt) string {
	switch {
	case this.RunDate == nil || other.RunDate == nil:
		return "which began first is not known"
	case *this.RunDate == *other.RunDate:
		return "both runs began at " + began(this)
	case *this.RunDate < *other.RunDate:
		return "this one's run began first, " + began(this) + " against " + began(other) + ", and ranks behind it all the same"
	}
	return "the near duplicate's run began first, " + began(other) + " against " + began(this)
}

func began(a *rows.Attempt) string { return time.UnixMilli(*a.RunDate).UTC().Format(time.DateTime) }

// Clean applies clean, which replaces secrets, to all texts of the argument that are quoted from
// a trace.
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

// finite returns x, or 0 for values that JSON cannot represent: infinities and NaN.
func finite(x float64) float64 {
	if stats.FiniteOrNil(x) == nil {
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
			g.State = GateFailed
			failed = true
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

// shared returns the words of a request that a protected text contains too. Each word is
// returned once, in the spelling and order of the request. Words of at most three bytes are left
// out.
func shared(request, protected string) (out []string) {
	words := func(s string) []string {
		return strings.FieldsFunc(s, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsNumber(r)
		})
	}
	protectedWords := map[string]bool{}
	for _, w := range words(protected) {
		protectedWords[strings.ToLower(w)] = true
	}
	for _, w := range words(request) {
		if len(w) > 3 && protectedWords[strings.ToLower(w)] && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

package survey

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/judges"
	"github.com/trajectory-arena/arena/judges/agreement"
)

// TestEveryProposalIsADomain proposes a domain from hostile names and checks that the proposal can
// be read.
func TestEveryProposalIsADomain(t *testing.T) {
	t.Parallel()
	s := New()
	n := 7.5
	for _, name := range []string{"book_room", "find", "a: b", "x\n  y: {role: act}", "", "#", "9lives", strings.Repeat("n", 300)} {
		call := arena.Call{Name: name, Arguments: `{"room_id":1,"q":"x","k: v":"z","ids":["a"]}`, Result: "1"}
		s.Add(&arena.Trace{Declared: &n, Error: &arena.AttemptError{Type: "a\nb: c"}}, &arena.Dialogue{Turns: []arena.Turn{{Calls: []arena.Call{call}}}})
	}
	d, err := domain.Parse(s.Propose("inn"))
	if err != nil {
		t.Fatalf("%v in:\n%s", err, s.Propose("inn"))
	}
	if d.Tools["book_room"].Role != domain.RoleAct || d.Tools["find"].Role != domain.RoleSearch || len(d.Tools) != 3 || d.Outcome.Pass != 7.5 {
		t.Errorf("tools %+v, pass mark %v", d.Tools, d.Outcome.Pass)
	}
}

// TestAToolWhoseLastCallHasNoResultEnds proposes the role end for a tool whose call is the last one and
// has no result in most attempts that call it, and for no other.
func TestAToolWhoseLastCallHasNoResultEnds(t *testing.T) {
	t.Parallel()
	s := New()
	for i := range 4 {
		calls := []arena.Call{{Name: "run_code", Result: "1"}, {Name: "final_answer"}}
		if i == 0 { // the attempt was cut off
			calls = []arena.Call{{Name: "final_answer", Result: "wrong"}, {Name: "run_code"}}
		}
		s.Add(&arena.Trace{}, &arena.Dialogue{Turns: []arena.Turn{{Calls: calls}}})
	}
	d, err := domain.Parse(s.Propose("desk"))
	if err != nil || d.Tools["final_answer"].Role != domain.RoleEnd || d.Tools["run_code"].Role != domain.RoleAct {
		t.Errorf("%v, tools %+v", err, d.Tools)
	}
}

// TestAProposalNamesWhatThinkingCites proposes the kinds of evidence that thinking cites, and counts
// the currencies of requests.
func TestAProposalNamesWhatThinkingCites(t *testing.T) {
	t.Parallel()
	s := New()
	s.Add(&arena.Trace{Query: "Pay back 30 euros or $20 that I won"}, &arena.Dialogue{Turns: []arena.Turn{
		{Calls: []arena.Call{{Name: "show", Result: `"W1234567 of May 5 has 412.50"`}}},
		{Step: 1, Think: "W1234567 has 412.50, and Tom is not in it."},
	}})
	text := string(s.Propose("desk"))
	d, err := domain.Parse([]byte(text))
	if err != nil || !slices.Equal(d.Evidence, []domain.Evidence{domain.EvidenceID, domain.EvidenceNumber}) {
		t.Errorf("%v, evidence %v", err, d.Evidence)
	}
	if !strings.Contains(text, "# currencies in requests: eur 1, usd 1;") {
		t.Errorf("no currencies in\n%s", text)
	}
}

// TestFiguresAreReplacedAndAllElseStays writes figures into a file twice.
func TestFiguresAreReplacedAndAllElseStays(t *testing.T) {
	t.Parallel()
	const file = "# mine\nname: inn\ntitle: Inns\nmeasured:\n  judge: {version: old, figure: auc, value: 0.9, n: 1}\n\n# the outcome\noutcome: {from: declared, pass: 1}\nunlogged: keep\n"
	results := []Result{
		{Instrument: domain.Judge, Measurement: &domain.Measurement{Version: "j_v1", Figure: "auc", Value: 0.7, Low: 0.6, High: 0.8, N: 90, On: "traces", Date: "2026-11-28"}},
		{Instrument: domain.Steps, Why: "no labels"},
	}
	once := Write([]byte(file), results)
	if twice := Write(once, results); string(twice) != string(once) {
		t.Errorf("written twice:\n%s\nonce:\n%s", twice, once)
	}
	d, err := domain.Parse(once)
	if err != nil {
		t.Fatal(err)
	}
	if !d.On(domain.Judge, "j_v1") || len(d.Measured) != 1 {
		t.Errorf("measured %+v", d.Measured)
	}
	for _, setting := range []string{"# mine\n", "# the outcome\n", "unlogged: keep\n"} {
		if !strings.Contains(string(once), setting) {
			t.Errorf("the file lost %q:\n%s", setting, once)
		}
	}
}

// TestOtherTasksAreThoseOfOneAgent compares requests that two agents attempted: only tasks that one
// of them had under two ids are known to be different.
func TestOtherTasksAreThoseOfOneAgent(t *testing.T) {
	t.Parallel()
	c := Check{requests: map[string]*request{}}
	for _, x := range []struct{ agent, id, text string }{
		{"a", "1", "refund"}, {"a", "2", "upgrade"}, {"b", "9", "money back"}, {"b", "2", "upgrade"}, {"", "", "bag"}, {"", "", "seat"},
	} {
		trace := &arena.Trace{ProblemID: x.id, Agent: arena.Agent{VersionID: x.agent}}
		c.addRequest(x.text, trace, &arena.Dialogue{})
	}
	for pair, want := range map[[2]string]bool{
		{"refund", "upgrade"}:    true,
		{"refund", "money back"}: false,
		{"upgrade", "upgrade"}:   false,
		{"bag", "seat"}:          true,
		{"bag", "refund"}:        false,
	} {
		if got := c.requests[pair[0]].isOther(c.requests[pair[1]]); got != want {
			t.Errorf("%v: %t, want %t", pair, got, want)
		}
	}
	if n := len(c.requests["upgrade"].attempts); n != 2 {
		t.Errorf("%d attempts at the request of two agents, want 2", n)
	}
}

// needs is a judge of steps that calls the steps of every attempt needed, waste and unclear.
type needs struct{}

func (needs) Steps(context.Context, *arena.Trace, *arena.Dialogue) (arena.StepJudgement, error) {
	j := arena.StepJudgement{Judgement: arena.Judgement{Outcome: arena.JudgeScored}}
	for _, need := range []arena.Need{arena.StepNeeded, arena.StepWaste, arena.StepUnclear} {
		j.Steps = append(j.Steps, arena.StepVerdict{Need: need})
	}
	return j, nil
}

// TestStepsAreMeasuredByLabels gives labels of two steps of an attempt: one is wrong in every tenth
// attempt, and the third says that a step is unclear, which counts for nothing.
func TestStepsAreMeasuredByLabels(t *testing.T) {
	t.Parallel()
	var lines strings.Builder
	for n := range 60 {
		second := "waste"
		if n%10 == 0 {
			second = "needed"
		}
		fmt.Fprintf(&lines, `{"eval_run_id":"r","problem_id":"%d","steps":[{"verdict":"needed"},{"verdict":%q},{"verdict":"waste"}]}`+"\n", n, second)
	}
	labels, err := agreement.ReadRatings(strings.NewReader(lines.String()), "labels", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for attempts, want := range map[int]string{
		60: "precision 0.950 (0.895 to 0.977, n 120), , ",
		49: "n_v1 calls 98 of 147 steps needed or waste, of which 98 have labels in --labels: at least 100 are needed",
	} {
		c := Check{Steps: needs{}, StepsAre: judges.Identity{Name: "n_v1"}, Labels: &labels}
		for n := range attempts {
			if err := c.addSteps(t.Context(), &arena.Trace{RunID: "r", ProblemID: fmt.Sprint(n)}, nil); err != nil {
				t.Fatal(err)
			}
		}
		r := c.precision()
		got := r.Why
		if r.Measurement != nil {
			got = r.Measurement.String()
		}
		if got != want {
			t.Errorf("%d attempts: %s, want %s", attempts, got, want)
		}
	}
	if labels.Scores[agreement.Key{Run: "r", Problem: "1"}] != nil || (&Check{Labels: &labels}).hasGrades() {
		t.Error("labels of steps count as grades of attempts")
	}
}

// TestAdaptivityIsMeasuredBetweenProgramsAndModels measures agents whose calls open what a result
// named, in several orders, and programs that do the same always.
func TestAdaptivityIsMeasuredBetweenProgramsAndModels(t *testing.T) {
	t.Parallel()
	set, err := domain.NewSet("coding")
	if err != nil {
		t.Fatal(err)
	}
	a, err := newAgents(set.Forced())
	if err != nil {
		t.Fatal(err)
	}
	call := func(name, command, result string) arena.Turn {
		arguments := arena.Raw(`{"command":` + string(arena.Quote(command)) + `}`)
		return arena.Turn{Calls: []arena.Call{{Name: name, Arguments: arguments, Result: arena.Quote(result)}}}
	}
	for _, kind := range []string{"model", "made"} {
		for n := range 5 {
			agent := fmt.Sprintf("%s-%d", kind, n)
			for task := range 10 {
				file := fmt.Sprintf("file%d.go", 100*task+n)
				d := &arena.Dialogue{Turns: []arena.Turn{call("bash", "ls", file), call("bash", "cat "+file, "text")}}
				if kind == "made" {
					d.Turns[1] = call("bash", "submit", "")
				} else if task%2 == 0 {
					d.Turns[1] = call("bash", "head "+file, "text")
				}
				a.add(&arena.Trace{ID: fmt.Sprintf("%s/%d", agent, task), RunID: agent}, d)
			}
		}
	}
	if r := a.adaptivity(domain.UseV1, []string{"model-[0-1]", "made-*"}); r.Measurement != nil || !strings.HasPrefix(r.Why, "3 models and 7 programs") {
		t.Errorf("three models: %+v", r)
	}
	if r := a.adaptivity(domain.UseV1, []string{"made-*", "nobody-*"}); r.Measurement != nil || !strings.HasPrefix(r.Why, "no agent's name matches nobody-*; ") {
		t.Errorf("a pattern of no agent: %+v", r)
	}
	m := a.adaptivity(domain.UseV1, []string{"made-*"}).Measurement
	if m == nil || m.Value != 1 || m.N != 100 || m.Version != domain.UseV1 {
		t.Errorf("measured %+v", m)
	}
}

// reader is a judge that stores the thinking that it reads.
type reader struct{ thoughts []string }

func (r *reader) Judge(_ context.Context, _ *arena.Trace, d *arena.Dialogue) (arena.Judgement, error) {
	r.thoughts = append(r.thoughts, d.Turns[0].Think)
	return arena.Judgement{}, nil
}

func (r *reader) Steps(ctx context.Context, t *arena.Trace, d *arena.Dialogue) (arena.StepJudgement, error) {
	j, err := r.Judge(ctx, t, d)
	return arena.StepJudgement{Judgement: j}, err
}

// TestJudgesReadWhatTheLogHolds checks that the measured judges read no sentence that no logged reply
// contains.
func TestJudgesReadWhatTheLogHolds(t *testing.T) {
	t.Parallel()
	const said = "The red lamp costs less than the blue one."
	reply := arena.Raw(`{"choices":[{"message":{"content":"` + said + `"}}]}`)
	trace := &arena.Trace{InferenceTotal: 1, Steps: []arena.Step{{Proxy: []arena.ProxyCall{{Path: "/v1/chat/completions", Status: 200, Response: reply}}}}}
	d := &arena.Dialogue{Turns: []arena.Turn{{Think: said + "\nIt is cheaper"}}}
	r := &reader{}
	var builtin *domain.Set
	check := Check{Domain: builtin.ByName(domain.Shop), Judge: r, Steps: r}
	if err := check.Add(t.Context(), trace, d); err != nil {
		t.Fatal(err)
	}
	if want := []string{said, said}; !slices.Equal(r.thoughts, want) {
		t.Errorf("read %q, want %q", r.thoughts, want)
	}
}

// TestWarningOnRewardsThatSolveNothing checks that a proposal in whose domain no reward means solved is
// warned of if the rewards are not on the usual scale, and not if all attempts failed.
func TestWarningOnRewardsThatSolveNothing(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		rewards []float64
		want    string
	}{
		{[]float64{-1, 0}, "no reward that was seen is above 0"},
		{[]float64{-3}, "no reward that was seen is above 0"},
		{[]float64{-1, 1}, ""},
		{[]float64{0, 0}, ""},
		{[]float64{0, 0.5}, "outcome.pass is 0.5, the highest"},
		{nil, "no attempt states a reward"},
	} {
		s := New()
		for _, reward := range tt.rewards {
			s.Add(&arena.Trace{Declared: &reward}, &arena.Dialogue{})
		}
		if got := s.Warning(); !strings.Contains(got, tt.want) || (got == "") != (tt.want == "") {
			t.Errorf("%v: %q", tt.rewards, got)
		}
	}
}

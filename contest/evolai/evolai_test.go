package evolai

import (
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/internal/longtest"
)

const sample = "../../testdata/contest/evolai/log.jsonl"

func read(t *testing.T, path string) *Report {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := Read(f)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestPublishedGates checks that the decisions for all eleven lines of the public log are those
// that it prints.
func TestPublishedGates(t *testing.T) {
	t.Parallel()
	r := read(t, longtest.Shared(t, "data/real/sn47/gates.jsonl"))
	if len(r.Gates) != 11 || r.Reproduced.Value != 1 {
		t.Errorf("%+v", r)
	}
	reasons := map[string]int{}
	for _, g := range r.Gates {
		reasons[g.Improve]++
		if len(g.Differs)+len(g.Open) > 0 || g.Gate != "FAIL" {
			t.Errorf("%+v", g)
		}
	}
	if reasons["same_revision"] != 7 || reasons["too_small"] != 4 {
		t.Errorf("%v", reasons)
	}
}

func TestSampleLog(t *testing.T) {
	t.Parallel()
	r := read(t, sample)
	var messages []string
	for _, g := range r.Gates {
		messages = append(messages, g.Improve, g.Gate, fmt.Sprint(g.Differs, g.Open))
	}
	want := "improved PASS [] [the score's mapping of KL, which is not published] same_revision FAIL [] [] " +
		"same_revision FAIL [requirement: 1.7673, the log has 1.9] []"
	if got := strings.Join(messages, " "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if len(r.Violations) != 1 || r.Violations[0].Line != 5 || r.Events != 5 {
		t.Errorf("%+v", r.Violations)
	}
	if r.Averages != 2 || r.AveragesEqual != 2 || r.Noise.N != 3 || r.Quests[0].Solved != 0 || len(r.Quests[0].Quests) != 2 {
		t.Errorf("%+v", r)
	}
}

func number(v float64) *float64 { return &v }

// TestDecideAtLimits checks that values at both limits pass, that unknown references fail, and that
// a case which depends on digits that printing rounds away is undecided.
func TestDecideAtLimits(t *testing.T) {
	t.Parallel()
	line := func(kl, before, current, next float64) *Line {
		return &Line{KLCurrent: &kl, Previous: &before, EMACurrent: &current, EMANext: &next}
	}
	for _, c := range []struct {
		line *Line
		want string
	}{
		{line(0.98, 1, 1, 1.19), "improved true PASS 1"},
		{line(0.9, 1, 1, 1.2), "improved true PASS 1"},
		{line(0.99, 1, 1, 1), "too_small true FAIL 0"},
		{line(0.9, 1, 1, 1.3), "improved false FAIL 0"},
		{line(1, 1, 1, 1), "same_revision true FAIL 0"},
		{&Line{KLCurrent: number(1), EMACurrent: number(1), EMANext: number(1)}, "no_reference true FAIL 0"},
		{&Line{KLCurrent: number(0.9), Previous: number(1)}, "improved false FAIL 1"},
		{&Line{KLCurrent: number(0.5), Previous: number(1), Revision: "a", PreviousRevision: "a", EMACurrent: number(1), EMANext: number(1)}, "same_revision true FAIL 0"},
		{&Line{KLCurrent: number(1), Previous: number(1), Revision: "b", PreviousRevision: "a", EMACurrent: number(1), EMANext: number(1)}, "too_small true FAIL 0"},
	} {
		g := Decide(c.line)
		if got := fmt.Sprintf("%s %v %s %d", g.Improve, g.Consistent, g.Gate, len(g.Open)); got != c.want {
			t.Errorf("%+v: %s, want %s", c.line, got, c.want)
		}
	}
}

// TestDecideReportsDifferences changes one printed number or word at a time.
func TestDecideReportsDifferences(t *testing.T) {
	t.Parallel()
	yes := true
	good := Line{KLCurrent: number(1.8031), Previous: number(1.8108), Requirement: number(1.7746), EMACurrent: number(1.8616), EMANext: number(1.8473),
		Ratio: number(0.992), Consistent: &yes, Reason: "too_small", Gate: "FAIL", Score: number(0)}
	for name, change := range map[string]func(*Line){
		"requirement: 1.7746, the log has 1.77": func(l *Line) { l.Requirement = number(1.77) },
		"consistency ratio: 0.992":              func(l *Line) { l.Ratio = number(0.994) },
		"consistency: the log has false":        func(l *Line) { no := false; l.Consistent = &no },
		`improve: the log has "same_revision"`:  func(l *Line) { l.Reason = "same_revision" },
		"gate: the log has PASS":                func(l *Line) { l.Gate = "PASS" },
		"score: the gate fails, the log has":    func(l *Line) { l.Score = number(0.2) },
	} {
		l := good
		change(&l)
		if g := Decide(&l); len(g.Differs) != 1 || !strings.HasPrefix(g.Differs[0], name) {
			t.Errorf("%s: %q", name, g.Differs)
		}
	}
	if g := Decide(&good); len(g.Differs) > 0 {
		t.Errorf("%q", g.Differs)
	}
	zero := Line{KLCurrent: number(0.9), Previous: number(0), EMACurrent: number(1), EMANext: number(1)}
	if g := Decide(&zero); g.Change != nil || g.Gate != "FAIL" {
		t.Errorf("%+v", g)
	}
	open := Line{KLCurrent: number(0.9), Previous: number(1), Reason: "improved", Gate: "PASS", Score: number(0.2)} // without averages
	if g := Decide(&open); len(g.Differs) > 0 || len(g.Open) != 1 {
		t.Errorf("%q, open %q", g.Differs, g.Open)
	}
}

// TestOrderRejectsEveryWrongOrder tries all orders of two locks, a seed and two evaluations. An
// order has no violation exactly if both locks precede the seed and each evaluation follows it.
func TestOrderRejectsEveryWrongOrder(t *testing.T) {
	t.Parallel()
	events := []Event{{Event: "lock", UID: 1, Revision: "a"}, {Event: "lock", UID: 2, Revision: "b"}, {Event: "seed", Seed: "s"},
		{Event: "evaluate", UID: 1, Revision: "a", Seed: "s"}, {Event: "evaluate", UID: 2, Revision: "b", Seed: "s"}}
	tried := 0
	allowed := 0
	permutations(len(events), func(sequence []int) {
		offsets := make([]int, len(events))
		o := order{}
		wrong := 0
		for i, k := range sequence {
			offsets[k] = i
			if o.add(&events[k]) != "" {
				wrong++
			}
		}
		right := max(offsets[0], offsets[1]) < offsets[2] && offsets[2] < min(offsets[3], offsets[4])
		tried++
		if right {
			allowed++
		}
		if right != (wrong == 0) {
			t.Errorf("order %v: %d violations", sequence, wrong)
		}
	})
	if tried != 120 || allowed != 4 {
		t.Errorf("%d orders, %d allowed", tried, allowed)
	}
}

func permutations(n int, visit func([]int)) {
	sequence := make([]int, n)
	for i := range sequence {
		sequence[i] = i
	}
	var swap func(int)
	swap = func(k int) {
		if k == n {
			visit(sequence)
			return
		}
		for i := k; i < n; i++ {
			sequence[k], sequence[i] = sequence[i], sequence[k]
			swap(k + 1)
			sequence[k], sequence[i] = sequence[i], sequence[k]
		}
	}
	swap(0)
}

// TestViolationsHaveReasons tests one round of each violation and one correct round.
func TestViolationsHaveReasons(t *testing.T) {
	t.Parallel()
	lock := Event{Epoch: 1, Event: "lock", UID: 1, Revision: "a", Block: 5}
	seed := Event{Epoch: 1, Event: "seed", Seed: "s", Block: 6}
	eval := Event{Epoch: 1, Event: "evaluate", UID: 1, Revision: "a", Seed: "s", Block: 7}
	next := []Event{{Epoch: 2, Event: "lock", UID: 1, Revision: "a"}, {Epoch: 2, Event: "seed", Seed: "t"}}
	with := func(e Event, change func(*Event)) Event { change(&e); return e }
	for want, events := range map[string][]Event{
		"":                      append([]Event{lock, seed, eval}, append(next, Event{Epoch: 2, Event: "evaluate", UID: 1, Revision: "a", Set: "current", Seed: "s"})...),
		"the current set has":   append([]Event{lock, seed, eval}, append(next, Event{Epoch: 2, Event: "evaluate", UID: 1, Revision: "a", Set: "current", Seed: "t"})...),
		"miners have seen":      {lock, seed, eval, next[0], {Epoch: 2, Event: "seed", Seed: "s"}},
		"a second seed":         {lock, seed, with(seed, func(e *Event) { e.Seed = "u" }), eval},
		"no seed is":            {lock, with(seed, func(e *Event) { e.Seed = "" }), seed, eval},
		"no revision is":        {with(lock, func(e *Event) { e.Revision = "" }), lock, seed, eval},
		"locked twice":          {lock, with(lock, func(e *Event) { e.Revision = "b" }), seed, eval},
		"is evaluated":          {lock, seed, with(eval, func(e *Event) { e.Revision = "b" })},
		"without a locked":      {lock, seed, with(eval, func(e *Event) { e.UID = 9 })},
		"evaluated on seed":     {lock, seed, with(eval, func(e *Event) { e.Seed = "x" })},
		"evaluated twice":       {lock, seed, eval, eval},
		"neither current nor":   {lock, seed, with(eval, func(e *Event) { e.Set = "x" })},
		"block 3 comes after 6": {lock, seed, with(eval, func(e *Event) { e.Block = 3 })},
		"epoch 0 comes after 1": {lock, seed, with(eval, func(e *Event) { e.Epoch = 0 })},
		"none of lock, seed":    {lock, seed, with(eval, func(e *Event) { e.Event = "x" })},
	} {
		var o order
		var messages []string
		for i := range events {
			if reason := o.add(&events[i]); reason != "" {
				messages = append(messages, reason)
			}
		}
		isRight := len(messages) == 0
		if want != "" {
			isRight = len(messages) == 1 && strings.Contains(messages[0], want)
		}
		if !isRight {
			t.Errorf("%q: %q", want, messages)
		}
	}
}

// TestQuestsEqualPython compares 400 quests with those that CPython 3.12 samples from the same
// seeds.
func TestQuestsEqualPython(t *testing.T) {
	t.Parallel()
	sum := sha256.New()
	for i := range 200 {
		for _, q := range Quests("0xabc", i, 2) {
			fmt.Fprintf(sum, "%s = %d\n", q.Expression, q.Answer)
		}
	}
	if got := fmt.Sprintf("%x", sum.Sum(nil)); got != "409674db1e2aa079d168a9d212e9c3f25da10fb1366b8decaed159decb3f6fa0" {
		t.Errorf("quests have sum %s; the first are %v", got, Quests("0xabc", 0, 3))
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	q := Quest{Answer: 1234}
	for text, want := range map[string]bool{"1234": true, "it is 1,234.": true, "1_234": true, "12345": false, "01234": false, "": false, "91234 or 1234": true} {
		if Answered(text, q) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

func TestAverages(t *testing.T) {
	t.Parallel()
	if math.Abs(Average(1, 2)-1.1) > 1e-12 {
		t.Error("averages move by a tenth")
	}
	falling := []float64{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}
	if !math.IsNaN(Flow(falling[:9])) || Flow(falling) != 1 || Flow([]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}) != 0 {
		t.Error("flow")
	}
	if got := Flow([]float64{5, 4, 4, 4, 3, 3, 3, 2, 2, 2}); math.Abs(got-math.Tanh((1./3)/(math.Sqrt(2)/3+1e-4))) > 1e-12 {
		t.Errorf("flow %v", got)
	}
}

// TestReadChecksFlows checks that from the tenth round of a steadily falling average on, the flow
// of a line is compared with the flow of the averages and found equal.
func TestReadChecksFlows(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	average := 3.0
	for i := range 11 {
		kl := average - 1 + float64(i%2)/10
		average = Average(average, kl)
		fmt.Fprintf(&text, `{"epoch":%d,"track":"a","uid":1,"kl_current":%.4f,"kl_next":%.4f,"ema_current":%.4f,"ema_next":%.4f,"flow":1.0}`+"\n", i, kl, kl, average, average)
	}
	r, err := Read(strings.NewReader(text.String()))
	if err != nil || r.Flows != 2 || r.FlowsEqual != 2 || r.Averages != 20 || r.AveragesEqual != 20 {
		t.Errorf("%v %+v", err, r)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                   "no line",
		`{}`:                 "neither a gate",
		`{"event":5}`:        "line 1",
		`{"kl_current":"x"}`: "line 1",
		`{"network":"a","event":"lock"}` + "\n" + `{"event":"lock"}`: "networks",
	} {
		if _, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// FuzzRead checks that any text is rejected or reported.
func FuzzRead(f *testing.F) {
	b, err := os.ReadFile(sample)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(b))
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Read(strings.NewReader(text))
		if err == nil && len(r.Violations) > r.Events {
			t.Fatal("more violations than events")
		}
	})
}

package filters_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/longtest"
)

// TestRealDaysDoNotMove translates or rewrites full days of real traces and holds that they keep
// their authorship. A number is the same in every language and a title is not, so that only
// attempts which the words of results excuse may be unknown.
func TestRealDaysDoNotMove(t *testing.T) {
	if !longtest.Tests {
		t.Skip("two days five times: go test -tags long")
	}
	t.Parallel()
	for _, day := range [][]labelled{readDay(t, longtest.Shared(t, "data/axis")), readDay(t, longtest.Shared(t, "data/day"))} {
		want := judgeDay(t, day)
		for name, change := range map[string]func(*arena.Trace) *arena.Trace{
			"translated":           func(tr *arena.Trace) *arena.Trace { return rethink(tr, foreign) },
			"keys in other order":  changes["keys in another order"],
			"bodies kept as text":  changes["bodies kept as text"],
			"in another time zone": changes["another time zone"],
		} {
			changed := slices.Clone(day)
			for i := range changed {
				changed[i].trace = change(day[i].trace)
			}
			moved := 0
			for i, j := range judgeDay(t, changed) {
				was := want[i].after.Axis
				is := j.after.Axis
				if was != is && (is != arena.AxisUnknown || name != "translated") {
					moved++
					t.Logf("%s: %s is %s, was %s", name, j.trace.ID, is, was)
				}
			}
			if moved > 0 {
				t.Errorf("%s: %d of %d verdicts moved", name, moved, len(day))
			}
		}
	}
}

// less are the ways in which a log may keep less.
var less = map[string]func(tr *arena.Trace){
	"no log": func(tr *arena.Trace) { eachCall(tr, func(*arena.ProxyCall) bool { return false }) },
	"replies cut": func(tr *arena.Trace) {
		eachCall(tr, func(c *arena.ProxyCall) bool {
			if strings.HasSuffix(c.Path, "completions") {
				c.Response = ""
				c.Truncated = true
			}
			return true
		})
	},
	"results not kept": func(tr *arena.Trace) {
		eachCall(tr, func(c *arena.ProxyCall) bool {
			if !strings.HasSuffix(c.Path, "completions") {
				c.Response = ""
			}
			return true
		})
	},
	"one reply lost": func(tr *arena.Trace) { eachReply(tr, func(n, total int) bool { return n != total/2 }, drop) },
	"every third reply lost": func(tr *arena.Trace) {
		eachReply(tr, func(n, _ int) bool { return n%3 != 1 }, drop)
	},
	"one reply cut": func(tr *arena.Trace) { eachReply(tr, func(n, total int) bool { return n != total/2 }, cut) },
	"every second reply cut": func(tr *arena.Trace) {
		eachReply(tr, func(n, _ int) bool { return n%2 == 0 }, cut)
	},
	"no times": func(tr *arena.Trace) {
		eachCall(tr, func(c *arena.ProxyCall) bool { c.AtMS = 0; return true })
	},
	"no count": func(tr *arena.Trace) {
		tr.InferenceTotal = -1
		tr.InferenceFailures = -1
	},
	"no nonce": func(tr *arena.Trace) {
		eachCall(tr, func(c *arena.ProxyCall) bool { c.Nonce = ""; return true })
	},
	"no dialogue": func(tr *arena.Trace) {
		tr.Steps = nil
		tr.HasDialogue = false
	},
}

// drop removes the log entry of a reply; cut keeps the entry without its text.
func drop(*arena.ProxyCall) bool { return false }

func cut(c *arena.ProxyCall) bool {
	c.Response, c.Truncated, c.Length = "", true, len(c.Response)
	return true
}

// eachReply changes the replies for which keep reports false, by their number and the number of
// all. A log whose calls the sandbox did not count is unchanged, since it cannot be short.
func eachReply(tr *arena.Trace, keep func(n, total int) bool, take func(*arena.ProxyCall) bool) {
	total := 0
	eachStepCall(tr, func(c *arena.ProxyCall) bool {
		total += right1(strings.HasSuffix(c.Path, "completions"), true)
		return true
	})
	n := -1
	eachStepCall(tr, func(c *arena.ProxyCall) bool {
		if !strings.HasSuffix(c.Path, "completions") {
			return true
		}
		n++
		return keep(n, total) || take(c)
	})
}

// eachStepCall visits every entry of the log once and drops those that visit reports false
// for.
func eachStepCall(tr *arena.Trace, visit func(*arena.ProxyCall) bool) {
	for i := range tr.Steps {
		calls := tr.Steps[i].Proxy[:0]
		for _, c := range tr.Steps[i].Proxy {
			if visit(&c) {
				calls = append(calls, c)
			}
		}
		tr.Steps[i].Proxy = calls
	}
}

func eachCall(tr *arena.Trace, keep func(*arena.ProxyCall) bool) {
	for i := range tr.Steps {
		tr.Steps[i].Proxy = slices.DeleteFunc(tr.Steps[i].Proxy, func(c arena.ProxyCall) bool { return !keep(&c) })
		for j := range tr.Steps[i].Proxy {
			keep(&tr.Steps[i].Proxy[j])
		}
	}
}

// proofs are families whose proof is exactly the content that is removed.
var proofs = map[string]string{"no nonce": "nonce of nobody", "results not kept": "edits results"}

// TestLessEvidenceLeadsToUnknown holds that a log with less content never reverses a verdict,
// except for the families in proofs. Without the tag long it tests a quarter of the attempts.
func TestLessEvidenceLeadsToUnknown(t *testing.T) {
	t.Parallel()
	f := newFilter(t)
	attempts := readDay(t, longtest.Shared(t, "data/axis"))
	for _, a := range setOn {
		attempts = append(attempts, labelled{trace: played(t, a.name), family: a.name})
	}
	axes := make([]arena.Axis, len(attempts))
	for i, l := range attempts {
		axes[i] = axisOf(f, l.trace)
	}
	for name, take := range less {
		turned := map[string]int{}
		for i := 0; i < len(attempts); i += longtest.Pick(1, 4) {
			l := attempts[i]
			was := axes[i]
			tr := rewrite(l.trace, func(s string) string { return s })
			take(tr)
			if is := axisOf(f, tr); is != was && is != arena.AxisUnknown && was != arena.AxisUnknown && proofs[name] != l.family {
				turned[l.family+": "+string(was)+" to "+string(is)]++
			}
		}
		if len(turned) > 0 {
			t.Errorf("%s: %v", name, turned)
		}
	}
}

// TestLessEvidenceOfDaysDecidesNothing removes content from the logs of a full day: no honest
// attempt is scripted, and no attempt is agentic above 0.8 that was not before. An attempt that its
// log leaves undecided counts as the rest of the agent's day. Without the tag long it tests the
// simulated day with every second way to remove content.
func TestLessEvidenceOfDaysDecidesNothing(t *testing.T) {
	t.Parallel()
	days := [][]judgement{mixedDay(t)}
	if longtest.Tests {
		days = append(days, judgeDay(t, readDay(t, longtest.Shared(t, "data/axis"))), judgeDay(t, readDay(t, longtest.Shared(t, "data/day"))))
	}
	for _, want := range days {
		for i, name := range slices.Sorted(maps.Keys(less)) {
			if i%longtest.Pick(1, 2) > 0 {
				continue
			}
			changed := make([]labelled, len(want))
			take := less[name]
			for i := range changed {
				changed[i] = want[i].labelled
				changed[i].trace = rewrite(want[i].trace, func(s string) string { return s })
				take(changed[i].trace)
			}
			for i, j := range judgeDay(t, changed) {
				was := want[i].after.Axis
				is := j.after.Axis
				isAccused := j.agentic && is == arena.AxisScripted
				isSure := is == arena.AxisAgentic && j.after.Confidence > 0.8
				if is != was && (isAccused || isSure) {
					t.Errorf("%s: %s of %s is %s, was %s", name, j.trace.ID, j.family, is, was)
				}
			}
		}
	}
}

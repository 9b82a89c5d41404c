package filters_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/longtest"
)

// TestCasesOfAnExaminer checks small days of another author, whose right answers were written
// before the rules: an attempt with an unread log is not called scripted, and what the log shows is
// reported.
func TestCasesOfAnExaminer(t *testing.T) {
	t.Parallel()
	for name, right := range map[string]func(family string, s *arena.Structure) bool{
		"argument-of-32-words":    isAgentic,
		"argument-of-33-words":    isAgentic,
		"json-line-break":         isAgentic,
		"json-backslash":          isAgentic,
		"call-without-arguments":  isAgentic,
		"code-in-a-fence":         isAgentic,
		"whole-request-as-search": isAgentic,
		"gateway-forms":           isAgentic,
		"one-reply-lost":          isNotScripted,
		"five-attempts-an-agent":  isDoubtful,
		"redteam": func(family string, s *arena.Structure) bool {
			if family == "sybil5" {
				return isDoubtful(family, s)
			}
			return s.Axis != arena.AxisAgentic
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, j := range judgeDay(t, readDay(t, longtest.Shared(t, filepath.Join("cases/filter", name)))) {
				if !right(j.family, &j.after) {
					t.Errorf("%s %s is %s at %.3f", j.family, j.trace.ID, j.after.Axis, j.after.Confidence)
				}
			}
		})
	}
}

func isAgentic(_ string, s *arena.Structure) bool { return s.Axis == arena.AxisAgentic }

func isNotScripted(_ string, s *arena.Structure) bool { return s.Axis != arena.AxisScripted }

// isDoubtful reports whether an attempt is not agentic, or is agentic with confidence 0.8 at most,
// since the log cannot distinguish it from a model's.
func isDoubtful(_ string, s *arena.Structure) bool {
	return s.Axis != arena.AxisAgentic || s.Confidence <= 0.8
}

// TestPublicRunsOfOtherHarnesses checks real runs of agents with tools that are unknown to this
// project. Where the log has their replies, at most 1 % of a family is scripted and at least 80 %
// is agentic. Where the log is cut, none is scripted.
func TestPublicRunsOfOtherHarnesses(t *testing.T) {
	t.Parallel()
	type counts struct{ total, agentic, scripted int }
	families := map[string]*counts{}
	for _, j := range judgeDay(t, readDay(t, longtest.Shared(t, "data/axis2"))) {
		c := families[j.family]
		if c == nil {
			c = &counts{}
			families[j.family] = c
		}
		if isCutLog(j.trace) {
			if j.after.Axis == arena.AxisScripted {
				t.Errorf("%s with a cut log is scripted", j.trace.ID)
			}
			continue
		}
		c.total++
		switch j.after.Axis {
		case arena.AxisAgentic:
			c.agentic++
		case arena.AxisScripted:
			c.scripted++
		case arena.AxisUnknown:
		}
	}
	for family, c := range families {
		t.Logf("%s: %d of %d agentic, %d scripted", family, c.agentic, c.total, c.scripted)
		if 100*c.scripted > c.total || 100*c.agentic < 80*c.total {
			t.Errorf("%s: %+v", family, *c)
		}
	}
}

// isCutLog reports whether a log lacks the text of a reply.
func isCutLog(t *arena.Trace) bool {
	for i := range t.Steps {
		for j := range t.Steps[i].Proxy {
			c := &t.Steps[i].Proxy[j]
			if strings.HasSuffix(c.Path, "completions") && c.Response == "" {
				return true
			}
		}
	}
	return false
}

// TestPacksByDefault checks episodes of packs, whose tools the trace declares, with authors of four
// kinds: models wrote three of them and a program the fourth.
func TestPacksByDefault(t *testing.T) {
	t.Parallel()
	attempts := readTraces(t, longtest.Shared(t, "cases/domains/pack"))
	day := make([]labelled, len(attempts))
	for i, tr := range attempts {
		family, _, _ := strings.Cut(tr.RunID, "-")
		day[i] = labelled{trace: tr, family: family}
	}
	for _, j := range judgeDay(t, day) {
		want := arena.AxisAgentic
		if j.family == "classify" {
			want = arena.AxisScripted
		}
		if j.after.Axis != want {
			t.Errorf("%s is %s, want %s", j.trace.ID, j.after.Axis, want)
		}
	}
}

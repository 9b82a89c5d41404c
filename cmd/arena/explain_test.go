package main

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/pipeline"
	"github.com/trajectory-arena/arena/report/attempt"
	"github.com/trajectory-arena/arena/traces"
)

// TestEveryAttemptIsExplained explains every attempt of the sample day from its ledger alone: the
// text has the reason and its meaning, and the attempt that ranks before it, and no line is wider
// than a terminal.
func TestEveryAttemptIsExplained(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "out")
	must(t, cli.ExitOK, "build", testDay, "-o", out, "-q", "--set", "select.top=2", "--set", "select.near=0.3")
	l, err := attempt.Read(corpus.Disk{}, out)
	if err != nil {
		t.Fatal(err)
	}
	days := dayOf(t, l)
	reasons := map[string]int{}
	for i, line := range l.Lines {
		a := l.Argue(i)
		if err := days.Tell(t.Context(), l, a); err != nil {
			t.Fatal(err)
		}
		text := l.Text(a)
		reason := line.Attempt.Reason
		for row := range strings.Lines(text) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(row, "\n")); n > attempt.Width {
				t.Errorf("%s: %d columns: %s", line.Attempt.TraceID, n, row)
			}
		}
		if meaning := l.Meanings[reason]; reason != "" && (meaning == "" || !strings.Contains(text, reason)) {
			t.Errorf("%s: nothing of %s (%q)", line.Attempt.TraceID, reason, meaning)
		}
		hasBetter := a.Better >= 0 && strings.Contains(text, "near duplicate that ranks before it: ")
		if hasBetter {
			better := l.Lines[a.Better].Attempt
			hasBetter = better.Fate == "kept" || better.Stage == "split"
		}
		if reason == "near_duplicate" && !hasBetter {
			t.Errorf("%s: the near duplicate before it is %d", line.Attempt.TraceID, a.Better)
		}
		if reason == "beyond_top" && !strings.Contains(text, "\nrank      place ") {
			t.Errorf("%s has no place", line.Attempt.TraceID)
		}
		if a.Story == nil && line.Attempt.HasDialogue {
			t.Errorf("%s has no story", line.Attempt.TraceID)
		}
		if reason == "never_touch" && (!strings.Contains(text, "its own problem is protected") || !strings.Contains(text, "pool is never-touch, its cluster ")) {
			t.Errorf("%s does not name its pool and cluster", line.Attempt.TraceID)
		}
		if reason == "axis_unknown" && !strings.Contains(text, "why unknown: ") {
			t.Errorf("the explanation of %s has no reason why it is unknown", line.Attempt.TraceID)
		}
		if reason == "leak_spec" && !strings.Contains(text, "the request does not name it") {
			t.Errorf("the explanation of %s does not name the protected product", line.Attempt.TraceID)
		}
		if reason == "near_duplicate" && a.First == "" {
			t.Errorf("the explanation of %s does not name the near duplicate that began first", line.Attempt.TraceID)
		}
		reasons[reason]++
	}
	t.Log(reasons)
	if reasons["near_duplicate"] == 0 || reasons["never_touch"] == 0 || reasons["leak_spec"] == 0 || reasons["beyond_top"] == 0 {
		t.Errorf("reasons %v", reasons)
	}
}

func dayOf(t *testing.T, l *attempt.Ledger) attempt.Days {
	t.Helper()
	inputs, err := traces.Discover(testDay)
	if err == nil {
		err = pipeline.HashInputs(t.Context(), 1, inputs)
	}
	if err != nil {
		t.Fatal(err)
	}
	return l.DaysOf(inputs, traces.DefaultLimits())
}

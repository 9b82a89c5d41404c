package where_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/corpus/where"
	"github.com/trajectory-arena/arena/docs"
)

func table[T any](t *testing.T, p *corpus.Part, name string, rows ...T) {
	t.Helper()
	s := corpus.NewShards[T](p, corpus.Stream{Table: name})
	for i := range rows {
		if err := s.Add(&rows[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// assembled is the folder of a corpus with the tables that write makes.
func assembled(t *testing.T, write func(*corpus.Part)) string {
	t.Helper()
	root := t.TempDir()
	p, err := corpus.NewPart(corpus.Disk{}, filepath.Join(root, "part"), corpus.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	write(p)
	if err = p.Close(); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "corpus")
	if err = corpus.Assemble(context.Background(), corpus.Disk{}, dir, corpus.Assembly{Parts: []string{filepath.Join(root, "part")}, Manifest: corpus.Manifest{Configuration: []byte("{}")}}); err != nil {
		t.Fatal(err)
	}
	return dir
}

func ledger(t *testing.T) string {
	t.Helper()
	return assembled(t, func(p *corpus.Part) {
		high := 0.9
		low := 0.3
		table(t, p, "attempts", rows.Attempt{TraceID: "a", ProblemID: "1", NSteps: 4}, rows.Attempt{TraceID: "b", ProblemID: "1", NSteps: 9},
			rows.Attempt{TraceID: "c", ProblemID: "2", NSteps: 4}, rows.Attempt{SourceSHA256: "unreadable"})
		table(t, p, "verdicts", rows.Verdict{TraceID: "a", Keep: true})
		table(t, p, "outcomes", rows.Outcome{TraceID: "a", Success: true})
		table(t, p, "judgements", rows.Judgement{TraceID: "a", Score: &high}, rows.Judgement{TraceID: "b", Score: &low})
	})
}

func TestSelect(t *testing.T) {
	t.Parallel()
	dir := ledger(t)
	for expr, want := range map[string][]string{
		`judge_score >= 0.7 && n_steps <= 15`: {"a"},
		`n_steps == 4`:                        {"a", "c"},
		`judge_score < 0.5`:                   {"b"},
		`true`:                                {"a", "b", "c"},
	} {
		e, err := where.Parse(expr, where.Columns())
		if err != nil {
			t.Fatal(err)
		}
		s, err := where.Select(t.Context(), corpus.Disk{}, dir, e)
		if err != nil {
			t.Fatal(err)
		}
		if s.Len() != len(want) {
			t.Errorf("%s: %d attempts", expr, s.Len())
		}
		for _, id := range want {
			if !s.Keep(id, "") {
				t.Errorf("%s: %s is missing", expr, id)
			}
		}
	}
}

// TestSelectEnds holds that no expression keeps a run from ending.
func TestSelectEnds(t *testing.T) {
	t.Parallel()
	dir := ledger(t)
	const list = "[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19]"
	long, err := where.Parse(list+".all(a, "+list+".all(b, "+list+".all(c, "+list+".all(d, a+b+c+d+n_steps >= 0))))", where.Columns())
	if err != nil {
		t.Fatal(err)
	}
	if _, err = where.Select(t.Context(), corpus.Disk{}, dir, long); !errors.Is(err, where.ErrCost) {
		t.Errorf("error %v, want %v", err, where.ErrCost)
	}
	short, err := where.Parse("true", where.Columns())
	if err != nil {
		t.Fatal(err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = where.Select(cancelled, corpus.Disk{}, dir, short); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

// TestColumnsKeepTheirNames holds the names that configurations use.
func TestColumnsKeepTheirNames(t *testing.T) {
	t.Parallel()
	var names []string
	for _, c := range where.Columns() {
		names = append(names, c.Name)
	}
	for _, name := range strings.Fields(`trace_id eval_run_id problem_id task_type agent_version agent_hotkey suite status has_dialogue seconds n_steps n_tool_calls
		n_tokens fate reason split rank keep axis confidence adaptivity reasons richness_v1 richness_v2 success rule gt format length
		judge judge_outcome judge_score judge_multiplier`) {
		if !slices.Contains(names, name) {
			t.Errorf("no column %s", name)
		}
	}
	half := 0.5
	line := &where.Line{Attempt: &rows.Attempt{TraceID: "a"}, Judgement: &rows.Judgement{TraceID: "b", Score: &half}}
	if v := line.Values(); v["trace_id"] != "a" || v["judge_score"] != 0.5 || v["judge_multiplier"] != nil || v["keep"] != nil {
		t.Errorf("values %v", v)
	}
}

// TestWhatTheDocsSelect reads every expression in docs/columns.md and checks that the page names
// every column.
func TestWhatTheDocsSelect(t *testing.T) {
	t.Parallel()
	meanings := docs.ColumnMeanings()
	for _, c := range where.Columns() {
		if meanings[c.Name] == "" {
			t.Errorf("docs/columns.md does not name %s", c.Name)
		}
	}
	page, err := os.ReadFile("../../docs/columns.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "| to select | expression |\n|---|---|\n")
	section, _, _ = strings.Cut(section, "\n\n")
	for line := range strings.Lines(section) {
		expr := strings.Split(line, "`")[1]
		if _, err := where.Parse(expr, where.Columns()); err != nil {
			t.Errorf("%s: %v", expr, err)
		}
	}
	if strings.Count(section, "\n") < 5 {
		t.Errorf("the examples are not found: %q", section)
	}
}

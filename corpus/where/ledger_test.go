package where_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/corpus/where"
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

func ledger(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	p, err := corpus.NewPart(corpus.Disk{}, filepath.Join(root, "part"), corpus.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	high, low := 0.9, 0.3
	table(t, p, "attempts", rows.Attempt{TraceID: "a", ProblemID: "1", NSteps: 4}, rows.Attempt{TraceID: "b", ProblemID: "1", NSteps: 9},
		rows.Attempt{TraceID: "c", ProblemID: "2", NSteps: 4}, rows.Attempt{SourceSHA256: "unreadable"})
	table(t, p, "verdicts", rows.Verdict{TraceID: "a", Keep: true})
	table(t, p, "outcomes", rows.Outcome{TraceID: "a", Success: true})
	table(t, p, "judgements", rows.Judgement{TraceID: "a", Score: &high}, rows.Judgement{TraceID: "b", Score: &low})
	if err = p.Close(); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "corpus")
	if err = corpus.Assemble(context.Background(), corpus.Disk{}, dir, corpus.Assembly{Parts: []string{filepath.Join(root, "part")}, Manifest: corpus.Manifest{Configuration: []byte("{}")}}); err != nil {
		t.Fatal(err)
	}
	return dir
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
		s, err := where.Select(corpus.Disk{}, dir, e)
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

// TestEveryColumnHasAValue fails for a column that no line could ever fill.
func TestEveryColumnHasAValue(t *testing.T) {
	t.Parallel()
	f, n := 0.5, int64(1)
	line := where.Line{Attempt: &rows.Attempt{Seconds: &f, Rank: &n}, Verdict: &rows.Verdict{Adaptivity: &f, RichnessV1: &f, RichnessV2: &f},
		Outcome: &rows.Outcome{Rule: &f, GT: &f, Format: &f, Length: &f}, Judgement: &rows.Judgement{Score: &f, Multiplier: &f}}
	values := line.Values()
	for _, c := range where.Columns() {
		if _, ok := values[c.Name]; !ok {
			t.Errorf("column %s has no value", c.Name)
		}
	}
	if len(values) != len(where.Columns()) {
		t.Errorf("%d values, %d columns", len(values), len(where.Columns()))
	}
}

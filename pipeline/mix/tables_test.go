package mix_test

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/corpus/where"
	"github.com/trajectory-arena/arena/internal/dice"
	"github.com/trajectory-arena/arena/pipeline/mix"
)

// TestMixtureHasEachTableOfTheLedger mixes a corpus that has a row in each table from which a line
// of the ledger is read with one that has only the tables of every corpus. All rows are in the
// mixture. A table that where.Line knows and this test does not fails it.
func TestMixtureHasEachTableOfTheLedger(t *testing.T) {
	t.Parallel()
	d := dice.New(3)
	const id = "run/p0"
	a := draft{pools: []string{"train", "eval"}, rows: []attempt{{id: id, problem: 0, agent: "a", tokens: 100, reward: 1, answer: words(d, 40)}}}
	b := draft{pools: []string{"train", "eval"}, rows: []attempt{{id: "run/p1", problem: 1, agent: "b", tokens: 100, reward: 1, answer: words(d, 40)}}}
	reward := 0.5
	a.tables = func(t *testing.T, part *corpus.Part) {
		t.Helper()
		add(t, part, corpus.Stream{Table: "verdicts"}, []rows.Verdict{{TraceID: id, Axis: "agentic"}})
		add(t, part, corpus.Stream{Table: "outcomes"}, []rows.Outcome{{TraceID: id, Scored: true}})
		add(t, part, corpus.Stream{Table: "judgements"}, []rows.Judgement{{TraceID: id, Judge: "judge"}})
		add(t, part, corpus.Stream{Table: "leaks"}, []rows.Leak{{ID: id, Tier: "lexical"}})
		add(t, part, corpus.Stream{Table: "places"}, []rows.Place{{TraceID: id, Place: 1}})
		add(t, part, corpus.Stream{Table: "declared"}, []rows.Declared{{TraceID: id, Domain: "coding", Reward: &reward}})
	}
	first := a.write(t)
	want := lineOf(t, first, id)
	tables := reflect.ValueOf(*want)
	for i := range tables.NumField() {
		f := tables.Type().Field(i)
		if f.IsExported() && tables.Field(i).IsNil() {
			t.Errorf("the corpus that is mixed has no row of the table of %s", f.Name)
		}
	}
	out, _, err := mixture(t, nil, mix.Source{Dir: first}, mix.Source{Dir: b.write(t)})
	must(t, err)
	verified(t, out)
	if diff := cmp.Diff(want, lineOf(t, out, id), cmpopts.IgnoreUnexported(where.Line{})); diff != "" {
		t.Errorf("what the mixture knows of the attempt (-source, +mixture):\n%s", diff)
	}
}

func lineOf(t *testing.T, dir, id string) *where.Line {
	t.Helper()
	lines, err := where.Read(corpus.Disk{}, dir, false)
	must(t, err)
	for _, l := range lines {
		if l.Attempt.TraceID == id {
			return l
		}
	}
	t.Fatalf("no attempt %s in %s", id, dir)
	return nil
}

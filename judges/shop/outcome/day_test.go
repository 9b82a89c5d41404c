package outcome_test

import (
	"bufio"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/longtest"
	"github.com/trajectory-arena/arena/judges/shop/outcome"
	"github.com/trajectory-arena/arena/traces"
)

func readLines(t testing.TB, path string, yield func(line string)) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for reader := bufio.NewReader(f); ; {
		line, err := reader.ReadString('\n')
		if line != "" {
			yield(line)
		}
		if err != nil {
			return
		}
	}
}

// attempts reads one file of traces.
func attempts(t testing.TB, path string, yield func(*arena.Trace)) {
	t.Helper()
	inputs, err := traces.Discover(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, input := range inputs {
		_, err := traces.Read(t.Context(), input, traces.Defaults(), func(item traces.Item) error {
			if item.Fault != nil {
				t.Errorf("%s line %d: %s", path, item.Fault.Line, item.Fault.Detail)
				return nil
			}
			yield(item.Trace)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func readSuite(t testing.TB, path string) *arena.Suite {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	problems, err := arena.ReadProblems(f, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return arena.NewSuite(problems)
}

func readCatalog(t testing.TB, path string) *outcome.Catalog {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c, err := outcome.ReadCatalog(f, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestDayScores holds every score of a labelled day against the subnet's own.
func TestDayScores(t *testing.T) {
	t.Parallel()
	day := longtest.Shared(t, "data/day")
	want := map[string]string{}
	readLines(t, filepath.Join(day, "scores.jsonl"), func(line string) {
		r := gjson.Parse(line)
		want[r.Get("eval_run_id").Str+"/"+r.Get("problem_id").Str] = line
	})
	scorer := outcome.New(readCatalog(t, filepath.Join(day, "catalog.jsonl")), outcome.Carried{})
	suite := readSuite(t, filepath.Join(day, "problems.jsonl"))
	files, err := filepath.Glob(filepath.Join(day, "traces", "*", "output.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	equal := 0
	for _, file := range files {
		attempts(t, file, func(tr *arena.Trace) {
			p, _ := suite.Find(tr)
			o, err := scorer.Score(t.Context(), tr, p)
			if err != nil {
				t.Fatal(err)
			}
			got := string(outcome.AppendLine(nil, tr, o))
			if sameScore(got, want[tr.ID]) {
				equal++
			} else {
				t.Errorf("got  %s\nwant %s", got, want[tr.ID])
			}
		})
	}
	if equal != len(want) {
		t.Errorf("%d of %d scores are the subnet's", equal, len(want))
	}
}

// sameScore compares score and success of two lines: the same keys in the
// same order, numbers within 1e-9.
func sameScore(a, b string) bool {
	ra := gjson.Parse(a)
	rb := gjson.Parse(b)
	sa := ra.Get("score").Map()
	sb := rb.Get("score").Map()
	if !json.Valid([]byte(a)) || ra.Get("success").Bool() != rb.Get("success").Bool() || len(sa) != len(sb) {
		return false
	}
	for key, x := range sa {
		y, ok := sb[key]
		if !ok || math.Abs(x.Num-y.Num) > 1e-9 {
			return false
		}
	}
	return true
}

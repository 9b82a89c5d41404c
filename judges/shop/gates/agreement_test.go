package gates_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trajectory-arena/arena/internal/longtest"
	"github.com/trajectory-arena/arena/judges/agreement"
	"github.com/trajectory-arena/arena/judges/shop/gates"
)

var update = flag.Bool("update", false, "write the golden files anew")

// minKappa is the agreement below which the judge is not fit for use.
const minKappa = 0.8

func TestAgreesWithSharedLabels(t *testing.T) {
	t.Parallel()
	dir := longtest.Shared(t, "data/judge")
	cases := sharedCases(t, dir)
	report := agreementOn(t, "shared", cases)
	t.Log("\n" + report.text)
	if report.kappa < minKappa {
		t.Errorf("quadratic-weighted kappa %.3f is below %v", report.kappa, minKappa)
	}
	for _, c := range cases {
		j := gates.Judge(c.trace, c.dialogue)
		if strings.Contains(c.kind, "inject") && *j.Score != c.score {
			t.Errorf("%s: an injection case got %v instead of %v", c.name, *j.Score, c.score)
		}
	}
}

// TestAgreesWithOtherAuthorsLabels holds the judge to 60 cases each by seven authors who had not read
// it. The rules are older than these cases (docs/measured/judges.md has the first runs).
func TestAgreesWithOtherAuthorsLabels(t *testing.T) {
	t.Parallel()
	for _, author := range []string{"author6", "author7", "author8", "author9", "author10", "author11", "author12"} {
		report := agreementOn(t, author, sharedCases(t, "testdata/"+author))
		t.Log("\n" + report.text)
		if report.kappa < minKappa {
			t.Errorf("%s: quadratic-weighted kappa %.3f is below %v", author, report.kappa, minKappa)
		}
	}
}

// sets are the labelled cases of testdata, each with the goods that it is about.
var sets = [][2]string{
	{"cases", "world"}, {"second", "world"}, {"third", "world"}, {"fourth", "world"}, {"fifth", "markets"}, {"sixth", "markets"}, {"seventh", "markets"},
	{"eighth", "errands"}, {"ninth", "errands"}, {"tenth", "errands"}, {"eleventh", "errands"}, {"twelfth", "studio"}, {"thirteenth", "studio"}, {"fourteenth", "errands"}, {"fifteenth", "studio"},
	{"sixteenth", "errands studio"}, {"seventeenth", "errands studio"}, {"eighteenth", "errands studio"}, {"nineteenth", "errands studio"},
	{"twentieth", "markets world"}, {"twentyfirst", "errands studio"}, {"twentysecond", "errands studio"}, {"twentythird", "errands studio"}, {"twentyfourth", "workbench"}, {"twentyfifth", "workbench"},
}

func casesOf(t *testing.T, set [2]string) []labelled {
	t.Helper()
	products := goods{map[string]string{}, map[string]string{}, map[string]string{}}
	for name := range strings.FieldsSeq(set[1]) {
		g := readGoods(t, "testdata/"+name+".txt")
		maps.Copy(products.requests, g.requests)
		maps.Copy(products.lists, g.lists)
		maps.Copy(products.items, g.items)
	}
	return readCases(t, "testdata/"+set[0]+".txt", products)
}

// TestAgreesWithOwnLabels pins the figures on the cases of testdata, misses
// included.
func TestAgreesWithOwnLabels(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for _, set := range sets {
		report := agreementOn(t, set[0], casesOf(t, set))
		text.WriteString(report.text + "\n")
		if report.kappa < minKappa {
			t.Errorf("%s: quadratic-weighted kappa %.3f is below %v", set[0], report.kappa, minKappa)
		}
	}
	golden(t, "testdata/agreement.golden", text.String())
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (run with -update if this is meant):\n%s", file, diff)
	}
}

type agreementReport struct {
	text  string
	kappa float64
}

type tally struct{ n, exact int }

func (a *tally) add(hit bool) {
	a.n++
	if hit {
		a.exact++
	}
}

// agreementOn judges labelled cases and reports the figures, the agreement per
// kind and language, and every miss.
func agreementOn(t *testing.T, name string, cases []labelled) agreementReport {
	t.Helper()
	labels := agreement.Ratings{Name: "labels", Scores: map[agreement.Key]*float64{}}
	judged := agreement.Ratings{Name: gates.Name, Scores: map[agreement.Key]*float64{}}
	kinds := map[string]*tally{}
	languages := map[string]*tally{}
	var misses strings.Builder
	for _, c := range cases {
		run, problem, ok := strings.Cut(c.name, "/")
		if !ok {
			run = name
			problem = c.name
		}
		key := agreement.Key{Run: run, Problem: problem}
		j := gates.Judge(c.trace, c.dialogue)
		labels.Scores[key] = &c.score
		judged.Scores[key] = j.Score
		hit := *j.Score == c.score
		count(kinds, c.kind).add(hit)
		count(languages, c.language).add(hit)
		if !hit {
			fmt.Fprintf(&misses, "  %s (%s): labelled %v, judged %v: %s\n", c.name, c.kind, c.score, *j.Score, j.Detail)
		}
	}
	r, err := agreement.Compare([]agreement.Ratings{labels, judged}, agreement.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	p := r.Pairs[0]
	text := fmt.Sprintf("%s: %d cases\n  exact %s\n  kappa %s\n  quadratic-weighted kappa %s\nby kind\n%sby language\n%smisses\n%s",
		name, p.N, figure(p.Exact), figure(p.Kappa), figure(p.WeightedKappa), table(kinds), table(languages), misses.String())
	return agreementReport{text, *p.WeightedKappa.Value}
}

func count(tallies map[string]*tally, key string) *tally {
	if tallies[key] == nil {
		tallies[key] = &tally{}
	}
	return tallies[key]
}

func figure(f agreement.Figure) string {
	if f.CI95 == nil {
		return fmt.Sprintf("%.3f", *f.Value)
	}
	return fmt.Sprintf("%.3f [%.3f, %.3f]", *f.Value, f.CI95[0], f.CI95[1])
}

func table(tallies map[string]*tally) string {
	var rows []string
	for key, a := range tallies {
		rows = append(rows, fmt.Sprintf("  %s %d/%d\n", key, a.exact, a.n))
	}
	slices.Sort(rows)
	return strings.Join(rows, "")
}

func sharedCases(t *testing.T, dir string) []labelled {
	t.Helper()
	type label struct {
		Run     string `json:"eval_run_id"`
		Problem string `json:"problem_id"`
		Score   float64
		Kind    string
	}
	labels := map[string]label{}
	for _, line := range lines(t, filepath.Join(dir, "labels.jsonl")) {
		var l label
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatal(err)
		}
		labels[l.Run+"/"+l.Problem] = l
	}
	files, err := filepath.Glob(filepath.Join(dir, "traces", "run=*", "output.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []labelled
	for _, file := range files {
		run := strings.TrimPrefix(filepath.Base(filepath.Dir(file)), "run=")
		for _, line := range lines(t, file) {
			trace, d := attempt(t, line)
			l := labels[run+"/"+trace.ProblemID]
			cases = append(cases, labelled{name: run + "/" + trace.ProblemID, kind: l.Kind, language: "all", score: l.Score, trace: trace, dialogue: d})
		}
	}
	return cases
}

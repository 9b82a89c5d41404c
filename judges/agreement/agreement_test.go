package agreement

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trajectory-arena/arena/internal/dice"
	"github.com/trajectory-arena/arena/judges/reply"
)

// rater makes ratings of attempts p0, p1, …; NaN is unscored.
func rater(name string, scores ...float64) Ratings {
	r := Ratings{Name: name, Scores: map[Key]*float64{}}
	for i, s := range scores {
		key := Key{Run: "run", Problem: fmt.Sprintf("p%d", i)}
		r.Scores[key] = nil
		if !math.IsNaN(s) {
			r.Scores[key] = &s
		}
	}
	return r
}

var none = math.NaN()

func compare(t *testing.T, raters ...Ratings) Report {
	t.Helper()
	r, err := Compare(raters, Options{Samples: 200, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func near(t *testing.T, name string, got Figure, want, tolerance float64) {
	t.Helper()
	if got.Value == nil || math.Abs(*got.Value-want) > tolerance {
		t.Errorf("%s is %v, want %v", name, got.Value, want)
	}
}

// TestCohenOnATableByHand uses a table whose kappa can be computed by hand: 35 of 50 agree where
// chance expects 25, so (0.7 - 0.5) / (1 - 0.5).
func TestCohenOnATableByHand(t *testing.T) {
	t.Parallel()
	var a, b []float64
	for _, cell := range []struct {
		a, b float64
		n    int
	}{{0.1, 0.1, 20}, {0.1, 0.9, 5}, {0.9, 0.1, 10}, {0.9, 0.9, 15}} {
		for range cell.n {
			a, b = append(a, cell.a), append(b, cell.b)
		}
	}
	p := compare(t, rater("a", a...), rater("b", b...)).Pairs[0]
	near(t, "exact", p.Exact, 0.7, 1e-12)
	near(t, "kappa", p.Kappa, 0.4, 1e-12)
	near(t, "weighted kappa", p.WeightedKappa, 0.4, 1e-12)
	near(t, "bias", p.Bias, -0.8*5/50, 1e-12)
	want := [][]int{{20, 0, 0, 0, 5}, {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}, {10, 0, 0, 0, 15}}
	if d := cmp.Diff(want, p.Confusion); d != "" {
		t.Error(d)
	}
}

// TestKrippendorffOnHisOwnExample is the table of four observers in
// Krippendorff's text, with the figures printed there.
func TestKrippendorffOnHisOwnExample(t *testing.T) {
	t.Parallel()
	r := compare(t,
		rater("A", 1, 2, 3, 3, 2, 1, 4, 1, 2, none, none, none),
		rater("B", 1, 2, 3, 3, 2, 2, 4, 1, 2, 5, none, 3),
		rater("C", none, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, none),
		rater("D", 1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, none),
	)
	if r.Panel.N != 11 || r.Panel.Attempts != 12 || len(r.Pairs) != 6 {
		t.Errorf("panel of %d of %d, %d pairs", r.Panel.N, r.Panel.Attempts, len(r.Pairs))
	}
	near(t, "nominal", r.Panel.Alpha.Nominal, 0.743, 5e-4)
	near(t, "ordinal", r.Panel.Alpha.Ordinal, 0.815, 5e-4)
	near(t, "interval", r.Panel.Alpha.Interval, 0.849, 5e-4)
}

func TestUnscoredIsCountedAndLeftOut(t *testing.T) {
	t.Parallel()
	a := rater("a", 0.1, 0.3, none, none, 0.9)
	b := rater("b", 0.1, none, 0.5, none, 0.9, 0.1)
	p := compare(t, a, b).Pairs[0]
	if p.N != 2 || p.Shared != 5 || p.Coverage != 0.4 || p.AUnscored != 2 || p.BUnscored != 2 || p.OnlyA != 0 || p.OnlyB != 1 {
		t.Errorf("counted %+v", p)
	}
	near(t, "exact", p.Exact, 1, 0)
	r := compare(t, a, b).Raters
	if r[0] != (Rater{"a", 5, 3, 2}) || r[1] != (Rater{"b", 6, 4, 2}) {
		t.Errorf("raters %+v", r)
	}
}

// TestUndefinedFiguresAreNull checks that raters who use one level have no chance-corrected
// figures, and that raters without a common scored attempt have no figures.
func TestUndefinedFiguresAreNull(t *testing.T) {
	t.Parallel()
	p := compare(t, rater("a", 0.5, 0.5), rater("b", 0.5, 0.5)).Pairs[0]
	if p.Kappa.Value != nil || p.Alpha.Interval.Value != nil || p.Kappa.CI95 != nil || *p.Exact.Value != 1 {
		t.Errorf("one level: %+v", p)
	}
	p = compare(t, rater("a", 0.5, none), rater("b", none, 0.5)).Pairs[0]
	if p.N != 0 || p.Exact.Value != nil || p.Bias.Value != nil {
		t.Errorf("nothing scored by both: %+v", p)
	}
	if _, err := Compare([]Ratings{rater("a", 1), {Name: "b", Scores: map[Key]*float64{{Run: "other", Problem: "p"}: nil}}}, DefaultOptions()); err == nil {
		t.Error("raters of different attempts were compared")
	}
}

// random makes ratings of n attempts at a tenth as many problems.
func random(d *dice.Dice, name string, n int) Ratings {
	r := Ratings{Name: name, Scores: map[Key]*float64{}}
	for i := range n {
		s := reply.Scores[d.N(5)]
		r.Scores[Key{Run: fmt.Sprintf("r%d", i/10), Problem: fmt.Sprintf("p%d", i%10)}] = &s
	}
	return r
}

func TestSwappedRatersAgreeAsMuch(t *testing.T) {
	t.Parallel()
	d := dice.New(5)
	a := random(d, "a", 200)
	b := random(d, "b", 200)
	x := compare(t, a, b).Pairs[0]
	y := compare(t, b, a).Pairs[0]
	for _, f := range [][2]Figure{{x.Kappa, y.Kappa}, {x.WeightedKappa, y.WeightedKappa}, {x.Alpha.Ordinal, y.Alpha.Ordinal}} {
		near(t, "swapped", f[0], *f[1].Value, 1e-12)
	}
	near(t, "bias", x.Bias, -*y.Bias.Value, 1e-12)
}

// TestIntervalsRepeatAndHold holds that the same seed returns the same intervals, which contain
// their value, and that one problem has no interval.
func TestIntervalsRepeatAndHold(t *testing.T) {
	t.Parallel()
	d := dice.New(9)
	a := random(d, "a", 300)
	b := random(d, "b", 300)
	x := compare(t, a, b)
	y := compare(t, a, b)
	if !reflect.DeepEqual(x, y) {
		t.Error("a second run has other figures")
	}
	exact := x.Pairs[0].Exact
	if exact.CI95[0] > *exact.Value || exact.CI95[1] < *exact.Value || exact.CI95[1]-exact.CI95[0] > 0.2 {
		t.Errorf("exact agreement %v in %v", *exact.Value, *exact.CI95)
	}
	one := rater("one", 0.1, 0.3)
	delete(one.Scores, Key{Run: "run", Problem: "p1"})
	if f := compare(t, one, one).Pairs[0].Exact; f.CI95 != nil {
		t.Errorf("one problem has the interval %v", *f.CI95)
	}
}

// TestScoresWithoutLevelsAreRefused checks that scores which hardly ever repeat are refused, since
// their tables would need memory by the cube of the attempts.
func TestScoresWithoutLevelsAreRefused(t *testing.T) {
	t.Parallel()
	a := rater("a")
	b := rater("b")
	for i := range maxLevels {
		key := Key{Run: "run", Problem: fmt.Sprint(i)}
		x := float64(i)
		y := float64(0)
		a.Scores[key] = &x
		b.Scores[key] = &y
	}
	if r, err := Compare([]Ratings{a, b}, Options{Samples: 1}); err != nil || len(r.Pairs[0].Levels) != maxLevels {
		t.Errorf("%+v, %v", r.Pairs, err)
	}
	more := 0.5
	a.Scores[Key{Run: "run", Problem: "more"}] = &more
	b.Scores[Key{Run: "run", Problem: "more"}] = &more
	for _, raters := range [][]Ratings{{a, b}, {b, b, a}} {
		if _, err := Compare(raters, Options{Samples: 1}); err == nil || !strings.Contains(err.Error(), "102 different scores") {
			t.Errorf("%d raters: %v", len(raters), err)
		}
	}
}

// TestRatersWithoutACommonAttempt compares two raters who divided the attempts between them, alone
// and beside a third who rated all.
func TestRatersWithoutACommonAttempt(t *testing.T) {
	t.Parallel()
	rater := func(name string, problems ...string) Ratings {
		r := Ratings{Name: name, Scores: map[Key]*float64{}}
		for _, p := range problems {
			r.Scores[Key{Run: "run", Problem: p}] = new(0.5)
		}
		return r
	}
	anna := rater("anna", "p")
	ben := rater("ben", "q")
	all := rater("all", "p", "q")
	two, err := Compare([]Ratings{anna, ben}, Options{Samples: 1})
	if !errors.Is(err, ErrApart) || !strings.Contains(err.Error(), "compare anna and ben:") {
		t.Errorf("error %v", err)
	}
	three, err := Compare([]Ratings{anna, ben, all}, Options{Samples: 1})
	if err != nil || len(three.Pairs) != 3 || three.Pairs[1].N != 1 || three.Panel.N != 2 {
		t.Errorf("%+v, %v", three, err)
	}
	for _, report := range []Report{two, three} {
		if p := report.Pairs[0]; p.N != 0 || p.Shared != 0 || p.OnlyA != 1 || p.OnlyB != 1 || p.Coverage != 0 || p.Kappa.Value != nil {
			t.Errorf("%+v", p)
		}
	}
}

func TestReadRatings(t *testing.T) {
	t.Parallel()
	text := `{"eval_run_id":"r","problem_id":"p","judge":"gates_v5","outcome":"scored","score":0.7,"gates":[true]}

{"eval_run_id":"r","problem_id":"q","outcome":"refused","score":null}
{"eval_run_id":"r","problem_id":"s","outcome":"failed","score":0.1}
{"eval_run_id":"r","problem_id":"t","score":0.9}`
	r, err := ReadRatings(strings.NewReader(text), "x", 1000)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for k, s := range r.Scores {
		got[k.Problem] = "unscored"
		if s != nil {
			got[k.Problem] = fmt.Sprint(*s)
		}
	}
	if d := cmp.Diff(map[string]string{"p": "0.7", "q": "unscored", "s": "unscored", "t": "0.9"}, got); d != "" {
		t.Error(d)
	}
}

func TestReadRatingsNamesTheLine(t *testing.T) {
	t.Parallel()
	good := `{"eval_run_id":"r","problem_id":"p","score":1}` + "\n"
	for _, c := range []struct{ text, want string }{
		{"", "the file holds none"},
		{good + `{"eval_run_id":`, "line 2: unexpected end"},
		{good + `{"score":1}`, "line 2: neither eval_run_id nor problem_id"},
		{good + `{"problem_id":"q"}`, "line 2: no score"},
		{good + `{"problem_id":"q","score":{}}`, "line 2: score is neither a number nor null"},
		{good + "\n" + good, "line 3: attempt r/p was rated already in line 1"},
		{good + strings.Repeat("x", 101), "line 2: longer than 100 bytes"},
	} {
		_, err := ReadRatings(strings.NewReader(c.text), "x", 100)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want %q", c.text, err, c.want)
		}
	}
}

// FuzzReadRatingsNeverCountsTwice holds for any text that at most one rating a line is read and
// that the ratings agree fully with themselves.
func FuzzReadRatingsNeverCountsTwice(f *testing.F) {
	f.Add(`{"eval_run_id":"r","problem_id":"p","score":0.5}` + "\n" + `{"problem_id":"q","score":null}`)
	f.Add(`{"problem_id":"q","outcome":"scored","score":1e300}`)
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ReadRatings(strings.NewReader(text), "x", 1<<16)
		if err != nil {
			return
		}
		if len(r.Scores) > strings.Count(text, "\n")+1 {
			t.Errorf("%d ratings of %q", len(r.Scores), text)
		}
		report, err := Compare([]Ratings{r, r}, Options{Samples: 2})
		if err != nil && strings.Contains(err.Error(), "different scores") {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if e := report.Pairs[0].Exact.Value; e != nil && *e != 1 {
			t.Errorf("exact agreement with itself is %v", *e)
		}
	})
}

func BenchmarkCompare(b *testing.B) {
	d := dice.New(1)
	x := random(d, "x", 1440)
	y := random(d, "y", 1440)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Compare([]Ratings{x, y}, DefaultOptions()); err != nil {
			b.Fatal(err)
		}
	}
}

// TestPrecisionIsThatOfTheDay has a day with 100 attempts graded 0.9 by the judge and 100 graded
// 0.5, of which 50 and 10 were sampled: an attempt with a lower sampling probability has a higher
// weight.
func TestPrecisionIsThatOfTheDay(t *testing.T) {
	t.Parallel()
	labels := Ratings{Scores: map[Key]*float64{}, Probability: map[Key]float64{}}
	judge := Ratings{Scores: map[Key]*float64{}}
	for i := range 60 {
		score := 0.9
		truth := 0.9
		key := Key{Problem: strconv.Itoa(i)}
		labels.Probability[key] = 0.5
		if i%5 == 0 {
			truth = 0.3 // 10 of 50
		}
		if i >= 50 {
			score = 0.5
			truth = 0.9
			labels.Probability[key] = 0.1
			if i >= 52 {
				truth = 0.5
			}
		}
		labels.Scores[key] = &truth
		judge.Scores[key] = &score
	}
	p := PrecisionAt(&labels, &judge, 0.7, Options{Samples: 500, Seed: 1})
	// 80 of 100 above the threshold are right; below it, 20 more of the day are missed.
	if p.N != 60 || p.Above != 50 || *p.Precision.Value != 0.8 || *p.Recall.Value != 0.8 {
		t.Errorf("%+v, precision %v, recall %v", p, *p.Precision.Value, *p.Recall.Value)
	}
	if ci := p.Precision.CI95; ci == nil || ci[0] <= 0.6 || ci[0] >= 0.8 || ci[1] <= 0.8 || ci[1] >= 0.95 {
		t.Errorf("%v", ci)
	}
	if none := PrecisionAt(&labels, &judge, 1, Options{Samples: 5}); none.Precision.Value != nil || none.Recall.Value != nil {
		t.Errorf("%+v", none)
	}
	if _, err := ReadRatings(strings.NewReader(`{"problem_id":"p","score":0.5,"probability":0}`), "x", 1000); err == nil {
		t.Error("an attempt with probability 0 was sampled")
	}
}

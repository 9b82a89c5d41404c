package agreement

import (
	"fmt"
	"math"
	"testing"

	"github.com/trajectory-arena/arena"

	"github.com/trajectory-arena/arena/internal/dice"
	"github.com/trajectory-arena/arena/internal/longtest"
	"github.com/trajectory-arena/arena/judges/reply"
	"github.com/trajectory-arena/arena/judges/shop/outcome"
)

// biased are labels, and a judge that grades higher than they do and errs.
func biased(d *dice.Dice, n int, up func(float64) float64) (labels, judge Ratings) {
	labels = rater("people")
	judge = rater("judge")
	labels.Probability = map[Key]float64{}
	for i := range n {
		truth := reply.Scores[d.N(len(reply.Scores))]
		score := up(truth)
		key := Key{Run: "r", Problem: fmt.Sprint(i % (n / 2)), Step: i}
		if d.N(10) == 0 {
			score = reply.Scores[d.N(len(reply.Scores))]
		}
		labels.Scores[key] = &truth
		judge.Scores[key] = &score
		labels.Probability[key] = 0.1 + 0.9*truth
	}
	return labels, judge
}

// TestTheFitFindsTheScale checks that a judge which agrees keeps the subnet's scale, and that the
// fit for a judge which grades a step too high equals the result of a search over all scales in
// hundredths.
func TestTheFitFindsTheScale(t *testing.T) {
	t.Parallel()
	labels, _ := biased(dice.New(1), 200, func(x float64) float64 { return x })
	copied := labels
	f, err := FitScale([]Ratings{labels, labels}, &copied, Options{Samples: 50, Seed: 1})
	if err != nil || *f.Floor.Value != 0.3 || *f.Ceiling.Value != 0.8 || f.Subnet != 0 || *f.Fitted != 0 {
		t.Errorf("%v, floor %v, ceiling %v: %+v", err, *f.Floor.Value, *f.Ceiling.Value, f)
	}
	labels, judge := biased(dice.New(2), 200, func(x float64) float64 { return min(0.9, x+0.2) })
	if f, err = FitScale([]Ratings{labels}, &judge, Options{Samples: 200, Seed: 1}); err != nil || *f.Fitted > 0.9*f.Subnet || f.N != 200 || f.Problems != 100 {
		t.Errorf("%v: %+v", err, f)
	}
	best := outcome.Scale{}
	lowest := math.Inf(1)
	for floor := range 101 {
		for ceiling := 1; ceiling <= 100; ceiling++ {
			s := outcome.Scale{Floor: float64(floor) / 100, Ceiling: float64(ceiling) / 100}
			sum := 0.0
			for key, truth := range labels.Scores {
				sum += square(s.Multiplier(*judge.Scores[key])-outcome.Multiplier(*truth)) / labels.Probability[key]
			}
			if sum < lowest {
				best = s
				lowest = sum
			}
		}
	}
	if math.Abs(best.Floor-*f.Floor.Value) > 0.011 || math.Abs(best.Ceiling-*f.Ceiling.Value) > 0.011 {
		t.Errorf("fitted %v and %v, the search finds %+v", *f.Floor.Value, *f.Ceiling.Value, best)
	}
	empty := rater("empty", none)
	if _, err := FitScale([]Ratings{labels}, &empty, DefaultOptions()); err == nil {
		t.Error("a fit to nothing")
	}
}

// TestAFlatteringJudgeIsHeldDown simulates samples of labels. In at least 88 % of them the
// intervals contain the floor, and in as many the ceiling, of a fit to very many labels; in at
// least 95 % the fit improves the pay of problems that it did not use.
func TestAFlatteringJudgeIsHeldDown(t *testing.T) {
	t.Parallel()
	up := func(x float64) float64 { return min(0.9, x+0.2) }
	labels, judge := biased(dice.New(3), longtest.Pick(100_000, 20_000), up)
	scale := nearestScale(concat(observations([]Ratings{labels}, &judge)))
	n := longtest.Pick(300, 20)
	floors := 0
	ceilings := 0
	better := 0
	for seed := range n {
		labels, judge := biased(dice.New(uint64(seed)+10), 200, up)
		f, err := FitScale([]Ratings{labels}, &judge, Options{Samples: 400, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		floors += countWithin(f.Floor, scale.Floor)
		ceilings += countWithin(f.Ceiling, scale.Ceiling)
		if *f.Fitted < f.Subnet {
			better++
		}
	}
	t.Logf("of %d samples of 200 labels: floor %v in %d intervals, ceiling %v in %d, better in %d", n, scale.Floor, floors, scale.Ceiling, ceilings, better)
	if min(floors, ceilings) < n*88/100 || better < n*95/100 {
		t.Error("the intervals promise too much")
	}
}

func countWithin(f Figure, x float64) int {
	if f.CI95[0]-1e-9 <= x && x <= f.CI95[1]+1e-9 {
		return 1
	}
	return 0
}

func concat(groups [][]observation) (flat []observation) {
	for _, some := range groups {
		flat = append(flat, some...)
	}
	return flat
}

// TestTheValidatorIsOneMoreJudge compares means of runs with values computed by hand; runs that
// either side did not grade are left out.
func TestTheValidatorIsOneMoreJudge(t *testing.T) {
	t.Parallel()
	judge := Ratings{Name: "gates", Scores: map[Key]*float64{}}
	for _, a := range []struct {
		run   string
		score float64
	}{{"a", 0.1}, {"a", 0.3}, {"b", 0.5}, {"b", 0.9}, {"c", 0.9}, {"d", 0.9}} {
		judge.Scores[Key{Run: a.run, Problem: fmt.Sprint(len(judge.Scores))}] = &a.score
	}
	judge.Scores[Key{Run: "a", Problem: "unscored"}] = nil
	var runs []SubnetFinding
	for _, r := range []struct {
		run, agent string
		quality    float64
	}{{"a", "x", 0.3}, {"b", "x", 0.6}, {"c", "y", 0.9}, {"e", "y", 0.1}} {
		runs = append(runs, SubnetFinding{Key: Key{Run: r.run}, Agent: r.agent, Findings: arena.Findings{Quality: &r.quality}})
	}
	v := AgainstValidator(FigureQuality, runs, &judge, Options{Samples: 100, Seed: 1})[0]
	if v.Runs != 3 || v.Attempts != 5 || v.Agents != 2 || v.Coverage != 0.75 {
		t.Errorf("%+v", v)
	}
	near(t, "bias", v.Bias, (-0.1+0.1+0)/3, 1e-12)
	near(t, "distance", v.Distance, 0.2/3, 1e-12)
	near(t, "correlation", v.Correlation, 0.9707, 1e-4)
	for _, figure := range []string{FigureCoefficient, FigureAttemptQuality} {
		if nobody := AgainstValidator(figure, runs, &judge, DefaultOptions()); nobody != nil {
			t.Errorf("%+v", nobody)
		}
	}
}

// TestSampledGradeIsWeighedWithinItsRun compares a run of which one attempt in eight is graded with the
// run of which all are.
func TestSampledGradeIsWeighedWithinItsRun(t *testing.T) {
	t.Parallel()
	ratings := Ratings{Name: "gates", Scores: map[Key]*float64{}}
	sampled := Ratings{Name: "gates", Scores: map[Key]*float64{}, Probability: map[Key]float64{}}
	findings := []SubnetFinding{
		{Key: Key{Run: "r"}, Findings: arena.Findings{Quality: new(0.5)}},
		{Key: Key{Run: "s"}, Findings: arena.Findings{Quality: new(0.5)}},
	}
	for _, run := range []string{"r", "s"} {
		for i := range 16 {
			ratings.Scores[Key{Run: run, Problem: fmt.Sprint("dropped ", i)}] = new(0.1)
		}
		problemKey := Key{Run: run, Problem: "kept"}
		ratings.Scores[problemKey] = new(0.9)
		sampled.Scores[problemKey] = new(0.9)
		for i := range 2 {
			key := Key{Run: run, Problem: fmt.Sprint("dropped ", i)}
			sampled.Scores[key] = new(0.1)
			sampled.Probability[key] = 0.125
		}
	}
	opt := Options{Samples: 10, Seed: 1}
	want := AgainstValidator(FigureQuality, findings, &ratings, opt)[0]
	got := AgainstValidator(FigureQuality, findings, &sampled, opt)[0]
	near(t, "bias", got.Bias, *want.Bias.Value, 1e-12)
	if got.Attempts != 6 || want.Attempts != 34 {
		t.Errorf("%d grades of %d", got.Attempts, want.Attempts)
	}
}

// TestTheValidatorAttemptByAttempt compares, by category, the grades and the results of the
// subnet's rule for them (0.3 and 0.875 of a point, 1 from 0.8 on) with values computed by hand.
func TestTheValidatorAttemptByAttempt(t *testing.T) {
	t.Parallel()
	judge := Ratings{Name: "gates", Scores: map[Key]*float64{}}
	var findings []SubnetFinding
	for i, a := range []struct {
		category          string
		recomputed, their float64
	}{{"product", 0.4, 0.8}, {"product", 0.8, 0.8}, {"shop", 0.9, 0.1}, {"shop", 0, 0.5}} {
		key := Key{Run: fmt.Sprint("run", i%2), Problem: fmt.Sprint(i)}
		findings = append(findings, SubnetFinding{Key: key, Agent: fmt.Sprint(i % 2), Findings: arena.Findings{Quality: &a.their, Category: a.category}})
		if judge.Scores[key] = &a.recomputed; a.recomputed == 0 {
			judge.Scores[key] = nil // unscored is not compared, and lowers the coverage
		}
	}
	for figure, bias := range map[string][2]float64{FigureAttemptQuality: {-0.2, 0.8}, FigureMultiplier: {(0.65 - 1) / 2, 1 - 0.3875}} {
		validators := AgainstValidator(figure, findings, &judge, Options{Samples: 100, Seed: 1})
		if len(validators) != 2 || validators[0].Category != "product" || validators[0].Coverage != 1 || validators[1].Coverage != 0.5 || validators[0].Runs != 2 || validators[0].Agents != 2 || validators[1].Attempts != 1 {
			t.Fatalf("%s: %+v", figure, validators)
		}
		for i, v := range validators {
			near(t, figure+" "+v.Category, v.Bias, bias[i], 1e-12)
		}
		if validators[0].Bias.CI95 == nil || validators[1].Bias.CI95 != nil {
			t.Errorf("%s: intervals %v, %v: one agent has none", figure, validators[0].Bias.CI95, validators[1].Bias.CI95)
		}
	}
}

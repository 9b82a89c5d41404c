package student

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/trajectory-arena/arena/internal/evaluation"
	"github.com/trajectory-arena/arena/internal/stats"
	"github.com/trajectory-arena/arena/judges/outcome"
	"github.com/trajectory-arena/arena/student/rollout"
)

// tally adds up a run, result by result in the order of the problems.
type tally struct {
	samples      int
	contaminated map[string]bool
	s            evaluation.Summary
	problem      string
	category     string
	// wins and misses are of the problem at hand.
	wins, misses, infra int
	rates               []float64
	partRates           map[*evaluation.Part][]float64
	pass                map[string]float64
	axes                map[string][]float64
	qualities           []float64
}

func newTally(samples int, contaminated map[string]bool) *tally {
	t := &tally{samples: samples, contaminated: contaminated, partRates: map[*evaluation.Part][]float64{}, pass: map[string]float64{}, axes: map[string][]float64{}}
	t.s = evaluation.Summary{
		ByCategory: map[string]*evaluation.Part{}, Stops: map[string]int{}, Labels: map[string]int{}, Infra: map[string]int{},
		Axes: map[string]float64{}, AxisRollouts: map[string]int{}, Pass: map[string]evaluation.PassRate{},
	}
	if contaminated != nil {
		t.s.ByContamination = map[string]*evaluation.Part{"clean": {}, "contaminated": {}}
	}
	return t
}

// add counts one result; all of a problem come together.
func (t *tally) add(r *rollout.Result) {
	s := &t.s
	t.problem, t.category = r.ProblemID, string(r.Category)
	s.Samples++
	s.Stops[string(r.Stop)]++
	s.HallucinatedIDs += r.HallucinatedIDs
	s.UnseenIDs += r.UnseenIDs
	s.Turns += r.Turns
	s.ToolCalls += r.ToolCalls
	s.ToolErrors += r.ToolErrors
	s.RepeatedCalls += r.Repeated
	s.MalformedCalls += r.Malformed
	plus(&s.Tokens.Prompt, r.Tokens.Prompt)
	plus(&s.Tokens.Completion, r.Tokens.Completion)
	s.Tokens.Uncounted += r.Tokens.Uncounted
	if r.Outcome == rollout.Infra {
		t.infra++
		s.Infra[*r.Infra]++
		return
	}
	t.addScored(r)
}

func (t *tally) addScored(r *rollout.Result) {
	if *r.Success {
		t.wins++
	} else {
		t.misses++
	}
	if r.Label != nil && *r.Label != rollout.LabelSuccess {
		t.s.Labels[string(*r.Label)]++
	}
	if r.Quality != nil {
		t.qualities = append(t.qualities, *r.Quality)
	}
	for axis, v := range r.Axes {
		t.axes[axis] = append(t.axes[axis], v)
	}
}

func plus(to **int64, n *int64) {
	if n == nil {
		return
	}
	if *to == nil {
		*to = new(int64)
	}
	**to += *n
}

// endProblem closes the problem at hand.
func (t *tally) endProblem() {
	s := &t.s
	n := t.wins + t.misses + t.infra
	rate := float64(t.wins) / float64(n)
	s.Problems++
	s.Scored += t.wins + t.misses
	s.InfraErrors += t.infra
	s.Successes += t.wins
	t.rates = append(t.rates, rate)
	if t.wins > 0 {
		s.SolvedProblems++
		if t.misses > 0 {
			s.Flaky++
		}
	}
	for _, k := range passAt {
		at, err := stats.PassAtK(n, t.wins, k)
		if err != nil {
			break
		}
		hat, _ := stats.PassHatK(n, t.wins, k) // the same k was fine a line above
		t.pass[fmt.Sprintf("pass@%d", k)] += at
		t.pass[fmt.Sprintf("pass^%d", k)] += hat
	}
	if s.ByCategory[t.category] == nil {
		s.ByCategory[t.category] = &evaluation.Part{}
	}
	t.addPart(s.ByCategory[t.category], rate)
	if t.contaminated != nil {
		name := map[bool]string{true: "contaminated", false: "clean"}[t.contaminated[t.problem]]
		t.addPart(s.ByContamination[name], rate)
	}
	t.wins, t.misses, t.infra = 0, 0, 0
}

func (t *tally) addPart(p *evaluation.Part, rate float64) {
	p.Problems++
	p.Samples += t.wins + t.misses + t.infra
	p.Scored += t.wins + t.misses
	p.InfraErrors += t.infra
	p.Successes += t.wins
	t.partRates[p] = append(t.partRates[p], rate)
}

// bootstrapSeed and bootstrapRounds fix the interval: percentiles of so many
// rounds move by less than a tenth of a point from seed to seed.
const (
	bootstrapSeed   = 1
	bootstrapRounds = 9_999
)

// summary ends the tally.
func (t *tally) summary() *evaluation.Summary {
	s := &t.s
	s.Coverage, s.ASRAll = ratio(s.Scored, s.Samples), ratio(s.Successes, s.Samples)
	s.ASRScored = rateOf(s.Successes, s.Scored)
	w := stats.Wilson(s.Successes, s.Samples)
	s.Wilson95 = [2]float64{w.Low, w.High}
	s.SEClustered, s.Clustered95 = clustered(t.rates, s.ASRAll, s.Samples)
	s.Bootstrap95 = bootstrapped(t.rates)
	for name, sum := range t.pass {
		s.Pass[name] = evaluation.PassRate{Mean: sum / float64(s.Problems), Problems: s.Problems}
	}
	for _, p := range slices.Concat(slices.Collect(maps.Values(s.ByCategory)), slices.Collect(maps.Values(s.ByContamination))) {
		p.ASRAll, p.ASRScored = rateOf(p.Successes, p.Samples), rateOf(p.Successes, p.Scored)
		p.SEClustered, p.Clustered95 = clustered(t.partRates[p], ratio(p.Successes, p.Samples), p.Samples)
	}
	for axis, values := range t.axes {
		s.Axes[axis], s.AxisRollouts[axis] = stats.Mean(values), len(values)
	}
	s.UnseenPerTurn = rateOf(s.UnseenIDs, s.Turns)
	s.Judged = len(t.qualities)
	if q := known(stats.Mean(t.qualities)); q != nil {
		s.Quality = q
		s.Final = known(outcome.FinalScore(s.ASRAll, *q))
	}
	return s
}

// bootstrapped is an interval of the mean over problems; nil for fewer than two.
func bootstrapped(means []float64) *[2]float64 {
	b := stats.Bootstrap95(means, bootstrapSeed, bootstrapRounds)
	if math.IsNaN(b.Low) {
		return nil
	}
	return &[2]float64{b.Low, b.High}
}

// clustered says how sure a success rate is, from one rate a problem; nil for
// fewer than two problems.
func clustered(rates []float64, asr float64, samples int) (se *float64, interval *[2]float64) {
	if se = known(stats.ClusteredSE(rates)); se == nil {
		return nil, nil
	}
	i := stats.ClusteredWilson(asr, *se, len(rates), samples)
	return se, &[2]float64{i.Low, i.High}
}

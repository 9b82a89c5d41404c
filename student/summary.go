package student

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/trajectory-arena/arena/judges/outcome"
	"github.com/trajectory-arena/arena/student/rollout"
	"github.com/trajectory-arena/arena/student/stats"
)

// Summary is what a run says of its model. It holds no clock, no cost and no
// telemetry: a run resumed is the same, byte for byte.
type Summary struct {
	Problems int `json:"problems"`
	// Samples counts rollouts of all problems: Scored + InfraErrors.
	Samples     int `json:"samples"`
	Scored      int `json:"scored"`
	InfraErrors int `json:"infra_errors"`
	// Coverage is Scored / Samples.
	Coverage  float64 `json:"coverage"`
	Successes int     `json:"successes"`
	// ASRAll counts infra as not solved, ASRScored leaves it out; null where
	// nothing was scored.
	ASRAll    float64  `json:"asr_all"`
	ASRScored *float64 `json:"asr_scored"`
	// Wilson95 holds for independent rollouts; with several samples a problem
	// Clustered95 and Bootstrap95 are the honest ones. The bootstrap has no width
	// where no rollout succeeds, or all do.
	Wilson95    [2]float64  `json:"wilson95_all"`
	SEClustered *float64    `json:"se_clustered_by_problem"`
	Clustered95 *[2]float64 `json:"wilson95_by_problem"`
	Bootstrap95 *[2]float64 `json:"bootstrap95_by_problem"`

	Pass map[string]PassRate `json:"-"`

	ByCategory map[string]*Part `json:"by_category"`
	// ByContamination has the parts "clean" and "contaminated", where the run
	// was told which problems the model was trained on.
	ByContamination map[string]*Part `json:"by_contamination,omitempty"`
	Stops           map[string]int   `json:"stops"`
	Labels          map[string]int   `json:"labels"`
	Infra           map[string]int   `json:"infra"`

	HallucinatedIDs int `json:"hallucinated_ids"`
	UnseenIDs       int `json:"unseen_ids"`
	Turns           int `json:"turns"`
	ToolCalls       int `json:"tool_calls"`
	ToolErrors      int `json:"tool_errors"`
	RepeatedCalls   int `json:"repeated_calls"`
	MalformedCalls  int `json:"malformed_calls"`
	// UnseenPerTurn is UnseenIDs / Turns.
	UnseenPerTurn *float64 `json:"unseen_ids_per_turn"`
	// Axes are means over the scored rollouts that have the axis, AxisRollouts how
	// many that are: most axes need a recommended product that the catalogue knows.
	Axes         map[string]float64 `json:"axes"`
	AxisRollouts map[string]int     `json:"axis_rollouts"`
	// Quality is the mean of the reasoning judge, Final the success rate times
	// its multiplier; null without a judge.
	Quality *float64 `json:"quality"`
	// Judged counts the scored rollouts that the judge gave an answer on; those
	// without one are in no mean.
	Judged int      `json:"judged"`
	Final  *float64 `json:"final"`
	// SolvedProblems counts problems that a sample solves, Flaky those of them
	// that others do not.
	SolvedProblems int            `json:"solved_problems"`
	Flaky          int            `json:"flaky_problems"`
	Tokens         rollout.Tokens `json:"tokens"`
}

// PassRate is pass@k or pass^k: the mean over problems, and how many.
type PassRate struct {
	Mean     float64 `json:"mean"`
	Problems int     `json:"problems"`
}

// Part is a share of the problems. Rates are null where it has none.
type Part struct {
	Problems    int         `json:"problems"`
	Samples     int         `json:"samples"`
	Scored      int         `json:"scored"`
	InfraErrors int         `json:"infra_errors"`
	Successes   int         `json:"successes"`
	ASRAll      *float64    `json:"asr_all"`
	ASRScored   *float64    `json:"asr_scored"`
	SEClustered *float64    `json:"se_clustered_by_problem"`
	Clustered95 *[2]float64 `json:"wilson95_by_problem"`
}

// passAt are the k that are reported, as far as there are samples.
var passAt = []int{1, 2, 4, 8}

// MarshalJSON writes the pass rates behind the standard errors.
func (s *Summary) MarshalJSON() ([]byte, error) {
	type plain Summary
	b, err := json.Marshal((*plain)(s))
	if err != nil {
		return nil, fmt.Errorf("encode summary: %w", err)
	}
	if len(s.Pass) == 0 {
		return b, nil
	}
	extra, err := json.Marshal(s.Pass)
	if err != nil {
		return nil, fmt.Errorf("encode pass rates: %w", err)
	}
	return slices.Concat(b[:len(b)-1], []byte{','}, extra[1:]), nil
}

// UnmarshalJSON reads a summary without its pass rates.
func (s *Summary) UnmarshalJSON(b []byte) error {
	type plain Summary
	return json.Unmarshal(b, (*plain)(s))
}

// tally adds up a run, result by result in the order of the problems.
type tally struct {
	samples      int
	contaminated map[string]bool
	s            Summary
	problem      string
	category     string
	// wins and misses are of the problem at hand.
	wins, misses, infra int
	rates               []float64
	partRates           map[*Part][]float64
	pass                map[string]float64
	axes                map[string][]float64
	qualities           []float64
}

func newTally(samples int, contaminated map[string]bool) *tally {
	t := &tally{samples: samples, contaminated: contaminated, partRates: map[*Part][]float64{}, pass: map[string]float64{}, axes: map[string][]float64{}}
	t.s = Summary{
		ByCategory: map[string]*Part{}, Stops: map[string]int{}, Labels: map[string]int{}, Infra: map[string]int{},
		Axes: map[string]float64{}, AxisRollouts: map[string]int{}, Pass: map[string]PassRate{},
	}
	if contaminated != nil {
		t.s.ByContamination = map[string]*Part{"clean": {}, "contaminated": {}}
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
		s.ByCategory[t.category] = &Part{}
	}
	t.addPart(s.ByCategory[t.category], rate)
	if t.contaminated != nil {
		name := map[bool]string{true: "contaminated", false: "clean"}[t.contaminated[t.problem]]
		t.addPart(s.ByContamination[name], rate)
	}
	t.wins, t.misses, t.infra = 0, 0, 0
}

func (t *tally) addPart(p *Part, rate float64) {
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
func (t *tally) summary() *Summary {
	s := &t.s
	s.Coverage, s.ASRAll = ratio(s.Scored, s.Samples), ratio(s.Successes, s.Samples)
	s.ASRScored = rateOf(s.Successes, s.Scored)
	w := stats.Wilson(s.Successes, s.Samples)
	s.Wilson95 = [2]float64{w.Low, w.High}
	s.SEClustered, s.Clustered95 = clustered(t.rates, s.ASRAll, s.Samples)
	s.Bootstrap95 = bootstrapped(t.rates)
	for name, sum := range t.pass {
		s.Pass[name] = PassRate{Mean: sum / float64(s.Problems), Problems: s.Problems}
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

func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

func rateOf(a, b int) *float64 {
	if b == 0 {
		return nil
	}
	return known(float64(a) / float64(b))
}

// known is nil for what could not be computed.
func known(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

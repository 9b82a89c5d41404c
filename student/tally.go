package student

import (
	"fmt"

	"gonum.org/v1/gonum/floats"

	"github.com/trajectory-arena/arena/internal/evaluation"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/stats"
	"github.com/trajectory-arena/arena/judges/shop/outcome"
	"github.com/trajectory-arena/arena/student/dialect"
	"github.com/trajectory-arena/arena/student/rollout"
)

// tally computes the summary of a run from its results. They must be added one by one in the order
// of problems.
type tally struct {
	contaminated map[string]bool
	// serverParses reports whether the server parses calls, because requests have tool definitions.
	serverParses bool
	// toolsUnseen reports whether a server showed no tools to the model. callless counts the
	// rollouts without a call.
	toolsUnseen bool
	callless    int
	groups      groups
	// graded reports whether a reward is neither 0 nor 1, so that the variance within a problem is
	// not that of a share.
	graded bool
	s      evaluation.Summary
	// problem is the problem whose results are being added.
	problem         ProblemResult
	parts           map[*evaluation.Part]*ratio
	pass            map[string]*ratio
	axes            map[string]*ratio
	quality, unseen ratio
}

// ratio has the two numbers of a rate for each problem: the sum gained, such as the number of
// successes, and the number of tries. ids are the ids of the problems.
type ratio struct {
	gained, tries []float64
	ids           []string
}

func (r *ratio) begin(id string) {
	r.gained = append(r.gained, 0)
	r.tries = append(r.tries, 0)
	r.ids = append(r.ids, id)
}

// byGroup returns the sums of gained and tries for each group of problems, instead of for each
// problem.
func (r *ratio) byGroup(g groups) *ratio {
	list := g.of(r.ids)
	return &ratio{gained: stats.SumByGroup(r.gained, list), tries: stats.SumByGroup(r.tries, list)}
}

func (r *ratio) add(gained, tries float64) {
	last := len(r.tries) - 1
	r.gained[last] += gained
	r.tries[last] += tries
}

func newTally(contaminated map[string]bool, serverParses bool, g groups) *tally {
	t := &tally{
		contaminated: contaminated,
		serverParses: serverParses,
		groups:       g,
		parts:        map[*evaluation.Part]*ratio{},
		pass:         map[string]*ratio{},
		axes:         map[string]*ratio{},
	}
	t.s = evaluation.Summary{
		ByCategory: map[string]*evaluation.Part{}, Stops: map[string]int{}, Labels: map[string]int{}, Unparsed: map[string]evaluation.Unparsed{}, Infra: map[string]int{}, InfraWords: map[string]string{}, Titles: map[string]int{},
		Axes: map[string]float64{}, AxisRollouts: map[string]int{}, Axes95: map[string][2]float64{}, Pass: map[string]evaluation.PassRate{},
	}
	if contaminated != nil {
		t.s.ByContamination = map[string]*evaluation.Part{
			"clean":        {},
			"contaminated": {},
		}
	}
	return t
}

// add adds the result of one rollout to the summary. All results of a problem must be added one
// after the other.
func (t *tally) add(r *rollout.Result) {
	s := &t.s
	if t.problem.Samples == 0 { // the next problem
		t.problem = ProblemResult{ProblemID: r.ProblemID, Category: r.Category}
		t.unseen.begin(r.ProblemID)
		t.quality.begin(r.ProblemID)
		for _, axis := range t.axes {
			axis.begin(r.ProblemID)
		}
	}
	t.problem.add(r)
	s.Stops[string(r.Stop)]++
	s.Add(r.Counts)
	if r.ToolCalls == 0 {
		t.callless++
	}
	s.Turns += r.Turns
	t.unseen.add(float64(r.UnseenIDs), float64(r.Turns))
	s.Cached += r.Cached
	s.Tokens.Add(r.Tokens)
	if r.UnparsedForm != "" {
		u := s.Unparsed[r.UnparsedForm]
		s.Unparsed[r.UnparsedForm] = evaluation.Unparsed{Rollouts: u.Rollouts + 1, ParsedBy: dialect.ParsedBy(r.UnparsedForm)}
	}
	if r.Outcome == rollout.Infra {
		if s.Infra[*r.Infra]++; s.Infra[*r.Infra] == 1 && r.InfraWords != "" {
			s.InfraWords[*r.Infra] = r.InfraWords
		}
		return
	}
	t.addScored(r)
}

func (t *tally) addScored(r *rollout.Result) {
	if !*r.Success && r.Axes["rule"] > 0 {
		t.s.Partial++
	}
	if r.Label != nil && *r.Label != rollout.LabelSuccess {
		t.s.Labels[string(*r.Label)]++
	}
	if r.Titles != "" {
		t.s.Titles[string(r.Titles)]++
	}
	if r.Quality != nil {
		t.s.Judged++
		t.quality.add(*r.Quality, 1)
	}
	for axis, v := range r.Axes {
		if t.axes[axis] == nil { // the problems before have none of it
			t.axes[axis] = &ratio{}
			t.axes[axis].begin(r.ProblemID)
		}
		t.axes[axis].add(v, 1)
		t.s.AxisRollouts[axis]++
	}
}

func (t *tally) endProblem() {
	s, p := &t.s, &t.problem
	if p.Successes > 0 {
		s.SolvedProblems++
	}
	if p.flaky() {
		s.Flaky++
	}
	for _, k := range passAt {
		if k > p.Scored {
			break
		}
		name := fmt.Sprintf("pass@%d", k)
		hat := fmt.Sprintf("pass^%d", k)
		t.addPass(name, stats.PassAtK(p.Scored, p.Successes, k))
		t.addPass(hat, stats.PassHatK(p.Scored, p.Successes, k))
	}
	t.addPart(&s.Part)
	category := string(p.Category)
	if s.ByCategory[category] == nil {
		s.ByCategory[category] = &evaluation.Part{}
	}
	t.addPart(s.ByCategory[category])
	if t.contaminated != nil {
		t.addPart(s.ByContamination[evaluation.ContaminationPart(t.contaminated[p.ProblemID])])
	}
	t.problem = ProblemResult{}
}

func (t *tally) addPass(name string, value float64) {
	if t.pass[name] == nil {
		t.pass[name] = &ratio{}
	}
	t.pass[name].begin(t.problem.ProblemID)
	t.pass[name].add(value, float64(t.problem.Scored))
}

func (t *tally) addPart(p *evaluation.Part) {
	p.Problems++
	p.Samples += t.problem.Samples
	p.Scored += t.problem.Scored
	p.InfraErrors += t.problem.Samples - t.problem.Scored
	p.Successes += t.problem.Successes
	if t.parts[p] == nil {
		t.parts[p] = &ratio{}
	}
	t.parts[p].begin(t.problem.ProblemID)
	t.parts[p].add(t.problem.gained, float64(t.problem.Scored))
	t.graded = t.graded || t.problem.graded
}

func (t *tally) summary() *evaluation.Summary {
	s := &t.s
	if n := s.UnparsedRollouts(); t.serverParses && float64(n) > maxUnparsed*float64(s.Samples) {
		s.NoRate = fmt.Sprintf("%d of %d rollouts hold calls that nobody parsed", n, s.Samples)
	}
	if n := t.callless; t.serverParses && t.toolsUnseen && float64(n) > maxUnparsed*float64(s.Samples) {
		s.NoRate = fmt.Sprintf("%d of %d rollouts have no call, and the server showed the tools to no model", n, s.Samples)
	}
	for p, scored := range t.parts {
		p.Coverage = float64(p.Scored) / float64(p.Samples)
		if p.Scored > 0 && s.NoRate == "" {
			t.setRates(p, scored)
		}
	}
	if s.Scored > 0 && s.NoRate == "" {
		for name, values := range t.pass {
			s.Pass[name] = t.passRate(values)
		}
	}
	for axis, r := range t.axes {
		mean, _ := stats.Ratio(r.gained, r.tries)
		s.Axes[axis] = mean
		if _, interval := r.byGroup(t.groups).share(); interval != nil {
			s.Axes95[axis] = *interval
		}
	}
	s.UnseenPerTurn, s.UnseenPerTurn95 = rateOf(s.UnseenIDs, s.Turns), t.unseen.byGroup(t.groups).count()
	if mean, _ := stats.Ratio(t.quality.gained, t.quality.tries); s.Judged > 0 {
		s.Quality = &mean
		_, s.Quality95 = t.quality.byGroup(t.groups).share()
		if s.ASRAll != nil {
			s.Final = stats.FiniteOrNil(outcome.FinalScore(*s.ASRAll, mean))
		}
	}
	return s
}

// setRates sets the rates of a part of the summary with their standard errors and intervals. scored
// has the sum of rewards and the number of scored rollouts of each problem.
func (t *tally) setRates(p *evaluation.Part, scored *ratio) {
	gained := floats.Sum(scored.gained)
	p.ASRAll, p.ASRScored = stats.FiniteOrNil(gained/float64(p.Samples)), stats.FiniteOrNil(gained/float64(p.Scored))
	perProblem := float64(p.Samples) / float64(p.Problems)
	rates := slicesx.Map(scored.gained, func(wins float64) float64 {
		return wins / perProblem
	})
	se, groups := stats.GroupedSE(rates, t.groups.of(scored.ids))
	p.SEClustered = stats.FiniteOrNil(se)
	p.SEScored, p.Clustered95 = scored.byGroup(t.groups).share()
	if groups < p.Problems {
		p.Groups = groups
	}
	if !t.graded {
		p.Between, p.Within = variances(stats.Components(scored.gained, scored.tries))
	}
}

// maxUnparsed is the maximum share of rollouts, from 0 to 1, with a tool call that neither the
// server nor this program could parse. Above it the summary has no success rate, since that would
// measure the server's parser and not the model.
const maxUnparsed = 0.2

func rateOf(a, b int) *float64 { return stats.FiniteOrNil(float64(a) / float64(b)) }

// passAt are the values of k for which pass@k (at least one of k samples succeeds) and pass^k (all
// of k do) are reported, each over the problems that have at least k scored samples.
var passAt = []int{1, 2, 4, 8}

// variances returns pointers to two variances of results, between problems and within problems. A
// pointer is nil if the value is not finite, which means that it is unknown.
func variances(between, within float64) (*float64, *float64) {
	return stats.FiniteOrNil(between), stats.FiniteOrNil(within)
}

// passRate returns the mean of a pass rate over problems. values has the rate of each problem and the
// number of its scored samples.
func (t *tally) passRate(values *ratio) evaluation.PassRate {
	r := evaluation.PassRate{
		Mean:     stats.Mean(values.gained),
		Problems: len(values.gained),
	}
	se, groups := stats.GroupedSE(values.gained, t.groups.of(values.ids))
	r.SE, r.CI95 = known(se, stats.ClusteredWilson(r.Mean, se, groups, int(floats.Sum(values.tries))))
	return r
}

func (r *ratio) share() (se *float64, interval *[2]float64) {
	rate, spread := stats.Ratio(r.gained, r.tries)
	problems := 0
	for _, n := range r.tries {
		if n > 0 {
			problems++
		}
	}
	if rate < 0 || rate > 1 { // of rewards on another scale
		return known(spread, stats.T95(rate, spread, problems))
	}
	return known(spread, stats.ClusteredWilson(rate, spread, problems, int(floats.Sum(r.tries))))
}

// known returns pointers to se, the standard error of a mean over problems, and to the mean's 95 %
// interval. Both are nil if se is not finite, as for fewer than two problems.
func known(se float64, interval stats.Interval) (*float64, *[2]float64) {
	if stats.FiniteOrNil(se) == nil {
		return nil, nil
	}
	return &se, &[2]float64{interval.Low, interval.High}
}

// count returns the 95 % interval of a rate that may exceed 1, such as ids per reply. It returns
// nil if the standard error is 0 or unknown.
func (r *ratio) count() *[2]float64 {
	rate, se := stats.Ratio(r.gained, r.tries)
	if !(se > 0) { // nothing varies, or nobody knows
		return nil
	}
	i := stats.T95(rate, se, len(r.tries))
	return &[2]float64{max(0, i.Low), i.High}
}

package evolai

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/contest"
	"github.com/trajectory-arena/arena/internal/stats"
)

// Report is the result of checking a validator's log.
type Report struct {
	Network string `json:"network,omitempty"`
	Gates   []Gate `json:"gates"`
	// Reproduced is the share of gate lines whose recomputed decision is equal to the printed
	// one.
	Reproduced contest.Figure `json:"gates_reproduced"`
	Events     int            `json:"events"`
	Violations []Violation    `json:"violations"`
	// Averages counts the printed averages whose previous value is in the file. AveragesEqual
	// counts those that can be computed from it.
	Averages      int `json:"averages"`
	AveragesEqual int `json:"averages_equal"`
	// Flows counts the lines with a flow and at least ten rounds of averages in the file.
	// FlowsEqual counts those whose flow can be computed from the averages of one set.
	Flows      int `json:"flows"`
	FlowsEqual int `json:"flows_equal"`
	// Noise is the standard deviation of the KL on one set of rows, as a share of the KL. It is
	// estimated from models that were measured on two sets. The interval assumes a normal
	// distribution.
	Noise  contest.Figure `json:"noise_of_one_set"`
	Quests []QuestResult  `json:"side_quests,omitempty"`
}

// QuestResult is the list of a sample's side quests, with the number of them that a model
// solved.
type QuestResult struct {
	UID    int64   `json:"uid"`
	Sample int     `json:"sample"`
	Quests []Quest `json:"quests"`
	Solved int     `json:"solved"`
}

// questAnswers is a log line with a model's answers to one sample of side quests (short
// calculations that models must solve).
type questAnswers struct {
	UID     int64    `json:"uid"`
	Hash    string   `json:"block_hash"`
	Sample  int      `json:"sample_index"`
	Answers []string `json:"answers"`
}

// Limits of the input, far above real values. A sample has two side quests.
const (
	maxLine   = 1 << 20 // bytes
	maxQuests = 64
)

// Read reads and checks a log. Its JSON lines are gates ({kl_current, …}), events ({event,
// epoch, uid, …}) and answers to side quests ({block_hash, sample_index, answers}).
func Read(r io.Reader) (*Report, error) {
	l := log{averages: map[series][]float64{}}
	for line, err := range arena.Lines(r, maxLine) {
		if err == nil {
			err = l.add(line.Number, line.Text)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line.Number, err)
		}
	}
	return l.finish()
}

type log struct {
	report   Report
	network  contest.Network
	order    order
	averages map[series][]float64
	ratios   []float64 // logarithms of the ratio of KL between sets
}

// series identifies one moving average in a log: the average KL of the model of miner uid in a
// track (a category with a ranking of its own). next is true for the KL on the next set of rows,
// and false for that on the current set.
type series struct {
	track string
	uid   int64
	next  bool
}

func (l *log) add(number int, text []byte) error {
	var kind struct {
		Network string          `json:"network"`
		Event   string          `json:"event"`
		Gate    json.RawMessage `json:"kl_current"`
		Hash    string          `json:"block_hash"`
	}
	if err := json.Unmarshal(text, &kind); err != nil {
		return fmt.Errorf("read line: %w", err)
	}
	if err := l.network.Add(kind.Network); err != nil {
		return err
	}
	l.report.Network = kind.Network
	switch {
	case kind.Event != "":
		return l.addEvent(number, text)
	case kind.Hash != "":
		return l.addAnswers(text)
	case kind.Gate != nil:
		return l.addGate(text)
	default:
		return errors.New("neither a gate (kl_current), an event (event) nor answers (block_hash)")
	}
}

func (l *log) addEvent(number int, text []byte) error {
	var e Event
	if err := json.Unmarshal(text, &e); err != nil {
		return err
	}
	l.report.Events++
	if reason := l.order.add(&e); reason != "" {
		l.report.Violations = append(l.report.Violations, Violation{number, e.Epoch, e.UID, reason})
	}
	return nil
}

func (l *log) addAnswers(text []byte) error {
	var a questAnswers
	if err := json.Unmarshal(text, &a); err != nil {
		return err
	}
	a.Answers = a.Answers[:min(len(a.Answers), maxQuests)]
	l.report.Quests = append(l.report.Quests, a.check())
	return nil
}

func (a *questAnswers) check() QuestResult {
	out := QuestResult{
		UID:    a.UID,
		Sample: a.Sample,
		Quests: Quests(a.Hash, a.Sample, len(a.Answers)),
	}
	for i, q := range out.Quests {
		if Answered(a.Answers[i], q) {
			out.Solved++
		}
	}
	return out
}

func (l *log) addGate(text []byte) error {
	var g Line
	if err := json.Unmarshal(text, &g); err != nil {
		return err
	}
	l.report.Gates = append(l.report.Gates, Decide(&g))
	if g.KLCurrent != nil && g.KLNext != nil && *g.KLCurrent > 0 && *g.KLNext > 0 {
		l.ratios = append(l.ratios, math.Log(*g.KLNext / *g.KLCurrent))
	}
	current := l.addAverage(
		series{g.Track, g.UID, false},
		g.KLCurrent,
		g.EMACurrent,
	)
	next := l.addAverage(
		series{g.Track, g.UID, true},
		g.KLNext,
		g.EMANext,
	)
	if g.Flow == nil || len(current) < flowRounds || len(next) < flowRounds {
		return nil
	}
	l.report.Flows++
	deviation := math.Min(math.Abs(Flow(current)-*g.Flow), math.Abs(Flow(next)-*g.Flow))
	if deviation <= flowSlack {
		l.report.FlowsEqual++
	}
	return nil
}

// flowSlack is the maximum difference between a printed flow (how steadily a model's KL falls from
// round to round) and the computed one at which both count as equal. A flow divides small
// differences of averages, which the log prints rounded, so that rounding changes it.
const flowSlack = 0.01

// addAverage checks one moving average of a model's KL that the log prints: it must follow from the
// previous average of the series and the new KL, value, up to rounding. It counts the check in the
// report. It returns all printed averages of the series so far, nil if the log line lacks the KL or
// the average.
func (l *log) addAverage(s series, value, printed *float64) []float64 {
	if value == nil || printed == nil {
		return nil
	}
	averages := l.averages[s]
	if n := len(averages); n > 0 {
		l.report.Averages++
		if math.Abs(Average(averages[n-1], *value)-*printed) <= 2*halfKL+digits {
			l.report.AveragesEqual++
		}
	}
	l.averages[s] = append(averages, *printed)
	return l.averages[s]
}

func (l *log) finish() (*Report, error) {
	r := &l.report
	if len(r.Gates)+r.Events+len(r.Quests) == 0 {
		return nil, errors.New("no line of a log")
	}
	equal := 0
	for i := range r.Gates {
		if len(r.Gates[i].Differs) == 0 {
			equal++
		}
	}
	r.Reproduced = contest.Rate(equal, len(r.Gates))
	r.Noise = noise(l.ratios)
	return r, nil
}

// noise computes by how much a model's KL varies by chance with the set of rows on which it is
// measured: the standard deviation as a share of the KL. ratios are the logarithms of the ratios
// between a model's KLs on two sets. The result is NaN for fewer than two ratios.
func noise(ratios []float64) contest.Figure {
	n := float64(len(ratios))
	if n < 2 {
		return contest.NewFigure(math.NaN(), stats.Interval{
			Low:  0,
			High: math.Inf(1),
		}, len(ratios))
	}
	sd := stat.StdDev(ratios, nil) / math.Sqrt2
	chi := distuv.ChiSquared{K: n - 1}
	bound := func(q float64) float64 {
		return sd * math.Sqrt((n-1)/chi.Quantile(q))
	}
	return contest.NewFigure(sd, stats.Interval{
		Low:  bound(0.975),
		High: bound(0.025),
	}, len(ratios))
}

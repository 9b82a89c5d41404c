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

// Report is what a log says and what of it follows.
type Report struct {
	Network string `json:"network,omitempty"`
	Gates   []Gate `json:"gates"`
	// Reproduced is the share of gate lines of which nothing differs.
	Reproduced contest.Figure `json:"gates_reproduced"`
	Events     int            `json:"events"`
	Violations []Violation    `json:"violations"`
	// Averages counts the steps of averages whose value before is in the file;
	// AveragesEqual those that follow from it.
	Averages      int `json:"averages"`
	AveragesEqual int `json:"averages_equal"`
	// Flows counts the lines with ten rounds of averages in the file; FlowsEqual
	// those whose printed flow is that of either set's.
	Flows      int `json:"flows"`
	FlowsEqual int `json:"flows_equal"`
	// Noise is the standard deviation of one set's KL, as a share: models are
	// measured on two sets of rows. The interval takes it for normal.
	Noise  contest.Figure `json:"noise_of_one_set"`
	Quests []Asked        `json:"side_quests,omitempty"`
}

// Asked is a sample's side quests and how many were answered.
type Asked struct {
	UID    int64   `json:"uid"`
	Sample int     `json:"sample"`
	Quests []Quest `json:"quests"`
	Solved int     `json:"solved"`
}

type asked struct {
	UID     int64    `json:"uid"`
	Hash    string   `json:"block_hash"`
	Sample  int      `json:"sample_index"`
	Answers []string `json:"answers"`
}

// maxLine is far above a line of a log; maxQuests above the two of a sample.
const (
	maxLine   = 1 << 20
	maxQuests = 64
)

// Read checks a log: JSON lines of gates ({kl_current, …}), of events ({event,
// epoch, uid, …}) and of answers to side quests ({block_hash, sample_index,
// answers}).
func Read(in io.Reader) (*Report, error) {
	l := log{averages: map[series][]float64{}}
	for line, err := range arena.Lines(in, maxLine) {
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
	ratios   []float64 // of logarithms of KL between sets
}

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
	var e Event
	var a asked
	var g Line
	var err error
	switch {
	case kind.Event != "":
		if err = json.Unmarshal(text, &e); err == nil {
			l.report.Events++
			if why := l.order.add(&e); why != "" {
				l.report.Violations = append(l.report.Violations, Violation{number, e.Epoch, e.UID, why})
			}
		}
	case kind.Hash != "":
		if err = json.Unmarshal(text, &a); err == nil {
			a.Answers = a.Answers[:min(len(a.Answers), maxQuests)]
			l.report.Quests = append(l.report.Quests, a.check())
		}
	case kind.Gate != nil:
		if err = json.Unmarshal(text, &g); err == nil {
			l.gate(&g)
		}
	default:
		err = errors.New("neither a gate (kl_current), an event (event) nor answers (block_hash)")
	}
	return err
}

func (a *asked) check() Asked {
	out := Asked{UID: a.UID, Sample: a.Sample, Quests: Quests(a.Hash, a.Sample, len(a.Answers))}
	for i, q := range out.Quests {
		if Answered(a.Answers[i], q) {
			out.Solved++
		}
	}
	return out
}

func (l *log) gate(g *Line) {
	l.report.Gates = append(l.report.Gates, Decide(g))
	if g.KLCurrent != nil && g.KLNext != nil && *g.KLCurrent > 0 && *g.KLNext > 0 {
		l.ratios = append(l.ratios, math.Log(*g.KLNext / *g.KLCurrent))
	}
	current := l.average(series{g.Track, g.UID, false}, g.KLCurrent, g.EMACurrent)
	next := l.average(series{g.Track, g.UID, true}, g.KLNext, g.EMANext)
	if g.Flow == nil || len(current) < flowRounds || len(next) < flowRounds {
		return
	}
	l.report.Flows++
	if math.Min(math.Abs(Flow(current)-*g.Flow), math.Abs(Flow(next)-*g.Flow)) <= flowSlack {
		l.report.FlowsEqual++
	}
}

// flowSlack is what printed averages, whose steps are small, move a flow by.
const flowSlack = 0.01

// average holds a printed average against the one before and the new value, and
// gives all so far.
func (l *log) average(of series, value, printed *float64) []float64 {
	if value == nil || printed == nil {
		return nil
	}
	all := l.averages[of]
	if len(all) > 0 {
		l.report.Averages++
		if math.Abs(Average(all[len(all)-1], *value)-*printed) <= 2*halfKL+digits {
			l.report.AveragesEqual++
		}
	}
	l.averages[of] = append(all, *printed)
	return l.averages[of]
}

func (l *log) finish() (*Report, error) {
	r := &l.report
	if len(r.Gates)+r.Events+len(r.Quests) == 0 {
		return nil, errors.New("no line of a log")
	}
	same := 0
	for i := range r.Gates {
		if len(r.Gates[i].Differs) == 0 {
			same++
		}
	}
	r.Reproduced, r.Noise = contest.Share(same, len(r.Gates)), noise(l.ratios)
	return r, nil
}

func noise(ratios []float64) contest.Figure {
	n := float64(len(ratios))
	if n < 2 {
		return contest.FigureOf(math.NaN(), stats.Interval{Low: 0, High: math.Inf(1)}, len(ratios))
	}
	sd := stat.StdDev(ratios, nil) / math.Sqrt2
	chi := distuv.ChiSquared{K: n - 1}
	at := func(q float64) float64 { return sd * math.Sqrt((n-1)/chi.Quantile(q)) }
	return contest.FigureOf(sd, stats.Interval{Low: at(0.975), High: at(0.025)}, len(ratios))
}

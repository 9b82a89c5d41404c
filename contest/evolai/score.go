package evolai

import (
	"cmp"
	"math"

	"github.com/trajectory-arena/arena/contest"
)

// The parameters of scores, from the subnet's README of May 2026.
const (
	thinkFloor   = 0.30 // part of the quality that a model has without any gain by thinking
	thinkShare   = 0.70
	weightOwn    = 0.60 // weight of the quality in the score
	weightFlow   = 0.30 // weight of flow times quality
	weightQuests = 0.10
	fullSize     = 1.8 // billions of parameters with a bonus of 1
)

// Miner is a miner's model in a round.
type Miner struct {
	UID   int    `yaml:"uid" json:"uid"`
	Track string `yaml:"track" json:"track"`
	// Billions is the number of parameters in billions.
	Billions float64 `yaml:"params_b" json:"params_b"`
	// Revision is the revision that was locked before the round's seed was known.
	Revision string `yaml:"revision" json:"revision"`
}

// Measured is what one round measured of a miner's model.
type Measured struct {
	Miner
	// KLCurrent and KLNext are the KL on the rows of the current and the next set. PreviousKL is
	// the KL of the previous round's revision on the current rows, nil if there is none.
	KLCurrent        float64  `json:"kl_current"`
	KLNext           float64  `json:"kl_next"`
	PreviousKL       *float64 `json:"previous_kl"`
	PreviousRevision string   `json:"previous_revision,omitempty"`
	// Thinking and Base are the mean log-probabilities of the reference's tokens: after the
	// model's own thinking, and after an empty thinking.
	Thinking float64 `json:"thinking"`
	Base     float64 `json:"base"`
	// Solved is the share of the side quests that the model solved.
	Solved float64 `json:"solved"`
}

// Averages are the moving averages of a miner's measured values. The averages of KL include the
// bonus for the model's size.
type Averages struct {
	Current  float64 `json:"current"`
	Next     float64 `json:"next"`
	Thinking float64 `json:"thinking"`
	Base     float64 `json:"base"`
	Solved   float64 `json:"solved"`
}

// Scored is a miner's score with all its parts.
type Scored struct {
	Measured
	// Bonus is the factor by which the KL is multiplied for the size of the model.
	Bonus    float64  `json:"bonus"`
	Averages Averages `json:"averages"`
	// Absolute is exp(-Averages.Current), as in the subnet's older code. How the newest version
	// turns a KL into a score is not published.
	Absolute  float64 `json:"absolute"`
	ThinkGain float64 `json:"think_gain"`
	// Flow is how steadily the average KL falls (see Flow), 0 for fewer than ten rounds.
	Flow float64 `json:"flow"`
	// Improve is the result of the improvement gate. Consistent is the result of the consistency
	// gate.
	Improve    string         `json:"improve"`
	Consistent bool           `json:"consistent"`
	Quality    float64        `json:"quality"`
	Score      float64        `json:"score"`
	Weight     contest.Number `json:"weight"`
}

// Score computes the scores of the models of a round. history has the scored models of all previous
// rounds, the oldest round first.
func Score(measured []Measured, history [][]Scored) []Scored {
	out := make([]Scored, len(measured))
	for i := range measured {
		out[i] = score(&measured[i], past(measured[i].UID, history))
	}
	setWeights(out)
	return out
}

// past returns one miner's result in each previous round that has one, the oldest first.
func past(uid int, history [][]Scored) []Scored {
	var out []Scored
	for _, round := range history {
		for _, s := range round {
			if s.UID == uid {
				out = append(out, s)
			}
		}
	}
	return out
}

func score(m *Measured, past []Scored) Scored {
	s := Scored{
		Measured: *m,
		Bonus:    math.Sqrt(m.Billions / fullSize),
	}
	current := float64(s.Bonus * m.KLCurrent)
	next := float64(s.Bonus * m.KLNext)
	s.Averages = Averages{current, next, m.Thinking, m.Base, m.Solved}
	if n := len(past); n > 0 {
		before := past[n-1].Averages
		s.Averages = Averages{
			Current:  Average(before.Current, current),
			Next:     Average(before.Next, next),
			Thinking: Average(before.Thinking, m.Thinking),
			Base:     Average(before.Base, m.Base),
			Solved:   Average(before.Solved, m.Solved),
		}
	}
	s.Absolute = math.Exp(-s.Averages.Current)
	s.ThinkGain = max(0, math.Tanh(s.Averages.Thinking-s.Averages.Base))
	s.setFlow(past)
	gate := Decide(&Line{
		KLCurrent:        &m.KLCurrent,
		Previous:         m.PreviousKL,
		Revision:         m.Revision,
		PreviousRevision: m.PreviousRevision,
		EMACurrent:       &s.Averages.Current,
		EMANext:          &s.Averages.Next,
	})
	s.Improve = gate.Improve
	s.Consistent = gate.Consistent
	if gate.Gate == "PASS" {
		s.Quality = s.Absolute * (thinkFloor + float64(thinkShare*s.ThinkGain))
	}
	s.Score = float64(weightOwn*s.Quality) + float64(weightFlow*s.Flow*s.Quality) + float64(weightQuests*s.Averages.Solved)
	return s
}

// setFlow sets s.Flow to the flow of a model: how steadily its average KL on the current set of
// rows fell over the past rounds and this one. It does nothing for fewer than flowRounds rounds.
func (s *Scored) setFlow(past []Scored) {
	averages := make([]float64, 0, len(past)+1)
	for i := range past {
		averages = append(averages, past[i].Averages.Current)
	}
	averages = append(averages, s.Averages.Current)
	if len(averages) >= flowRounds {
		s.Flow = Flow(averages)
	}
}

// setWeights sets the weights by which miners are paid. Each track (a category of models with a
// ranking of its own) that has a score above 0 gets an equal share, which is divided among its
// models in proportion to the squares of their scores. All weights are 0 if no score is above 0.
func setWeights(scored []Scored) {
	totals := map[string]float64{}
	for i := range scored {
		if s := &scored[i]; s.Score > 0 {
			totals[s.Track] += s.Score * s.Score
		}
	}
	for i := range scored {
		s := &scored[i]
		share := float64(len(totals)) * cmp.Or(totals[s.Track], 1)
		if totals[s.Track] > 0 {
			s.Weight = contest.Number(s.Score * s.Score / share)
		}
	}
}

package evolai

import (
	"math"
	"testing"
)

// TestScoreByHand scores a round of four miners of two tracks, each with parts that are easy to
// compute by hand.
func TestScoreByHand(t *testing.T) {
	t.Parallel()
	previous := 0.5
	full := Measured{
		Miner:     Miner{UID: 1, Track: "transformer", Billions: 1.8, Revision: "b"},
		KLCurrent: 0.4, KLNext: 0.44, PreviousKL: &previous, PreviousRevision: "a",
		Thinking: -1, Base: -2, Solved: 0.5,
	}
	small := full
	small.UID = 2
	small.Billions = 0.45
	repeated := full
	repeated.UID = 3
	repeated.PreviousRevision = "b"
	uneven := full
	uneven.UID = 4
	uneven.Track = "mamba2"
	uneven.KLNext = 0.5
	out := Score([]Measured{full, small, repeated, uneven}, nil)
	gain := math.Tanh(1)
	want := []struct {
		bonus, quality float64
		improve        string
		consistent     bool
	}{
		{1, math.Exp(-0.4) * (0.3 + 0.7*gain), "improved", true},
		{0.5, math.Exp(-0.2) * (0.3 + 0.7*gain), "improved", true},
		{1, 0, "same_revision", true},
		{1, 0, "improved", false},
	}
	squares := 0.0
	for i, w := range want {
		s := out[i]
		score := 0.6*w.quality + 0.05
		if math.Abs(s.Bonus-w.bonus) > 1e-12 || math.Abs(s.Quality-w.quality) > 1e-12 || s.Improve != w.improve || s.Consistent != w.consistent || math.Abs(s.Score-score) > 1e-12 {
			t.Errorf("miner %d: %+v, want %+v", s.UID, s, w)
		}
		if i < 3 {
			squares += score * score
		}
	}
	for i, w := range want[:3] {
		score := 0.6*w.quality + 0.05
		if got := float64(out[i].Weight); math.Abs(got-score*score/squares/2) > 1e-12 {
			t.Errorf("weight of %d is %v", out[i].UID, got)
		}
	}
	if out[3].Weight != 0.5 {
		t.Errorf("the only miner of a track has %v", out[3].Weight)
	}
}

// TestScoreOverRounds scores twelve rounds in which the KL falls: the flow begins with the tenth.
func TestScoreOverRounds(t *testing.T) {
	t.Parallel()
	var history [][]Scored
	average := 0.0
	for i := range 12 {
		previous := 1 - 0.05*float64(i-1)
		m := Measured{
			Miner:      Miner{UID: 1, Track: "t", Billions: 1.8, Revision: string(rune('a' + i))},
			KLCurrent:  1 - 0.05*float64(i),
			KLNext:     1 - 0.05*float64(i),
			PreviousKL: &previous, PreviousRevision: "z",
		}
		average = m.KLCurrent
		if i > 0 {
			average = 0.1*m.KLCurrent + 0.9*history[i-1][0].Averages.Current
		}
		out := Score([]Measured{m}, history)
		s := out[0]
		if math.Abs(s.Averages.Current-average) > 1e-12 || (s.Flow > 0) != (i >= 9) || s.Score != 0.6*s.Quality+0.3*s.Flow*s.Quality {
			t.Errorf("round %d: %+v", i, s)
		}
		history = append(history, out)
	}
	if none := Score([]Measured{{Miner: Miner{UID: 7, Track: "t", Billions: 1}}}, history); none[0].Score != 0 || none[0].Weight != 0 {
		t.Errorf("%+v", none)
	}
}

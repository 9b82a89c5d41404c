package sample

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/trajectory-arena/arena/internal/dice"
	"github.com/trajectory-arena/arena/internal/longtest"
)

// day returns a day of attempts for which the instruments are wrong in some cases, and the true
// answers.
func day(d *dice.Dice, n int) ([]Item, map[string]Answer) {
	items := make([]Item, n)
	truth := map[string]Answer{}
	for i := range items {
		agentic := d.Share() < 0.45
		grade := []float64{0.1, 0.3, 0.5, 0.7, 0.9}[d.N(5)]
		leak := d.Share() < 0.1
		noisy := grade
		if d.Share() < 0.12 {
			noisy = []float64{0.1, 0.3, 0.5, 0.7, 0.9}[d.N(5)]
		}
		drop := leak != (d.Share() < 0.08)
		items[i] = Item{Run: fmt.Sprint("r", i%40), Problem: fmt.Sprint("p", i), Axis: axis(d, agentic), Score: &noisy, Leak: &drop}
		truth[items[i].ID()] = Answer{Agentic: &agentic, Score: &grade, Leak: &leak}
	}
	return items, truth
}

func axis(d *dice.Dice, agentic bool) string {
	switch roll := d.Share(); {
	case roll < 0.05:
		return "unknown"
	case agentic != (roll < 0.13):
		return "agentic"
	}
	return "scripted"
}

// TestIntervalsCoverTheDaysOwnShares takes samples of 200 from one day and counts the intervals
// that contain the share of all labels together.
func TestIntervalsCoverTheDaysOwnShares(t *testing.T) {
	t.Parallel()
	items, truth := day(dice.New(7), 2400)
	shuffled := slices.Clone(items)
	for i := range shuffled {
		shuffled[i].Probability = 1
	}
	real := Figures(shuffled, truth)
	covered := make([]int, len(real))
	// With fewer samples the bounds allow three standard errors.
	samples := longtest.Pick(2000, 150)
	tolerance := longtest.Pick(0.015, 0.053)
	for seed := range samples {
		for i, f := range Figures(Draw(items, 200, uint64(seed)), truth) {
			if f.Low <= *real[i].Share && *real[i].Share <= f.High {
				covered[i]++
			}
		}
	}
	for i, f := range real {
		share := float64(covered[i]) / float64(samples)
		t.Logf("%s, %s: %.3f on the day, covered in %.4f", f.Instrument, f.Measure, *f.Share, share)
		if math.Abs(share-0.95) > tolerance {
			t.Errorf("%s, %s: %.3f on the day, covered in %.4f of %d samples", f.Instrument, f.Measure, *f.Share, share, samples)
		}
	}
}

func TestProbabilitiesAddUpToTheDay(t *testing.T) {
	t.Parallel()
	items, _ := day(dice.New(3), 999)
	sample := Draw(items, 150, 1)
	sum := 0.0
	for _, it := range sample {
		sum += 1 / it.Probability
	}
	if len(sample) != 150 || math.Abs(sum-999) > 1e-6 {
		t.Errorf("%d sampled, with weights of %v, want 999", len(sample), sum)
	}
	slices.Reverse(items)
	for i, it := range Draw(items, 150, 1) {
		if it.ID() != sample[i].ID() {
			t.Fatalf("another order of attempts has another sample: %d is %s, was %s", i, it.ID(), sample[i].ID())
		}
	}
	if few := Draw([]Item{{Run: "a"}, {Run: "b"}, {Run: "c"}}, 1, 1); len(few) != minPerStratum {
		t.Errorf("%d sampled of one stratum", len(few))
	}
	if few := Draw(items[:5], 200, 1); len(few) != 5 {
		t.Errorf("%d sampled of 5", len(few))
	}
}

// FuzzFiguresAreShares computes figures from any content of a sample's file and of the labels.
func FuzzFiguresAreShares(f *testing.F) {
	f.Add(`{"axis":"agentic","score":0.5,"leak":false,"probability":0.25}`, `{"agentic":true,"score":0.7,"leak":true}`)
	f.Add(`{"axis":"scripted","score":null,"leak":null,"probability":1}`, `{"score":1e308}`)
	f.Add(`{"axis":"agentic","probability":-1}`, `{"agentic":true}`)
	f.Fuzz(func(t *testing.T, item, label string) {
		var it Item
		var a Answer
		if json.Unmarshal([]byte(item), &it) != nil || json.Unmarshal([]byte(label), &a) != nil || it.Probability < MinProbability || it.Probability > 1 {
			return
		}
		other := Item{Run: "other", Axis: "agentic", Probability: 0.5}
		for _, figure := range Figures([]Item{it, other}, map[string]Answer{it.ID(): a, other.ID(): a}) {
			isShare := true
			if s := figure.Share; s != nil {
				isShare = *s >= 0 && *s <= 1
			}
			if !isShare || math.IsNaN(figure.Low) || math.IsNaN(figure.High) {
				t.Errorf("%+v", figure)
			}
		}
	})
}

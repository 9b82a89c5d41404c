package probe

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/stats"
)

// Shift is the change of one attempt's score by one probe.
type Shift struct {
	Probe   string
	Judge   string
	Problem string
	// Scored is false if one of the two judgements has no score.
	Scored bool
	// By is the score of the changed attempt minus the score of the unchanged one.
	By float64
}

// Measure returns the shift of an attempt's score by each probe.
func Measure(
	ctx context.Context,
	judge Judge,
	t *arena.Trace,
	d *arena.Dialogue,
) ([]Shift, error) {
	base, err := judge(ctx, t, d)
	if err != nil {
		return nil, err
	}
	return MeasureFrom(ctx, judge, &base, t, d)
}

// IsSampled reports whether an attempt is in the sample of one in every attempts. It depends on
// a hash of the id only, so that the sample is the same for any order and division of the work.
// It returns false if every is 0.
func IsSampled(id string, every int) bool {
	sum := sha256.Sum256([]byte(id))
	return every > 0 && binary.BigEndian.Uint64(sum[:])%uint64(every) == 0
}

// MeasureFrom returns the shift of an attempt's score by each probe. base is the judgement of
// the unchanged attempt.
func MeasureFrom(
	ctx context.Context,
	judge Judge,
	base *arena.Judgement,
	t *arena.Trace,
	d *arena.Dialogue,
) ([]Shift, error) {
	probes := All()
	shifts := make([]Shift, 0, len(probes))
	for _, p := range probes {
		changed, err := judge(ctx, t, p.Apply(d))
		if err != nil {
			return nil, err
		}
		s := Shift{
			Probe:   p.Name,
			Judge:   base.Judge,
			Problem: t.ProblemID,
		}
		if base.Score != nil && changed.Score != nil {
			s.Scored = true
			s.By = math.Round((*changed.Score-*base.Score)*10) / 10 // scores are tenths
		}
		shifts = append(shifts, s)
	}
	return shifts, nil
}

// Summary is the result of one probe over many attempts.
type Summary struct {
	Probe string `json:"probe"`
	Judge string `json:"judge"`
	// N is the number of attempts that were scored with and without the change. Unscored is the
	// number of all others.
	N        int `json:"n"`
	Unscored int `json:"unscored"`
	Raised   int `json:"raised"`
	Lowered  int `json:"lowered"`
	// RaisedWilson95 is the 95 % interval of the share of raised attempts. It treats attempts as
	// independent.
	RaisedWilson95 [2]float64 `json:"raised_wilson95"`
	// MeanShift is the mean change of the score. CI95 is its 95 % interval, from the standard
	// error clustered by problem. It is nil if there is a single problem.
	MeanShift float64     `json:"mean_shift"`
	CI95      *[2]float64 `json:"ci95"`
}

// Summarise returns the summary of the shifts by one probe. All counts are 0 if there are none.
func Summarise(probe string, shifts []Shift) Summary {
	s := Summary{Probe: probe, RaisedWilson95: [2]float64{0, 1}}
	for _, x := range shifts {
		s.Judge = x.Judge
		if !x.Scored {
			s.Unscored++
			continue
		}
		if x.By > 0 {
			s.Raised++
		} else if x.By < 0 {
			s.Lowered++
		}
		s.N++
		s.MeanShift += x.By
	}
	if s.N == 0 {
		return s
	}
	s.MeanShift /= float64(s.N)
	raised := stats.Wilson(s.Raised, s.N)
	s.RaisedWilson95 = [2]float64{raised.Low, raised.High}
	s.CI95 = clusteredInterval(shifts)
	return s
}

// clusteredInterval returns the 95 % interval of the mean change of a judge's score when attempts
// are edited in a certain way. Attempts at one problem are not independent, so the standard error
// is computed over problems. It returns nil if all attempts are at one problem.
func clusteredInterval(shifts []Shift) *[2]float64 {
	sumOf := map[string]float64{}
	countOf := map[string]float64{}
	for _, x := range shifts {
		if x.Scored {
			sumOf[x.Problem] += x.By
			countOf[x.Problem]++
		}
	}
	var sums, counts []float64
	for _, problem := range slicesx.SortedKeys(countOf) { // a sum of floats depends on its order
		sums = append(sums, sumOf[problem])
		counts = append(counts, countOf[problem])
	}
	mean, se := stats.Ratio(sums, counts)
	if math.IsNaN(se) {
		return nil
	}
	half := float64(stats.Z95 * se)
	return &[2]float64{mean - half, mean + half}
}

// MaxLift is the maximum share of attempts that a probe may raise. If the share is larger with a
// confidence of 95 %, the judge counts as one that a probe can raise.
const MaxLift = 0.05

// LiftWarning returns a text about the probes that raise more than MaxLift of the attempts, the
// worst first. It returns "" if no probe certainly does.
func LiftWarning(summaries []Summary) string {
	worst := slices.DeleteFunc(slices.Clone(summaries), func(s Summary) bool {
		return s.RaisedWilson95[0] <= MaxLift
	})
	if len(worst) == 0 {
		return ""
	}
	slicesx.SortStableFunc(worst, func(a, b Summary) int {
		return cmp.Compare(b.RaisedWilson95[0], a.RaisedWilson95[0])
	})
	lifts := make([]string, len(worst))
	for i, s := range worst {
		low := 100 * s.RaisedWilson95[0]
		high := 100 * s.RaisedWilson95[1]
		lifts[i] = fmt.Sprintf(
			"%s raises %d of %d attempts (%.0f %% to %.0f %%)",
			s.Probe,
			s.Raised,
			s.N,
			low,
			high,
		)
	}
	const format = "judge %s can be lifted by more than %.0f %%: %s"
	return fmt.Sprintf(
		format,
		worst[0].Judge,
		100*MaxLift,
		strings.Join(lifts, "; "),
	)
}

// ReadSummaries parses one summary per line of JSON. It returns an error if a line is not a
// summary of a known probe, or if there are no lines.
func ReadSummaries(text []byte) ([]Summary, error) {
	var summaries []Summary
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		var s Summary
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&s); err != nil {
			return nil, fmt.Errorf("line %d: %w", len(summaries)+1, err)
		}
		isProbe := slices.ContainsFunc(All(), func(p Probe) bool {
			return p.Name == s.Probe
		})
		if !isProbe || s.N < 0 {
			return nil, fmt.Errorf("line %d: no summary of a probe", len(summaries)+1)
		}
		summaries = append(summaries, s)
	}
	if len(summaries) == 0 {
		return nil, errors.New("no line")
	}
	return summaries, nil
}

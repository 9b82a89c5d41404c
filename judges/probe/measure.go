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
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/stats"
)

// Shift is how far one probe moved one attempt's score.
type Shift struct {
	Probe   string
	Judge   string
	Problem string
	// Scored is false where one of both judgements has no score.
	Scored bool
	// By is the score with the change minus the score without.
	By float64
}

// Measure judges an attempt as it is and under every probe.
func Measure(ctx context.Context, judge Judge, t *arena.Trace, d *arena.Dialogue) ([]Shift, error) {
	base, err := judge(ctx, t, d)
	if err != nil {
		return nil, err
	}
	return Against(ctx, judge, &base, t, d)
}

// Drawn reports whether an attempt is in the sample of one in every attempts. A
// hash of its id decides, so that any order and any division of the work draws
// the same; every 0 draws none.
func Drawn(id string, every int) bool {
	sum := sha256.Sum256([]byte(id))
	return every > 0 && binary.BigEndian.Uint64(sum[:])%uint64(every) == 0
}

// Against judges an attempt under every probe and compares with base, what the
// judge said of it as it is.
func Against(ctx context.Context, judge Judge, base *arena.Judgement, t *arena.Trace, d *arena.Dialogue) ([]Shift, error) {
	out := make([]Shift, 0, len(All()))
	for _, p := range All() {
		changed, err := judge(ctx, t, p.Apply(d))
		if err != nil {
			return nil, err
		}
		s := Shift{Probe: p.Name, Judge: base.Judge, Problem: t.ProblemID}
		if base.Score != nil && changed.Score != nil {
			// Scores are tenths: rounding keeps a difference from being 0.19999.
			s.Scored, s.By = true, math.Round((*changed.Score-*base.Score)*10)/10
		}
		out = append(out, s)
	}
	return out, nil
}

// Summary is what one probe showed over many attempts.
type Summary struct {
	Probe string `json:"probe"`
	Judge string `json:"judge"`
	// N counts attempts scored with and without the change, Unscored the rest.
	N        int `json:"n"`
	Unscored int `json:"unscored"`
	Raised   int `json:"raised"`
	Lowered  int `json:"lowered"`
	// RaisedWilson95 is the interval of the share raised, as if attempts were
	// independent.
	RaisedWilson95 [2]float64 `json:"raised_wilson95"`
	// MeanShift is the mean change of the score, CI95 its interval from the
	// standard error clustered by problem. With a single problem there is none.
	MeanShift float64     `json:"mean_shift"`
	CI95      *[2]float64 `json:"ci95"`
}

// Summarise sums up one probe's shifts. It is all zeros without any.
func Summarise(probe string, shifts []Shift) Summary {
	s := Summary{Probe: probe, RaisedWilson95: [2]float64{0, 1}}
	for _, x := range shifts {
		s.Judge = x.Judge
		switch {
		case !x.Scored:
			s.Unscored++
			continue
		case x.By > 0:
			s.Raised++
		case x.By < 0:
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
	s.CI95 = clustered(shifts)
	return s
}

// clustered is the interval of a mean whose values depend on each other within
// a problem; nil for a single problem.
func clustered(shifts []Shift) *[2]float64 {
	by, of := map[string]float64{}, map[string]float64{}
	for _, x := range shifts {
		if x.Scored {
			by[x.Problem] += x.By
			of[x.Problem]++
		}
	}
	var sums, counts []float64
	for _, problem := range slices.Sorted(maps.Keys(of)) { // a sum of floats depends on its order
		sums, counts = append(sums, by[problem]), append(counts, of[problem])
	}
	mean, se := stats.Ratio(sums, counts)
	if math.IsNaN(se) {
		return nil
	}
	half := float64(stats.Z95 * se)
	return &[2]float64{mean - half, mean + half}
}

// MaxLift is the share of attempts that a probe may raise before the judge is
// told of as one that can be lifted: one in twenty, as surely as 95 % of draws.
const MaxLift = 0.05

// Lifted says which probes raise more than MaxLift of the attempts, the worst
// first; empty where none surely does.
func Lifted(all []Summary) string {
	over := slices.DeleteFunc(slices.Clone(all), func(s Summary) bool { return s.RaisedWilson95[0] <= MaxLift })
	slices.SortStableFunc(over, func(a, b Summary) int { return cmp.Compare(b.RaisedWilson95[0], a.RaisedWilson95[0]) })
	if len(over) == 0 {
		return ""
	}
	found := make([]string, len(over))
	for i, s := range over {
		found[i] = fmt.Sprintf("%s raises %d of %d attempts (%.0f %% to %.0f %%)", s.Probe, s.Raised, s.N, 100*s.RaisedWilson95[0], 100*s.RaisedWilson95[1])
	}
	return fmt.Sprintf("judge %s can be lifted by more than %.0f %%: %s", over[0].Judge, 100*MaxLift, strings.Join(found, "; "))
}

// ReadSummaries reads lines of JSON, one summary each, as they were encoded. A
// line that is no summary of a known probe is an error, and so is no line.
func ReadSummaries(text []byte) ([]Summary, error) {
	var all []Summary
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		var s Summary
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&s); err != nil {
			return nil, fmt.Errorf("line %d: %w", len(all)+1, err)
		}
		if !slices.ContainsFunc(All(), func(p Probe) bool { return p.Name == s.Probe }) || s.N < 0 {
			return nil, fmt.Errorf("line %d: no summary of a probe", len(all)+1)
		}
		all = append(all, s)
	}
	if len(all) == 0 {
		return nil, errors.New("no line")
	}
	return all, nil
}

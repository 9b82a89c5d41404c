// Package contest recomputes what subnets that run contests publish, from their
// files: distillation by lowest KL (package distil), locked rounds with gates
// (evolai), and the consensus that pays all of them (yuma). It runs no validator.
// What several of them need stands here.
package contest

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/trajectory-arena/arena/internal/stats"
)

// Figure is a mean with its 95 % interval and what it was taken over. JSON has
// null where a number is not finite.
type Figure struct {
	Value Number `json:"value" parquet:"value"`
	Low   Number `json:"low" parquet:"low"`
	High  Number `json:"high" parquet:"high"`
	N     int    `json:"n" parquet:"n"`
}

// FigureOf is a value with its interval, taken over n.
func FigureOf(value float64, i stats.Interval, n int) Figure {
	return Figure{Number(value), Number(i.Low), Number(i.High), n}
}

// MeanOf is the mean of values with Student's interval.
func MeanOf(values []float64) Figure {
	mean := stats.Mean(values)
	return FigureOf(mean, stats.T95(mean, stats.ClusteredSE(values), len(values)), len(values))
}

// Share is a rate of n with Wilson's interval.
func Share(count, n int) Figure {
	return FigureOf(float64(count)/float64(n), stats.Wilson(count, n), n)
}

// String is the figure with its interval.
func (f Figure) String() string {
	return fmt.Sprintf("%.6g (95 %% %.4g to %.4g, n %d)", float64(f.Value), float64(f.Low), float64(f.High), f.N)
}

// Number is a float64 whose JSON is a string where it is infinite and null where
// it is not a number.
type Number float64

// MarshalJSON is json.Marshaler.
func (n Number) MarshalJSON() ([]byte, error) {
	switch f := float64(n); {
	case math.IsNaN(f):
		return []byte("null"), nil
	case math.IsInf(f, 1):
		return []byte(`"Infinity"`), nil
	case math.IsInf(f, -1):
		return []byte(`"-Infinity"`), nil
	default:
		return json.Marshal(f)
	}
}

// Network holds that all lines of an input are of one network: what a test
// network decided says nothing of the main one.
type Network struct {
	name string
	seen bool
}

// Add is an error where a line names another network than those before it, or
// none where they do.
func (n *Network) Add(name string) error {
	if n.seen && n.name != name {
		return fmt.Errorf("networks %q and %q in one input: give one at a time", n.name, name)
	}
	n.name, n.seen = name, true
	return nil
}

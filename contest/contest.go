// Package contest has the types that its subpackages share. They recompute, from published
// files, what subnets with contests publish: distillation by lowest KL (package distil), rounds
// in which models are locked before they are evaluated (evolai), and the consensus that pays
// miners (yuma). They do not run a validator.
package contest

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/trajectory-arena/arena/internal/stats"
)

// Figure is a statistic with its 95 % interval and its sample size. See Number for values in
// JSON that are not finite.
type Figure struct {
	Value Number `json:"value" parquet:"value"`
	Low   Number `json:"low" parquet:"low"`
	High  Number `json:"high" parquet:"high"`
	N     int    `json:"n" parquet:"n"`
}

// NewFigure returns the statistic value with its interval over n observations.
func NewFigure(value float64, i stats.Interval, n int) Figure {
	return Figure{Number(value), Number(i.Low), Number(i.High), n}
}

// Mean computes the mean of values with its 95 % interval by Student's t.
func Mean(values []float64) Figure {
	mean := stats.Mean(values)
	interval := stats.T95(mean, stats.ClusteredSE(values), len(values))
	return NewFigure(mean, interval, len(values))
}

// Rate computes the share count/n with its 95 % interval by Wilson.
func Rate(count, n int) Figure {
	return NewFigure(float64(count)/float64(n), stats.Wilson(count, n), n)
}

// String returns the value with its interval, if it has one, and its sample size, or that nothing
// was measured.
func (f Figure) String() string {
	if f.N == 0 {
		return "not measured"
	}
	if math.IsNaN(float64(f.Low)) {
		return fmt.Sprintf("%.6g (no interval, n %d)", f.Value, f.N)
	}
	return fmt.Sprintf("%.6g (95 %% %.4g to %.4g, n %d)", f.Value, f.Low, f.High, f.N)
}

// Number is a float64. In JSON, an infinite Number is a string and NaN is null.
type Number float64

// MarshalJSON returns the number as JSON. It implements json.Marshaler.
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

// Network checks that all lines of an input are of the same network, since results of a test
// network do not count on the main one. The zero value is ready to use.
type Network struct {
	name string
	seen bool
}

// Add records the network of a line. It returns an error if an earlier line has another network.
func (n *Network) Add(name string) error {
	if n.seen && n.name != name {
		return fmt.Errorf("networks %q and %q in one input: give one at a time", n.name, name)
	}
	n.name = name
	n.seen = true
	return nil
}

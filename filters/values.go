package filters

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters/evidence"
)

// valuesPerVerdict is the number of floats in which one verdict of the filter is stored in memory:
// its value, its limit, and 1 if it rejects the attempt or 0 if not.
const valuesPerVerdict = 3

// EncodeValues encodes the values of an attempt's first-pass verdicts and features. It omits
// their names, which are equal for all attempts. DecodeValues decodes them.
func EncodeValues(s *arena.Structure) []byte {
	values := make([]float64, 0, valuesPerVerdict*len(s.Verdicts)+len(s.Features))
	for i := range s.Verdicts {
		v := &s.Verdicts[i]
		drops := 0.0
		if v.Decision == arena.Drop {
			drops = 1
		}
		values = append(values, v.Value, v.Limit, drops)
	}
	for _, f := range s.Features {
		values = append(values, f.Value)
	}
	b, _ := binary.Append(nil, binary.LittleEndian, values) // cannot fail for fixed-size values
	return b
}

// DecodeValues sets the verdicts and features of s to the values that EncodeValues encoded. It
// changes nothing if encoded is empty.
func DecodeValues(s *arena.Structure, encoded []byte) error {
	values := make([]float64, len(encoded)/8)
	if len(values) == 0 {
		return nil
	}
	verdicts := valuesPerVerdict * len(attemptChecks)
	if len(values) != verdicts+len(emptyFeatures()) {
		return errors.New("these are not the numbers of a structure")
	}
	_, _ = binary.Decode(encoded, binary.LittleEndian, values) // cannot fail: the sizes are equal

	s.Verdicts = make([]arena.Verdict, len(attemptChecks))
	for i := range attemptChecks {
		c := &attemptChecks[i]
		v := values[valuesPerVerdict*i:]
		s.Verdicts[i] = newVerdict(
			c.Name,
			c.Reason,
			v[0],
			v[1],
			v[2] == 1,
		)
	}
	s.Features = slices.Clone(emptyFeatures())
	for i, v := range values[verdicts:] {
		s.Features[i].Value = v
	}
	return nil
}

// ValueNames returns the names of the values that EncodeValues encodes, in order. Stored values
// can be decoded only by a program with the same names.
func ValueNames() string {
	var b strings.Builder
	for i := range attemptChecks {
		b.WriteString(attemptChecks[i].Name + " " + attemptChecks[i].Reason + "\n")
	}
	for _, f := range emptyFeatures() {
		b.WriteString(f.Name + "\n")
	}
	return b.String()
}

// emptyFeatures returns the features (the numbers that describe an attempt) of an attempt without
// content. Their names and order are those for every attempt, so that only values need to be
// stored.
var emptyFeatures = sync.OnceValue(func() []arena.Feature {
	a := evidence.Examine(&arena.Trace{}, &arena.Dialogue{}, nil)
	defer a.Release()
	return features(a, 0, math.NaN())
})

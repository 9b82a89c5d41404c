package filters

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters/evidence"
)

// EncodeValues are an attempt's own verdicts and features without their names, which are the
// same for all: value, limit and rejection of each verdict, then each feature. Named
// gives them back.
func EncodeValues(s *arena.Structure) []byte {
	all := make([]float64, 0, 3*len(s.Verdicts)+len(s.Features))
	for i := range s.Verdicts {
		v := &s.Verdicts[i]
		all = append(all, v.Value, v.Limit, evidence.Flag(v.Decision == arena.Drop))
	}
	for _, f := range s.Features {
		all = append(all, f.Value)
	}
	b, _ := binary.Append(nil, binary.LittleEndian, all) // its size is fixed
	return b
}

// DecodeValues gives s the verdicts and features that have these Numbers; none for none.
func DecodeValues(s *arena.Structure, numbers []byte) error {
	all := make([]float64, len(numbers)/8)
	if len(all) == 0 {
		return nil
	}
	if len(all) != 3*len(own)+len(unmeasured()) {
		return errors.New("these are not the numbers of a structure")
	}
	_, _ = binary.Decode(numbers, binary.LittleEndian, all) // they are as many
	s.Verdicts, s.Features = make([]arena.Verdict, len(own)), slices.Clone(unmeasured())
	for i := range own {
		s.Verdicts[i] = verdict(own[i].Name, own[i].Reason, all[3*i], all[3*i+1], all[3*i+2] == 1)
	}
	for i, v := range all[3*len(own):] {
		s.Features[i].Value = v
	}
	return nil
}

// ValueNames says which numbers they are, in their order.
func ValueNames() string {
	var b strings.Builder
	for i := range own {
		b.WriteString(own[i].Name + " " + own[i].Reason + "\n")
	}
	for _, f := range unmeasured() {
		b.WriteString(f.Name + "\n")
	}
	return b.String()
}

// unmeasured are the features of an attempt of which there is nothing.
var unmeasured = sync.OnceValue(func() []arena.Feature {
	a := evidence.Examine(&arena.Trace{}, &arena.Dialogue{}, nil)
	defer a.Pad.Release()
	return features(a, 0)
})

package yuma

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// Series computes the results of epochs in order. An epoch continues with the bonds of the
// previous epoch if their ids differ only in their final number (name-1, name-2).
func Series(epochs []*Epoch, r Rules) []*Result {
	results := make([]*Result, len(epochs))
	for i, e := range epochs {
		var bonds Bonds
		if i > 0 && seriesName(e.ID) != "" && seriesName(e.ID) == seriesName(epochs[i-1].ID) {
			bonds = results[i-1].Bonds
		}
		results[i] = Compute(e, r, bonds)
	}
	return results
}

// seriesName returns an epoch's id without its final number and the hyphen before it: "sn97-12" →
// "sn97". It returns "" if the id does not end in a number.
func seriesName(id string) string {
	i := strings.LastIndexByte(id, '-')
	if _, err := strconv.Atoi(id[i+1:]); err != nil || i < 0 {
		return ""
	}
	return id[:i]
}

// Change is a replacement of all weights of one validator.
type Change struct {
	Validator int
	Row       []Weight
}

// ParseChange parses a change such as "3:7=1,5=0.5", by which validator 3 sets weight 1 for node
// 7 and weight 0.5 for node 5. "3:" removes all weights of the validator.
func ParseChange(text string) (c Change, err error) {
	validator, row, ok := strings.Cut(text, ":")
	if c.Validator, err = strconv.Atoi(validator); err != nil || !ok {
		return c, fmt.Errorf("%q: a change is VALIDATOR:UID=WEIGHT,…", text)
	}
	for pair := range strings.FieldsFuncSeq(row, func(r rune) bool { return r == ',' }) {
		var w Weight
		var extra string
		if n, _ := fmt.Sscanf(pair, "%d=%g%s", &w.Target, &w.Weight, &extra); n != 2 {
			return c, fmt.Errorf("%q: %q is not UID=WEIGHT", text, pair)
		}
		c.Row = append(c.Row, w)
	}
	return c, nil
}

// WithChanges returns a copy of the epoch with the changes applied. It returns an error if the
// result is invalid.
func (e *Epoch) WithChanges(changes []Change) (*Epoch, error) {
	changed := *e
	changed.Weights = append([][]Weight(nil), e.Weights...)
	for _, c := range changes {
		if c.Validator < 0 || c.Validator >= len(e.Stake) {
			return nil, fmt.Errorf("no node %d among %d", c.Validator, len(e.Stake))
		}
		changed.Weights[c.Validator] = c.Row
	}
	return &changed, changed.Check()
}

// Largest returns the n nodes with the highest emission, the highest first. It returns all nodes
// if there are fewer.
func (r *Result) Largest(n int) []Node {
	nodes := slices.Clone(r.Nodes)
	slicesx.SortStableFunc(nodes, func(a, b Node) int {
		return cmp.Compare(b.Emission, a.Emission)
	})
	return nodes[:min(n, len(nodes))]
}

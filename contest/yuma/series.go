package yuma

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Series computes epochs one after the other. Bonds carry over where the ids of
// two neighbours differ in their last number alone (name-1, name-2).
func Series(epochs []*Epoch, r Rules) []*Result {
	all := make([]*Result, len(epochs))
	for i, e := range epochs {
		var before Bonds
		if i > 0 && series(e.ID) != "" && series(e.ID) == series(epochs[i-1].ID) {
			before = all[i-1].Bonds
		}
		all[i] = Compute(e, r, before)
	}
	return all
}

// series is what stands before the number at an id's end; empty for none.
func series(id string) string {
	at := strings.LastIndexByte(id, '-')
	if _, err := strconv.Atoi(id[at+1:]); err != nil || at < 0 {
		return ""
	}
	return id[:at]
}

// Change is one validator's row put in place of what it set.
type Change struct {
	Validator int
	Row       []Weight
}

// ParseChange reads "3:7=1,5=0.5": validator 3 gives node 7 weight 1 and node 5
// weight 0.5. "3:" takes all its weights away.
func ParseChange(text string) (c Change, err error) {
	validator, row, found := strings.Cut(text, ":")
	if c.Validator, err = strconv.Atoi(validator); err != nil || !found {
		return c, fmt.Errorf("%q: a change is VALIDATOR:UID=WEIGHT,…", text)
	}
	for pair := range strings.FieldsFuncSeq(row, func(r rune) bool { return r == ',' }) {
		var w Weight
		var rest string
		if n, _ := fmt.Sscanf(pair, "%d=%g%s", &w.To, &w.Weight, &rest); n != 2 {
			return c, fmt.Errorf("%q: %q is not UID=WEIGHT", text, pair)
		}
		c.Row = append(c.Row, w)
	}
	return c, nil
}

// With is the epoch with changes made.
func (e *Epoch) With(changes []Change) (*Epoch, error) {
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

// Largest are the nodes with the most emission, at most most of them.
func (r *Result) Largest(most int) []Node {
	all := slices.Clone(r.Nodes)
	slices.SortStableFunc(all, func(a, b Node) int { return cmp.Compare(b.Emission, a.Emission) })
	return all[:min(most, len(all))]
}

package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/pipeline/block"
)

// Lengths says how long the kept attempts of a split are, each list in
// ascending order: turns of the model, and tokens as rows count them.
type Lengths struct {
	Split  string
	Steps  []int
	Tokens []int
}

// addLengths notes an attempt that was kept.
func (c *reporter) addLengths(x *block.Entry, split string) {
	l, known := c.lengths[split]
	if !known {
		l = &Lengths{Split: split}
		c.lengths[split] = l
	}
	l.Steps, l.Tokens = append(l.Steps, x.Attempt.Steps), append(l.Tokens, x.Body.Tokens)
}

// lengthsReport has the splits in the order that trainers read them.
func (c *reporter) lengthsReport() []Lengths {
	var out []Lengths
	for _, split := range []string{corpus.SplitTrain, corpus.SplitEval} {
		if l := c.lengths[split]; l != nil {
			slices.Sort(l.Steps)
			slices.Sort(l.Tokens)
			out = append(out, *l)
		}
	}
	return out
}

// lengthsText is the card's table, by which a trainer's longest sequence is
// set.
func lengthsText(all []Lengths) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Turns of the model, and tokens of a whole attempt (%s), of config sft:\n\n| split | attempts | turns: half, 9 of 10, all | tokens: half, 9 of 10, all |\n|---|---:|---|---|\n", corpus.Bytes4{}.Name())
	for _, l := range all {
		fmt.Fprintf(&b, "| %s | %d | %s | %s |\n", l.Split, len(l.Steps), upTo(l.Steps), upTo(l.Tokens))
	}
	return b.String()
}

// upTo says how far half, nine in ten and all of sorted values reach.
func upTo(sorted []int) string {
	last := len(sorted) - 1
	return fmt.Sprintf("%d, %d, %d", sorted[last/2], sorted[last*9/10], sorted[last])
}

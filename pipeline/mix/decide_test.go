package mix

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/trajectory-arena/arena/guard/minhash"
	"github.com/trajectory-arena/arena/internal/dice"
	"github.com/trajectory-arena/arena/pipeline/choose"
)

// did is the completion of a row that is like no other.
func did(d *dice.Dice) *minhash.Packed {
	var p minhash.Packed
	for i := range p {
		p[i] = byte(d.N(256))
	}
	return &p
}

func row(number int, agent string, score float64, completion *minhash.Packed) entry {
	e := entry{Row: choose.Row{Agents: []string{agent}, Tokens: 100, Score: score, Completion: completion}}
	e.Key = string(binary.BigEndian.AppendUint64(nil, uint64(number)))
	return e
}

func reasons(entries []entry) []string {
	out := make([]string, len(entries))
	for i, e := range entries {
		out[i] = e.Reason
	}
	return out
}

// TestOneRequestWithVeryManyRows checks that all rows of one request above the cap are dropped.
// Comparing all pairs of these 200,000 rows would take minutes.
func TestOneRequestWithVeryManyRows(t *testing.T) {
	t.Parallel()
	d := dice.New(1)
	entries := make([]entry, 200_000)
	for i := range entries {
		entries[i] = row(i, "a", d.Share(), did(d))
	}
	decide(entries, Defaults(), []float64{1})
	full := 0
	for _, reason := range reasons(entries) {
		if reason == reasonProblem {
			full++
		}
	}
	if full != len(entries)-Defaults().PerProblem {
		t.Errorf("%d of %d rows are over the cap", full, len(entries))
	}
}

// TestDroppedRowsHaveNoDuplicates checks that a row is a duplicate of rows in the mixture only,
// not of removed ones.
func TestDroppedRowsHaveNoDuplicates(t *testing.T) {
	t.Parallel()
	d := dice.New(2)
	packed := did(d)
	entries := []entry{row(1, "busy", 0.9, did(d)), row(2, "busy", 0.8, packed), row(3, "other", 0.7, packed), row(4, "third", 0.6, packed)}
	decide(entries, Config{PerAgent: 1, Near: 0.8}, []float64{1})
	if want := []string{"", choose.ReasonAgent, "", choose.ReasonNear}; !slices.Equal(reasons(entries), want) {
		t.Errorf("reasons %q, want %q", reasons(entries), want)
	}
}

package guard

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/trajectory-arena/arena/internal/longtest"
)

// TestHugeTextTakesLinearTime checks texts on which anything quadratic would
// outlast the test's time limit, or its memory.
func TestHugeTextTakesLinearTime(t *testing.T) {
	t.Parallel()
	g := newTestGuard(t, bankOfTopics())
	size := longtest.Pick(1<<18, 1<<17)
	var numbers strings.Builder
	for i := 1000; numbers.Len() < size; i++ {
		fmt.Fprintf(&numbers, "%d ", i)
	}
	for name, text := range map[string]string{
		"one word": strings.Repeat("a", size), "apostrophes": strings.Repeat("a'b", size/3), "one number": strings.Repeat("1", size),
		"numbers": numbers.String(), "number words": strings.Repeat("zero ", size/5), "Chinese numbers": strings.Repeat("一", size/3),
		"scales": strings.Repeat("hundred ", size/8), "sides": strings.Repeat("1*", size/2) + "1 cm",
		"letters": strings.Repeat("a ", size/2), "spelled": strings.Repeat("r e d ", size/6), "Thai": strings.Repeat("ก", size/3),
	} {
		f := g.Check(Candidate{Text: text + " kettle of copper with 2 liters"})
		if math.IsNaN(f.Score) || !utf8.ValidString(f.Evidence) {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

func TestRotateMovesAllProblemsWithID(t *testing.T) {
	t.Parallel()
	r := &Rotation{}
	bank := entries("a", "bb")
	bank[1].ID = "a"
	bank[1].Bank = "another suite"
	if err := r.Add(t.Context(), bank, move(StageOpen)); err != nil {
		t.Fatal(err)
	}
	if moved, err := r.Rotate([]string{"a"}, move(StageHeldOut)); err != nil || len(moved) != 2 {
		t.Errorf("%d of two problems of one name moved: %v", len(moved), err)
	}
}

// TestEmbeddingSkipsContradictedRequest has two requests of equal cosine, of which
// the text contradicts one by its number.
func TestEmbeddingSkipsContradictedRequest(t *testing.T) {
	t.Parallel()
	bank := []Entry{{ID: "near", Text: "kettle of copper with 2 liters"}, {ID: "other", Text: "kettle of copper with 7 liters"}}
	for _, order := range [][]Entry{bank, {bank[1], bank[0]}} {
		g := newTestGuard(t, order)
		tier := &EmbeddingTier{guard: g, limits: limits{cosine: 0.5, lead: 1}, entries: []int{0, 1}, vectors: [][]float32{{1, 0}, {1, 0}}}
		f := Finding{}
		tier.judge("kettle 2 liters copper", []float32{1, 0}, &f)
		if !f.Drop || f.Match != "near" {
			t.Errorf("bank %s, %s: %+v", order[0].ID, order[1].ID, f)
		}
	}
}

package guard

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	arena "github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/longtest"
)

func alikeProblems(n int) []arena.Problem {
	out := make([]arena.Problem, n)
	for i := range out {
		out[i] = problem(fmt.Sprintf("A red kettle of steel with free shipping, below 900 pesos%s", strings.Repeat(", please", i%50)), fmt.Sprint(500000+i))
	}
	return out
}

// TestSimilarProblemsAreNotComparedPairwise checks that many similar problems are one cluster.
// Comparing all pairs of them would take many minutes.
func TestSimilarProblemsAreNotComparedPairwise(t *testing.T) {
	t.Parallel()
	if clusters := clustered(t, alikeProblems(longtest.Pick(20_000, 10_000))); len(clusters) != 1 {
		t.Errorf("%d clusters", len(clusters))
	}
}

func TestClustersStopsWithContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if c, err := Clusters(ctx, things(3)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v, %v", c, err)
	}
}

func BenchmarkClusters(b *testing.B) {
	for name, problems := range map[string][]arena.Problem{"alike": alikeProblems(4000), "strangers": things(4000), "templated": templated(4000), "templated, 16,000": templated(16000)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				clustered(b, problems)
			}
		})
	}
}

package guard

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/trajectory-arena/arena/internal/model"
)

// embed returns one vector of unit length for each text, in order.
func embed(ctx context.Context, e *model.Embedder, texts []string) ([][]float32, error) {
	vectors, err := e.Embed(ctx, texts)
	if err != nil {
		return nil, fmt.Errorf("embed texts: %w", err)
	}
	for i, v := range vectors {
		length := float32(math.Sqrt(dot(v, v)))
		vectors[i] = slices.Clone(v)
		for j := range v {
			vectors[i][j] /= length
		}
	}
	return vectors, nil
}

func dot(a, b []float32) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

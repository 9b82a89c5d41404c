package student

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/internal/evaluation"
)

// Table is a summary for people, a few lines.
func Table(s *evaluation.Summary) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d problems, %d rollouts, %d scored, %d infra (coverage %.4f)\n", s.Problems, s.Samples, s.Scored, s.InfraErrors, s.Coverage)
	fmt.Fprintf(&b, "success rate  %.4f of all (Wilson 95 %%: %.4f to %.4f; clustered SE %s), %s of scored\n",
		s.ASRAll, s.Wilson95[0], s.Wilson95[1], number(s.SEClustered), number(s.ASRScored))
	for _, k := range slices.Sorted(maps.Keys(s.Pass)) {
		fmt.Fprintf(&b, "%-13s %.4f\n", k, s.Pass[k].Mean)
	}
	for _, c := range slices.Sorted(maps.Keys(s.ByCategory)) {
		p := s.ByCategory[c]
		fmt.Fprintf(&b, "%-13s %s (%d of %d)\n", c, number(p.ASRAll), p.Successes, p.Samples)
	}
	if s.Final != nil {
		fmt.Fprintf(&b, "quality       %.4f (%d of %d judged), final %.4f\n", *s.Quality, s.Judged, s.Scored, *s.Final)
	}
	fmt.Fprintf(&b, "stops         %s\nlabels        %s\n", counts(s.Stops), counts(s.Labels))
	return b.String()
}

func number(x *float64) string {
	if x == nil {
		return "unknown"
	}
	return fmt.Sprintf("%.4f", *x)
}

func counts(m map[string]int) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%s %d", k, m[k]))
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

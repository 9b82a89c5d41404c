package pipeline

import (
	"fmt"
	"strings"

	"github.com/trajectory-arena/arena/judges/agreement"
)

// agreementText is the judge's measured agreement as the dataset card has it.
func agreementText(r *agreement.Report) string {
	if r == nil {
		return "\nIts agreement with labels was not given to this build (--judge-agreement).\n"
	}
	var b strings.Builder
	b.WriteString("\nHow far it agrees with others, with 95 % intervals clustered by problem:\n\n| a | b | n | coverage | exact | kappa | weighted kappa |\n|---|---|---:|---:|---|---|---|\n")
	for _, p := range r.Pairs {
		fmt.Fprintf(&b, "| %s | %s | %d | %.3f | %s | %s | %s |\n", cell(p.A), cell(p.B), p.N, p.Coverage, figure(p.Exact), figure(p.Kappa), figure(p.WeightedKappa))
	}
	return b.String()
}

// figure is a statistic with its interval, or that it is not defined.
func figure(f agreement.Figure) string {
	switch {
	case f.Value == nil:
		return "not defined"
	case f.CI95 == nil:
		return fmt.Sprintf("%.3f", *f.Value)
	default:
		return fmt.Sprintf("%.3f [%.3f, %.3f]", *f.Value, f.CI95[0], f.CI95[1])
	}
}

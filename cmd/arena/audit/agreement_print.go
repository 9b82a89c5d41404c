package audit

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/text"
	"github.com/trajectory-arena/arena/judges/agreement"
)

func printAgreement(w io.Writer, r *agreement.Report) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "rater\tattempts\tscored\tunscored\t")
	for _, x := range r.Raters {
		fmt.Fprintf(
			t,
			"%s\t%d\t%d\t%d\t\n",
			text.Line(x.Name),
			x.Attempts,
			x.Scored,
			x.Unscored,
		)
	}
	for i := range r.Pairs {
		printPair(t, &r.Pairs[i])
	}
	if p := r.Panel; p != nil {
		fmt.Fprintf(t, "\nall raters: %d of %d attempts scored by two or more\n\t\t95 %%\t\n", p.N, p.Attempts)
		printAlpha(t, p.Alpha)
	}
	for _, v := range r.Validator {
		fmt.Fprintf(t, "\n%s against the subnet's own %s: %d attempts of %d runs of %d agents, coverage %.3f\n\t\t95 %% over agents\t\n",
			text.Line(v.Judge), text.Line(strings.TrimSpace(v.Figure+" "+v.Category)), v.Attempts, v.Runs, v.Agents, v.Coverage)
		printFigure(t, "bias", v.Bias)
		printFigure(t, "distance", v.Distance)
		printFigure(t, "correlation", v.Correlation)
	}
	if len(r.SelfPreference) > 0 {
		fmt.Fprint(t, "\nself-preference: a family's scores above the panel's, on its own attempts against others'\n\t\t95 %\t\n")
	}
	for _, p := range r.SelfPreference {
		printFigure(t, fmt.Sprintf("%s (%d own, %d others)", text.Line(p.Family), p.Own, p.Other), p.Preference)
	}
	fmt.Fprintf(t, "\n95 %% intervals from %d draws of problems, seed %d\n", r.Bootstrap.Samples, r.Bootstrap.Seed)
	for i := range r.Fits {
		printFit(t, &r.Fits[i])
	}
	return t.Flush()
}

// printFit prints a YAML configuration with the floor and ceiling, fitted to people's labels, of
// the multiplier: the factor into which a judge's grade is converted. YAML comments before it say
// how well they fit.
func printFit(w io.Writer, x *agreement.Fit) {
	fmt.Fprintf(
		w,
		"\n# %s, fitted to %d labels at %d problems. Factors miss the labels' by (root mean square)\n# %.4f on the subnet's scale",
		text.Line(x.Judge),
		x.N,
		x.Problems,
		x.Subnet,
	)
	if x.Fitted != nil {
		fmt.Fprintf(w, ", %.4f on one fitted to the other problems", *x.Fitted)
	}
	fmt.Fprintln(w, ".")
	if x.Fitted == nil || *x.Fitted >= x.Subnet {
		fmt.Fprintln(w, "# Nothing shows that the fit is better than the subnet's floor 0.3 and ceiling 0.8.")
	}
	fmt.Fprintf(w, "multiplier:\n  floor: %s\n  ceiling: %s\n", fitted(x.Floor), fitted(x.Ceiling))
}

func fitted(f agreement.Figure) string {
	if f.CI95 == nil {
		return fmt.Sprint(*f.Value)
	}
	return fmt.Sprintf(
		"%v # 95 %%: %.2f to %.2f",
		*f.Value,
		f.CI95[0],
		f.CI95[1],
	)
}

func printPair(w io.Writer, p *agreement.Pair) {
	fmt.Fprintf(w, "\n%s against %s: %d attempts at %d problems, %.1f %% of the %d that both have (unscored %d and %d)\n",
		text.Line(p.A), text.Line(p.B), p.N, p.Problems, 100*p.Coverage, p.Shared, p.AUnscored, p.BUnscored)
	fmt.Fprintln(w, "\t\t95 %\t")
	printFigure(w, "exact agreement", p.Exact)
	printFigure(w, "kappa", p.Kappa)
	printFigure(w, "weighted kappa", p.WeightedKappa)
	printAlpha(w, p.Alpha)
	printFigure(w, "bias", p.Bias)
	if x := p.Precision; x != nil {
		printFigure(
			w,
			fmt.Sprintf("precision at %v (%d of %d)", x.Threshold, x.Above, x.N),
			x.Precision,
		)
		printFigure(w, "recall", x.Recall)
	}
	heads := slicesx.Map(p.Levels, func(l float64) string {
		return fmt.Sprint(l)
	})
	fmt.Fprintf(
		w,
		"\n%s \\ %s\t%s\t\n",
		text.Line(p.A),
		text.Line(p.B),
		strings.Join(heads, "\t"),
	)
	for i, row := range p.Confusion {
		fmt.Fprint(w, heads[i])
		for _, n := range row {
			fmt.Fprintf(w, "\t%d", n)
		}
		fmt.Fprintln(w, "\t")
	}
}

func printAlpha(w io.Writer, a agreement.Alpha) {
	printFigure(w, "alpha, nominal", a.Nominal)
	printFigure(w, "alpha, ordinal", a.Ordinal)
	printFigure(w, "alpha, interval", a.Interval)
}

func printFigure(w io.Writer, name string, f agreement.Figure) {
	switch {
	case f.Value == nil:
		fmt.Fprintf(w, "%s\tnot defined\t\t\n", name)
	case f.CI95 == nil:
		fmt.Fprintf(w, "%s\t%.4f\t\t\n", name, *f.Value)
	default:
		fmt.Fprintf(
			w,
			"%s\t%.4f\t%.4f to %.4f\t\n",
			name,
			*f.Value,
			f.CI95[0],
			f.CI95[1],
		)
	}
}

package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/judges/agreement"
)

// agreementFlags are what a user can say to `arena agreement`.
type agreementFlags struct {
	labels string
	// threshold is the score whose precision is measured; 0 measures none.
	threshold float64
	json      bool
	out       string
	opt       agreement.Options
}

// NewAgreement makes `arena agreement`.
func NewAgreement(s *cli.Streams) *cobra.Command {
	f := agreementFlags{opt: agreement.DefaultOptions()}
	c := &cobra.Command{
		Use:   "agreement A B…",
		Short: "Measure how far judges agree, with each other and with labels",
		Long: `Measure how far judges agree, with each other and with labels: exact agreement,
confusion, Cohen's kappa plain and weighted by squared distance, Krippendorff's alpha
(nominal, ordinal, interval) and bias, each with a 95 % interval from a bootstrap over
problems. Unscored attempts are left out and counted.

A, B and the labels are JSON lines with eval_run_id, problem_id and score, as
` + "`arena judge`" + ` writes them. With --labels one judge is enough. Lines of
` + "`arena judge --steps`" + ` are compared step by step: waste is 0, unclear 0.5, needed 1.`,
		Example: `  arena judge testdata/day -o gates.jsonl
  arena agreement gates.jsonl gates.jsonl
  arena agreement gates.jsonl --labels gates.jsonl --json`,
		Args: cli.Takes(1, cli.AnyNumber),
		RunE: func(_ *cobra.Command, paths []string) error { return f.run(s, paths) },
	}
	c.Flags().StringVar(&f.labels, "labels", "", "labels to hold each judge against")
	c.Flags().Float64Var(&f.threshold, "threshold", 0, "measure the precision and recall of this score or more; labels that have a probability weigh 1 over it")
	c.Flags().BoolVar(&f.json, "json", false, "write JSON instead of tables")
	c.Flags().StringVarP(&f.out, "output", "o", "-", "output file; - is standard output")
	cli.ReadsFiles(c)
	cli.Reads(c, "labels")
	cli.Replaces(c, "output")
	c.Flags().IntVar(&f.opt.Samples, "samples", f.opt.Samples, "draws of the bootstrap")
	c.Flags().Uint64Var(&f.opt.Seed, "seed", f.opt.Seed, "seed of the bootstrap")
	return c
}

func (f *agreementFlags) run(s *cli.Streams, paths []string) error {
	if f.labels == "" && len(paths) < 2 {
		return cli.Usage(errors.New("one judge alone agrees with nobody"), "name a second file, or --labels")
	}
	if f.threshold > 0 && f.labels == "" || f.threshold < 0 || f.threshold > 1 {
		return cli.Usage(fmt.Errorf("--threshold is %v", f.threshold), "give a score from 0 to 1, and the --labels that it is measured by")
	}
	if f.opt.Samples < 1 {
		return cli.Usage(fmt.Errorf("--samples is %d", f.opt.Samples), "draw at least once")
	}
	var raters []agreement.Ratings
	if f.labels != "" {
		paths = append([]string{f.labels}, paths...)
	}
	for _, path := range paths {
		r, err := readRatings(path, raterName(path, paths))
		if err != nil {
			return err
		}
		raters = append(raters, r)
	}
	report, err := agreement.Compare(raters, f.opt)
	if err != nil {
		return cli.Failed(err, "files agree on an attempt by its eval_run_id and problem_id")
	}
	if f.threshold > 0 {
		for i := range raters[1:] {
			p := agreement.PrecisionAt(&raters[0], &raters[i+1], f.threshold, f.opt)
			at := slices.IndexFunc(report.Pairs, func(p agreement.Pair) bool { return p.A == raters[0].Name && p.B == raters[i+1].Name })
			report.Pairs[at].Precision = &p
		}
	}
	return cli.WriteWhole(s, f.out, func(w io.Writer) error {
		if f.json {
			return json.NewEncoder(w).Encode(report)
		}
		return printAgreement(w, &report)
	})
}

// maxRatingBytes is far above any judge line: spans quote some hundred
// characters each.
const maxRatingBytes = 16 << 20

func readRatings(path, name string) (agreement.Ratings, error) {
	f, err := os.Open(path)
	if err != nil {
		return agreement.Ratings{}, cli.Failed(fmt.Errorf("read ratings: %w", err), "name a JSONL file of judge lines or labels")
	}
	defer f.Close() //nolint:errcheck // only read
	r, err := agreement.ReadRatings(f, name, maxRatingBytes)
	if err != nil {
		return r, cli.Failed(err, "a line is {eval_run_id, problem_id, score}, each attempt once")
	}
	return r, nil
}

// raterName is the file's name, or its path where two names are the same.
func raterName(path string, paths []string) string {
	name := filepath.Base(path)
	for _, other := range paths {
		if other != path && filepath.Base(other) == name {
			return path
		}
	}
	return name
}

func printAgreement(w io.Writer, r *agreement.Report) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "rater\tattempts\tscored\tunscored\t")
	for _, x := range r.Raters {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t\n", cli.Printable(x.Name), x.Attempts, x.Scored, x.Unscored)
	}
	for i := range r.Pairs {
		printPair(t, &r.Pairs[i])
	}
	if p := r.Panel; p != nil {
		fmt.Fprintf(t, "\nall raters: %d of %d attempts scored by two or more\n\t\t95 %%\t\n", p.N, p.Attempts)
		printAlpha(t, p.Alpha)
	}
	fmt.Fprintf(t, "\n95 %% intervals from %d draws of problems, seed %d\n", r.Bootstrap.Samples, r.Bootstrap.Seed)
	return t.Flush()
}

func printPair(w io.Writer, p *agreement.Pair) {
	fmt.Fprintf(w, "\n%s against %s: %d attempts at %d problems, %.1f %% of the %d that both have (unscored %d and %d)\n",
		cli.Printable(p.A), cli.Printable(p.B), p.N, p.Problems, 100*p.Coverage, p.Shared, p.AUnscored, p.BUnscored)
	fmt.Fprintln(w, "\t\t95 %\t")
	printFigure(w, "exact agreement", p.Exact)
	printFigure(w, "kappa", p.Kappa)
	printFigure(w, "weighted kappa", p.WeightedKappa)
	printAlpha(w, p.Alpha)
	printFigure(w, "bias", p.Bias)
	if x := p.Precision; x != nil {
		printFigure(w, fmt.Sprintf("precision at %v (%d of %d)", x.Threshold, x.Above, x.N), x.Precision)
		printFigure(w, "recall", x.Recall)
	}
	heads := make([]string, len(p.Levels))
	for i, l := range p.Levels {
		heads[i] = fmt.Sprint(l)
	}
	fmt.Fprintf(w, "\n%s \\ %s\t%s\t\n", cli.Printable(p.A), cli.Printable(p.B), strings.Join(heads, "\t"))
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
		fmt.Fprintf(w, "%s\t%.4f\t%.4f to %.4f\t\n", name, *f.Value, f.CI95[0], f.CI95[1])
	}
}

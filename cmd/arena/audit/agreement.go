package audit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/judges/agreement"
	"github.com/trajectory-arena/arena/traces"
)

type agreementFlags struct {
	// labels are the files with labels, one for each person. fit is set to fit the multiplier,
	// the factor that a grade has on the outcome, to them.
	labels []string
	fit    bool
	// day is a folder of traces whose run.json files have the subnet's own grades.
	day string
	// against is the figure in the subnet's grades that each judge is compared with.
	against string
	// threshold is the score whose precision is measured; 0 means none.
	threshold float64
	json      bool
	out       string
	opt       agreement.Options
}

// NewAgreement returns `arena agreement`.
func NewAgreement(s *cli.Streams) *cobra.Command {
	f := agreementFlags{opt: agreement.DefaultOptions(), against: agreement.FigureQuality}
	c := cli.Command("agreement A B…", "Measure how far judges agree, with each other and with labels", cli.NumArgs(1, cli.AnyNumber),
		func(_ *cobra.Command, paths []string) error {
			return f.run(s, paths)
		})
	cli.Files(c, &f.labels, "labels", "labels to compare each judge with; once for each person who labelled")
	c.Flags().BoolVar(&f.fit, "fit", false, "fit the multiplier's floor and ceiling to the labels, for a build's configuration")
	cli.File(c, &f.day, "day", "hold each judge against what the run.json files of this day carry of the subnet's own grades")
	cli.Choice(c, &f.against, "against", agreement.Figures, "with --day, which of the subnet's figures. Of a run: validator_score (of success, as arena score writes it, times the run's own coefficient), reasoning_quality, or reasoning_coefficient (of the judge's mean by the subnet's rule). Attempt by attempt and category: score (of success), reasoning_score, or multiplier (of either grade by the subnet's rule)")
	cli.Share(c, &f.threshold, "threshold", "measure the precision and recall of this score or more; labels that have a probability weigh 1 over it")
	c.Flags().BoolVar(&f.json, "json", false, "write JSON instead of tables")
	cli.Out(c, &f.out)
	cli.ReadsFiles(c)
	return c
}

func (f *agreementFlags) run(s *cli.Streams, paths []string) error {
	if (f.threshold > 0 || f.fit) && f.labels == nil {
		return cli.Misuse("--threshold and --fit measure by labels", "name the --labels")
	}
	var raters []agreement.Ratings
	files := slices.Concat(f.labels, paths)
	for _, path := range files {
		r, err := readRatings(path, raterName(path, files))
		if err != nil {
			return err
		}
		raters = append(raters, r)
	}
	var preferences []agreement.SelfPreference
	for i := range raters {
		preferences = append(preferences, agreement.SelfPreferences(&raters[i], f.opt)...)
	}
	if len(raters) == 1 && f.day == "" {
		raters = raters[0].Members()
		if len(raters) < 2 {
			return cli.Misuse("one judge alone agrees with nobody", "name a second file, --labels, a --day that carries the subnet's own grades, or the lines of a panel of models")
		}
	}
	report, err := f.compareAll(raters)
	if err != nil {
		return cli.DefaultHint(err, "files agree on an attempt by its eval_run_id and problem_id")
	}
	report.SelfPreference = preferences
	return cli.WriteWhole(s, f.out, func(w io.Writer) error {
		if f.json {
			return json.NewEncoder(w).Encode(report)
		}
		return printAgreement(w, &report)
	})
}

// compareAll compares the judgements of every two raters (people or judges) on the same attempts.
// With --threshold or --fit it also compares each judge with people's labels, and with --day with
// the grades that the subnet (the network whose validators scored the attempts) published.
func (f *agreementFlags) compareAll(raters []agreement.Ratings) (agreement.Report, error) {
	r, err := agreement.Compare(raters, f.opt)
	if err != nil {
		return r, err
	}
	labels, judges := raters[:len(f.labels)], raters[len(f.labels):]
	for k := range judges {
		for i := range labels {
			if f.threshold == 0 {
				break
			}
			pair := slices.IndexFunc(r.Pairs, func(p agreement.Pair) bool {
				return p.A == labels[i].Name && p.B == judges[k].Name
			})
			r.Pairs[pair].Precision = new(agreement.PrecisionAt(
				&labels[i],
				&judges[k],
				f.threshold,
				f.opt,
			))
		}
		if f.fit {
			fit, err := agreement.FitScale(labels, &judges[k], f.opt)
			if err != nil {
				return r, err
			}
			r.Fits = append(r.Fits, fit)
		}
	}
	return r, f.addValidator(&r, judges)
}

func (f *agreementFlags) addValidator(r *agreement.Report, judges []agreement.Ratings) error {
	if f.day == "" {
		return nil
	}
	inputs, err := traces.Discover(f.day)
	if err != nil {
		return cli.Failed(err, "a day is a folder of traces")
	}
	var theirs agreement.SubnetFindings
	for i := range inputs {
		m := &inputs[i].Meta
		named, _ := inputs[i].PathIDs()
		theirs.Add(
			cmp.Or(m.RunID, named),
			m.Agent.VersionID,
			m.Findings,
			m.Attempts,
		)
	}
	for i := range judges {
		r.Validator = append(r.Validator, agreement.AgainstValidator(
			f.against,
			theirs.Items,
			&judges[i],
			f.opt,
		)...)
	}
	if len(r.Validator) == 0 {
		return cli.Failed(fmt.Errorf("no run.json of %s carries a %s of what is judged here", f.day, f.against), "days that arena fetch brought have it")
	}
	return nil
}

func readRatings(path, name string) (agreement.Ratings, error) {
	f, err := os.Open(path)
	if err != nil {
		return agreement.Ratings{}, cli.Failed(fmt.Errorf("read ratings: %w", err), "name a JSONL file of judge lines or labels")
	}
	defer f.Close() //nolint:errcheck // only read
	r, err := agreement.ReadRatings(f, name, cli.MaxLabelBytes)
	if err != nil {
		return r, cli.Failed(err, "a line is {eval_run_id, problem_id, score}, each attempt once")
	}
	return r, nil
}

// raterName returns the name of a rater (a person or judge whose file of judgements is compared)
// for the report: the base name of the rater's file, or its full path if another file has the same
// base name.
func raterName(path string, paths []string) string {
	name := filepath.Base(path)
	if slices.ContainsFunc(paths, func(other string) bool { return other != path && filepath.Base(other) == name }) {
		return path
	}
	return name
}

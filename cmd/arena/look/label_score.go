package look

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/text"
	"github.com/trajectory-arena/arena/judges/agreement"
	"github.com/trajectory-arena/arena/judges/sample"
)

// person has the labels that one person gave to attempts on the page for labelling, read from one
// file.
type person struct {
	name    string
	figures []sample.Figure
	answers map[string]sample.Answer
}

func newLabelScore(s *cli.Streams) *cobra.Command {
	weighed := ""
	c := cli.Command("score SAMPLE LABELS…", "Measure filter, judge and guard on a day with people's labels", cli.NumArgs(2, cli.AnyNumber),
		func(_ *cobra.Command, args []string) error {
			return runLabelScore(s, args[0], args[1:], weighed)
		})
	c.Flags().StringVar(&weighed, "weighed", "", "also write one person's labels with their probabilities to this file")
	cli.ReadsFiles(c)
	cli.Replaces(c, "weighed")
	return c
}

const labelForm = "a line is {eval_run_id, problem_id, agentic, score, leak}, as label.html saves it"

func runLabelScore(
	s *cli.Streams,
	folder string,
	files []string,
	weighed string,
) error {
	drawn, err := cli.ReadByAttempt[sample.Item](filepath.Join(folder, sampleFile), "SAMPLE is the folder that `arena label` wrote")
	if err != nil {
		return err
	}
	items := make([]sample.Item, 0, len(drawn))
	for _, id := range slicesx.SortedKeys(drawn) {
		if p := drawn[id].Probability; p < sample.MinProbability || p > 1 {
			return cli.Failed(fmt.Errorf("read %s: the probability of %s is %g", folder, id, p), "SAMPLE is the folder that `arena label` wrote, as it is")
		}
		items = append(items, drawn[id])
	}
	people := make([]person, len(files))
	for i, path := range files {
		p := person{name: path}
		if p.answers, err = cli.ReadByAttempt[sample.Answer](path, labelForm); err != nil {
			return err
		}
		all := len(p.answers)
		maps.DeleteFunc(p.answers, func(id string, _ sample.Answer) bool {
			_, known := drawn[id]
			return !known
		})
		if len(p.answers) == 0 {
			return cli.Failed(fmt.Errorf("read %s: no label is of an attempt of %s", path, folder), labelForm)
		}
		if left := all - len(p.answers); left > 0 {
			s.Linef("%d of the labels of %s left out: not of attempts of the sample", left, text.Line(path))
		}
		p.figures = sample.Figures(items, p.answers)
		people[i] = p
	}
	if err = writeWeighed(s, weighed, items, people); err != nil {
		return err
	}
	return tellFigures(s.Out, people, len(items))
}

func writeWeighed(
	s *cli.Streams,
	path string,
	items []sample.Item,
	people []person,
) error {
	if path == "" {
		return nil
	}
	if len(people) > 1 {
		return cli.Misuse("--weighed takes the labels of one person", "run it once for each")
	}
	return cli.WriteWhole(s, path, func(w io.Writer) error {
		lines := json.NewEncoder(w)
		for _, it := range items {
			a, ok := people[0].answers[it.ID()]
			if !ok {
				continue
			}
			err := lines.Encode(struct {
				Run     string `json:"eval_run_id"`
				Problem string `json:"problem_id"`
				sample.Answer
				Probability float64 `json:"probability"`
			}{it.Run, it.Problem, a, it.Probability})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func tellFigures(w io.Writer, people []person, drawn int) error {
	reports, err := agreementBetween(people)
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, p := range people {
		fmt.Fprintf(
			t,
			"%s, %d of %d labelled\t\tof the day\t95 %%\tn\t\n",
			text.Line(filepath.Base(p.name)),
			len(p.answers),
			drawn,
		)
		for _, m := range p.figures {
			between := "-"
			if m.N > 0 {
				between = fmt.Sprintf("%.3f-%.3f", m.Low, m.High)
			}
			fmt.Fprintf(
				t,
				"%s\t%s\t%s\t%s\t%d\t\n",
				m.Instrument,
				m.Measure,
				text.Optional(m.Share, "%.3f", "-"),
				between,
				m.N,
			)
		}
	}
	for _, question := range slicesx.SortedKeys(reports) {
		for _, p := range reports[question].Pairs {
			between := "-"
			if ci := p.Kappa.CI95; ci != nil {
				between = fmt.Sprintf("%.3f-%.3f", ci[0], ci[1])
			}
			fmt.Fprintf(
				t,
				"people, %s\tkappa\t%s\t%s\t%d\t\n",
				question,
				text.Optional(p.Kappa.Value, "%.3f", "-"),
				between,
				p.N,
			)
		}
	}
	return t.Flush()
}

var questions = map[string]func(*sample.Answer) *float64{
	"who wrote the calls": func(a *sample.Answer) *float64 {
		return number(a.Agentic)
	},
	"grade": func(a *sample.Answer) *float64 { return a.Score },
	"protected": func(a *sample.Answer) *float64 {
		return number(a.Leak)
	},
}

func number(yes *bool) *float64 {
	if yes == nil {
		return nil
	}
	if *yes {
		return new(1.0)
	}
	return new(0.0)
}

// agreementBetween computes how much people agree on each question of the label page. The result
// is empty if there is only one person.
func agreementBetween(people []person) (map[string]agreement.Report, error) {
	reports := map[string]agreement.Report{}
	if len(people) < 2 {
		return reports, nil
	}
	for question, answers := range questions {
		raters := make([]agreement.Ratings, len(people))
		for i, p := range people {
			raters[i] = agreement.Ratings{
				Name:   p.name,
				Scores: map[agreement.Key]*float64{},
			}
			for id, a := range p.answers {
				run, problem, _ := strings.Cut(id, "/")
				raters[i].Scores[agreement.Key{
					Run:     run,
					Problem: problem,
				}] = answers(&a)
			}
		}
		report, err := agreement.Compare(raters, agreement.DefaultOptions())
		if err != nil && !errors.Is(err, agreement.ErrApart) {
			return nil, err
		}
		reports[question] = report
	}
	return reports, nil
}

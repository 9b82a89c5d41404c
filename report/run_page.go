package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/plotter"

	"github.com/trajectory-arena/arena/internal/evaluation"
)

// TelemetryPage is the page beside a run's that holds what depends on the
// machine.
const TelemetryPage = "telemetry.html"

// Page lays the run out.
func (r *Run) Page() (*Page, error) {
	s := r.Summary
	p := &Page{
		Title: fmt.Sprintf("%s on %d problems", r.text("model"), s.Problems),
		Summary: fmt.Sprintf("%d samples a problem, %d rollouts, of which %d were scored and %d had no answer from the server. Harness %s, scored by %s.",
			ratioWhole(s.Samples, s.Problems), s.Samples, s.Scored, s.InfraErrors, r.text("harness"), r.text("scorer")),
		Numbers: r.numbers(),
	}
	for _, section := range []func() (Section, error){r.success, r.categories, r.contamination, r.axes, r.ends, r.lengths, r.habits, r.perProblem, r.examples, r.machine, r.spec} {
		drawn, err := section()
		if err != nil {
			return nil, err
		}
		if drawn.Heading != "" {
			p.Sections = append(p.Sections, drawn)
		}
	}
	return p, nil
}

// text is a field of the spec that is a string.
func (r *Run) text(field string) string {
	var s string
	if json.Unmarshal(r.Spec[field], &s) != nil {
		return "?"
	}
	return s
}

func ratioWhole(a, b int) int {
	if b == 0 {
		return 0
	}
	return a / b
}

func (r *Run) numbers() []Number {
	s := r.Summary
	numbers := []Number{
		{"success rate", known(s.ASRScored), "95 %: " + between(s.Clustered95) + ", by problem"},
		{"coverage", rate(s.Coverage), fmt.Sprintf("%d of %d scored; the rate is %s with the others as not solved", s.Scored, s.Samples, known(s.ASRAll))},
		{"problems solved", strconv.Itoa(s.SolvedProblems), fmt.Sprintf("of %d, %d of them not always", s.Problems, s.Flaky)},
	}
	if s.Quality != nil {
		numbers = append(numbers, Number{"agentic quality", rate(*s.Quality), "mean of the judge " + r.text("judge") + "; 95 %: " + between(s.Quality95)},
			Number{"final", known(s.Final), "success rate times the judge's multiplier"})
	}
	if s.Tokens.Completion != nil && s.Tokens.Prompt != nil && s.SolvedProblems > 0 {
		note := fmt.Sprintf("written, and %d read", *s.Tokens.Prompt/int64(s.SolvedProblems))
		if n := s.Tokens.Uncounted; n > 0 {
			note += fmt.Sprintf("; %d replies came without a count and are not in it", n)
		}
		numbers = append(numbers, Number{"tokens a solved problem", strconv.FormatInt(*s.Tokens.Completion/int64(s.SolvedProblems), 10), note})
	}
	return numbers
}

func rate(x float64) string { return strconv.FormatFloat(x, 'f', 3, 64) }

func between(interval *[2]float64) string {
	if interval == nil {
		return "unknown"
	}
	return rate(interval[0]) + " to " + rate(interval[1])
}

func known(x *float64) string {
	if x == nil {
		return "unknown"
	}
	return rate(*x)
}

// success is the curve over k, where there are several samples.
func (r *Run) success() (Section, error) {
	s := Section{Heading: "Success over samples", Note: "pass@k: at least one of k samples solves the problem (unbiased estimate); pass^k: all k do."}
	s.Columns = []string{"", "mean", "95 %", "problems"}
	at, hat := plotter.XYs{}, plotter.XYs{}
	for k := 1; k < len(r.SolvedBy); k *= 2 {
		any, told := r.Summary.Pass[fmt.Sprintf("pass@%d", k)]
		if !told {
			break
		}
		all := r.Summary.Pass[fmt.Sprintf("pass^%d", k)]
		s.pass(fmt.Sprintf("pass@%d", k), any)
		s.pass(fmt.Sprintf("pass^%d", k), all)
		at, hat = append(at, plotter.XY{X: float64(k), Y: any.Mean}), append(hat, plotter.XY{X: float64(k), Y: all.Mean})
	}
	if len(at) < 2 {
		return Section{}, nil
	}
	p := newPlot("k", "share of problems")
	p.Y.Min, p.Y.Max = 0, 1
	if err := addCurves(p, curve{"pass@k", at, blue, true}, curve{"pass^k", hat, orange, true}); err != nil {
		return s, err
	}
	curves, err := figure(p, "pass@k and pass^k")
	if err != nil {
		return s, err
	}
	names, counts := make([]string, len(r.SolvedBy)), make(plotter.Values, len(r.SolvedBy))
	for i, n := range r.SolvedBy {
		names[i], counts[i] = strconv.Itoa(i), float64(n)
	}
	p = newPlot("samples that solve it", "problems")
	if err = histogram(p, names, stack{"problems", counts, blue}); err != nil {
		return s, err
	}
	solvedBy, err := figure(p, "problems by how many of their samples solve them")
	s.Figures = []Figure{curves, solvedBy}
	return s, err
}

func (s *Section) pass(name string, p evaluation.PassRate) {
	s.row(&p.Mean, name, rate(p.Mean), between(p.CI95), p.Problems)
}

func (r *Run) categories() (Section, error) {
	return partTable("By category", "", r.Summary.ByCategory), nil
}

func (r *Run) contamination() (Section, error) {
	if len(r.Summary.ByContamination) == 0 {
		return Section{}, nil
	}
	return partTable("By contamination", "Contaminated are the problems that the run was told the model was trained on.", r.Summary.ByContamination), nil
}

// partTable is a table of shares of the problems.
func partTable(heading, note string, parts map[string]*evaluation.Part) Section {
	s := Section{Heading: heading, Note: strings.TrimSpace(note + " The interval is Wilson's, clustered by problem."),
		Columns: []string{"", "problems", "scored", "solved", "success rate", "95 %"}}
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		p := parts[name]
		if p == nil {
			continue // a null in a file that somebody changed
		}
		s.row(p.ASRScored, name, p.Problems, p.Scored, p.Successes, known(p.ASRScored), between(p.Clustered95))
	}
	return s
}

func (r *Run) axes() (Section, error) {
	s := Section{Heading: "By axis of the score", Note: "Means over the scored rollouts that have the axis.", Columns: []string{"axis", "mean", "95 %", "rollouts"}}
	for _, name := range slices.Sorted(maps.Keys(r.Summary.Axes)) {
		mean := r.Summary.Axes[name]
		s.row(&mean, name, rate(mean), between(r.axis95(name)), r.Summary.AxisRollouts[name])
	}
	return s, nil
}

func (r *Run) axis95(name string) *[2]float64 {
	if interval, told := r.Summary.Axes95[name]; told {
		return &interval
	}
	return nil
}

// ends counts how rollouts ended, most often first.
func (r *Run) ends() (Section, error) {
	s := Section{Heading: "Why rollouts fail", Note: "Each rollout that is no success has one label; what had no answer from the server has none and its own reason.",
		Columns: []string{"label", "rollouts"}}
	counts := maps.Clone(r.Summary.Labels)
	for reason, n := range r.Summary.Infra {
		if counts == nil {
			counts = map[string]int{}
		}
		counts[strings.TrimSuffix("infra: "+reason+": "+r.Summary.InfraWords[reason], ": ")] = n
	}
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		if counts[a] != counts[b] {
			return counts[b] - counts[a]
		}
		return strings.Compare(a, b)
	})
	for _, name := range names {
		s.row(bar(int64(counts[name]), int64(r.Summary.Samples)), name, counts[name])
	}
	return s, nil
}

// lengths are the distributions of replies and tokens.
func (r *Run) lengths() (Section, error) {
	s := Section{Heading: "Steps and tokens"}
	for _, d := range []struct {
		spread *spread
		unit   string
	}{{&r.Turns, "replies"}, {&r.Tokens, "tokens written"}} {
		names, solved, others := d.spread.bins()
		if len(names) == 0 {
			continue
		}
		p := newPlot(d.unit+" a rollout", "rollouts")
		if err := histogram(p, names, stack{"solved", solved, blue}, stack{"not solved", others, grey}); err != nil {
			return s, err
		}
		f, err := figure(p, fmt.Sprintf("%s of a rollout; the median is %s", d.unit, strconv.FormatFloat(d.spread.median(), 'f', -1, 64)))
		if err != nil {
			return s, err
		}
		s.Figures = append(s.Figures, f)
	}
	if len(s.Figures) == 0 {
		return Section{}, nil
	}
	return s, nil
}

// habits are counts of what a careful agent avoids.
func (r *Run) habits() (Section, error) {
	m := r.Summary
	s := Section{Heading: "How it acts", Note: "Unseen ids are named in a call and were never returned by a tool; hallucinated ones are recommended and in no catalogue.",
		Columns: []string{"", "in all", "of", ""}}
	for _, row := range []struct {
		name  string
		n, of int
		unit  string
	}{
		{"unseen ids", m.UnseenIDs, m.Turns, "replies"}, {"hallucinated ids", m.HallucinatedIDs, m.Scored, "scored rollouts"}, {"tool errors", m.ToolErrors, m.ToolCalls, "calls"},
		{"repeated calls", m.RepeatedCalls, m.ToolCalls, "calls"}, {"malformed calls", m.MalformedCalls, m.ToolCalls + m.MalformedCalls, "calls"},
	} {
		share := 0.0
		if row.of > 0 {
			share = math.Min(1, float64(row.n)/float64(row.of))
		}
		s.row(&share, row.name, row.n, fmt.Sprintf("%d %s", row.of, row.unit), rate(share))
	}
	return s, nil
}

func (r *Run) perProblem() (Section, error) {
	if len(r.Flaky) == 0 {
		return Section{}, nil
	}
	s := Section{Heading: "Problems solved by some samples", Note: fmt.Sprintf("The first %d of %d; results.jsonl has all.", len(r.Flaky), r.Summary.Flaky),
		Columns: []string{"problem", "solved"}}
	for _, f := range r.Flaky {
		s.row(bar(int64(f.solved), int64(f.samples)), clip(f.problem, 80), fmt.Sprintf("%d of %d", f.solved, f.samples))
	}
	return s, nil
}

func (r *Run) examples() (Section, error) {
	return Section{Heading: "Rollouts to read", Note: "The first of each end. inspect.eval has all of them: inspect view --log-dir on this folder.", Talks: r.Examples}, nil
}

func (r *Run) machine() (Section, error) {
	return Section{Heading: "Server, machine and cost", Note: "From " + TelemetryPage + ", which lies beside this page and depends on the clock; this page does not.", Frame: TelemetryPage}, nil
}

// spec is everything that decided the run.
func (r *Run) spec() (Section, error) {
	s := Section{Heading: "Spec", Columns: []string{"field", "value"}}
	for _, field := range slices.Sorted(maps.Keys(r.Spec)) {
		if field == "system" {
			s.Talks = []Talk{{Title: "system prompt", Lines: []Line{{"system", r.text(field)}}}}
			continue
		}
		var b bytes.Buffer
		if json.Compact(&b, r.Spec[field]) != nil {
			continue
		}
		s.row(nil, field, strings.Trim(b.String(), `"`))
	}
	return s, nil
}

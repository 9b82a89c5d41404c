package comparison

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/internal/evaluation"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/stats"
	"github.com/trajectory-arena/arena/internal/text"
	"github.com/trajectory-arena/arena/student"
	"github.com/trajectory-arena/arena/student/telemetry"
)

// Run is a finished run in a series.
type Run struct {
	Name    string             `json:"name"`
	Model   string             `json:"model"`
	Summary evaluation.Summary `json:"summary"`
	// Seconds is the observed time; 0 without telemetry.
	Seconds float64           `json:"seconds"`
	Cost    evaluation.Amount `json:"cost"`

	spec     student.Spec
	groups   map[string]int
	defaults string
	leftOut  string
	problems []*student.ProblemResult
	// graded reports whether a reward is neither 0 nor 1, so that rates are no shares of successes.
	graded bool
}

func read(folder string) (r *Run, err error) {
	r = &Run{Name: filepath.ToSlash(filepath.Clean(folder))}
	folders := pooled(folder)
	if r.spec, err = student.ReadSpec(folders[0]); err != nil {
		return nil, err
	}
	r.Model = r.spec.Model
	if r.spec.Source != "" {
		r.Name = r.spec.Source
	}
	if r.groups, err = student.ReadGroups(context.Background(), folders[0]); err != nil {
		return nil, err
	}
	err = student.EachProblem(folders, func(p *student.ProblemResult) error {
		r.problems = append(r.problems, p)
		r.graded = r.graded || p.Graded()
		return nil
	})
	if err != nil {
		return nil, err
	}
	summary, err := student.ReadSummary(folders, r.groups)
	if err != nil {
		return nil, err
	}
	r.Summary = *summary
	if len(folders) > 1 {
		return r, r.pool(folders)
	}
	return r, r.readAccount(folder)
}

// pooled splits a run argument of the command line, which may name several folders, separated by
// commas, into these folders. If the complete argument is an existing path, it is one folder.
func pooled(folder string) []string {
	if _, err := os.Stat(folder); err == nil {
		return []string{folder}
	}
	return strings.Split(folder, ",")
}

// pool prepares a run that joins the samples of the runs in folders. It sets their common settings
// (spec), and takes what is known of the servers from the first run. Time and cost are set to
// unknown.
func (r *Run) pool(folders []string) (err error) {
	r.spec, _, err = student.PoolSpec(folders)
	if err == nil {
		err = r.readAccount(folders[0])
	}
	r.Seconds = 0
	r.Cost = evaluation.Amount{}
	return err
}

// readAccount reads the telemetry file of a run folder. From it, it sets the time and the cost of
// the run, the default sampling parameters of its servers, and leftOut (what the run did not
// measure). Without such a file, all stay unknown.
func (r *Run) readAccount(folder string) error {
	var account struct {
		LeftOut string               `json:"left_out"`
		Servers []telemetry.Identity `json:"servers"`
		Usage   telemetry.Usage      `json:"usage"`
		Cost    evaluation.Cost      `json:"cost"`
	}
	err := corpus.ReadJSON(
		corpus.Disk{},
		filepath.Join(folder, student.TelemetryFile),
		maxReport,
		&account,
	)
	if errors.Is(err, fs.ErrNotExist) { // scored again in a folder that came without
		err = nil
	}
	r.Seconds, r.Cost, r.defaults = account.Usage.Seconds, account.Cost.Total, defaults(account.Servers)
	r.leftOut = account.LeftOut
	return err
}

// maxReport is the maximum size in bytes of a summary or telemetry file that is read. It is far
// above what a run writes.
const maxReport = 64 << 20

// mayDiffer are the fields of Spec (the settings of a run) in which two compared runs may differ:
// the model, the seed, and fields that do not affect results. The text of the system prompt needs
// no comparison, because the hash of the harness (prompt and tools), which is compared, covers it.
var mayDiffer = []string{"model", "seed", "system", "keep", "source"}

func (r *Run) differences(o *Run) []string {
	differences := slices.DeleteFunc(r.spec.Differences(o.spec), func(d string) bool {
		field, _, _ := strings.Cut(d, ":")
		return slices.Contains(mayDiffer, field)
	})
	if r.defaults != o.defaults {
		differences = append(differences, "server_defaults: "+r.defaults+", "+o.defaults)
	}
	if r.leftOut != o.leftOut {
		differences = append(differences, "left_out: "+cmp.Or(r.leftOut, "nothing")+", "+cmp.Or(o.leftOut, "nothing"))
	}
	return differences
}

// defaults returns the sampling parameters that the servers use if a request sets none, as text, or
// "unknown" if no server reports them. Different ones are joined by " and ".
func defaults(servers []telemetry.Identity) string {
	var settings []string
	for _, s := range servers {
		if s.SamplingDefaults != "" && !slices.Contains(settings, s.SamplingDefaults) {
			settings = append(settings, s.SamplingDefaults)
		}
	}
	return cmp.Or(strings.Join(settings, " and "), unknown)
}

// WriteSeries writes the runs of comparisons as a table, for people.
func WriteSeries(w io.Writer, comparisons []Comparison) error {
	rows := series(comparisons)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	rates := slicesx.FilterMap(slices.Sorted(maps.Keys(rows[0].Summary.Pass)), func(name string) (string, bool) {
		return name, strings.HasPrefix(name, "pass@")
	})
	fmt.Fprintln(t, strings.Join(slices.Concat([]string{"run", "rate", "95 %", "coverage"}, rates,
		[]string{"partial", "hallucinated ids a reply", "tokens a rollout", "time", "cost"}), "\t"))
	for _, r := range rows {
		s := &r.Summary
		fmt.Fprintln(t, strings.Join(slices.Concat([]string{
			r.Name,
			share(s.ASRScored),
			between(s.Clustered95),
			fmt.Sprintf("%.4f", s.Coverage),
		}, r.passes(rates),
			[]string{
				r.ownCount(fmt.Sprint(s.Partial)),
				r.ownCount(share(stats.FiniteOrNil(float64(s.HallucinatedIDs) / float64(s.Turns)))),
				r.tokens(),
				r.time(),
				r.cost(),
			}), "\t"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return writeBest(w, rows)
}

// writeBest writes which of three or more runs has the highest rate. Its interval takes into
// account that this run was selected for its result. It writes nothing for fewer runs, if a rate or
// its error is unknown, or if the best rate is not from 0 to 1.
func writeBest(w io.Writer, rows []*Run) error {
	best := rows[0]
	for _, r := range rows {
		if r.Summary.ASRScored == nil || r.Summary.SEScored == nil {
			return nil
		}
		if *r.Summary.ASRScored > *best.Summary.ASRScored {
			best = r
		}
	}
	isShare := *best.Summary.ASRScored >= 0 && *best.Summary.ASRScored <= 1
	if len(rows) < 3 || !isShare {
		return nil
	}
	s := &best.Summary
	i := stats.SelectedWilson(*s.ASRScored, *s.SEScored, cmp.Or(s.Groups, s.Problems), s.Scored, len(rows))
	_, err := fmt.Fprintf(w, "best of %d: %s, %.4f (95 %% with the selection: %.4f to %.4f)\n", len(rows), best.Name, *s.ASRScored, i.Low, i.High)
	return err
}

// Curve returns the rates of a series of runs as a curve for people: a line for each run, with its
// interval on an axis from 0 to 1.
func Curve(comparisons []Comparison) string {
	const width = 50
	var b strings.Builder
	for i, r := range series(comparisons) {
		s := &r.Summary
		if s.ASRScored == nil {
			continue
		}
		axis := []byte(strings.Repeat(" ", width+1))
		place := func(rate float64) int { // the ends of the axis stand for what is beyond them
			return int(min(max(rate, 0), 1) * width)
		}
		if s.Clustered95 != nil {
			for x := place(s.Clustered95[0]); x <= place(s.Clustered95[1]); x++ {
				axis[x] = '-'
			}
		}
		axis[place(*s.ASRScored)] = 'o'
		fmt.Fprintf(&b, "%3d |%s| %.4f %s\n", i+1, axis, *s.ASRScored, r.Name)
	}
	return b.String() + "\n"
}

// series returns the distinct runs of comparisons, in the order in which they first occur.
func series(comparisons []Comparison) (runs []*Run) {
	for _, c := range comparisons {
		for _, r := range []*Run{c.ARun, c.BRun} {
			if !slices.Contains(runs, r) {
				runs = append(runs, r)
			}
		}
	}
	return runs
}

func (r *Run) passes(names []string) (cells []string) {
	for _, name := range names {
		p, ok := r.Summary.Pass[name]
		cell := "-"
		if ok {
			cell = fmt.Sprintf("%.4f", p.Mean)
		}
		cells = append(cells, cell)
	}
	return cells
}

// ownCount returns count. For a run that was imported from another harness, which does not record
// the count, it returns "unknown".
func (r *Run) ownCount(count string) string {
	if r.spec.Source != "" {
		return unknown
	}
	return count
}

func (r *Run) time() string {
	if r.Seconds == 0 {
		return unknown
	}
	return fmt.Sprintf("%.0f s", r.Seconds)
}

func (r *Run) tokens() string {
	t := r.Summary.Tokens
	n := int64(r.Summary.Samples)
	if t.Prompt == nil || t.Completion == nil {
		return unknown
	}
	return fmt.Sprintf("%d + %d", *t.Prompt/n, *t.Completion/n)
}

func (r *Run) cost() string {
	var words []string
	for _, usd := range []*float64{r.Cost.TokenUSD, r.Cost.GPUUSD} {
		if usd != nil {
			words = append(words, fmt.Sprintf("%.4f USD", *usd))
		}
	}
	if s := r.Cost.GPUSeconds; len(words) == 0 && s != nil {
		words = []string{fmt.Sprintf("%.0f GPU s", *s)}
	}
	return cmp.Or(strings.Join(words, " + "), unknown)
}

const unknown = "unknown"

func share(x *float64) string { return text.Optional(x, "%.4f", unknown) }

func between(x *[2]float64) string {
	if x == nil {
		return unknown
	}
	return fmt.Sprintf("%.4f to %.4f", x[0], x[1])
}

// String returns the comparison for people.
func (c Comparison) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s against %s: %s\n", c.B, c.A, c.Part)
	fmt.Fprintf(
		&b,
		"  means by problem, of scored rollouts: %s %.4f (coverage %.4f), %s %.4f (coverage %.4f)\n",
		c.A,
		c.AMean,
		c.ACoverage,
		c.B,
		c.BMean,
		c.BCoverage,
	)
	if c.McNemar != nil {
		fmt.Fprintf(
			&b,
			"  McNemar: only %s %d, only %s %d, p %.4g\n",
			c.A,
			c.McNemar.B,
			c.B,
			c.McNemar.C,
			c.McNemar.P,
		)
	} else {
		fmt.Fprintf(
			&b,
			"  %s solves %d problems more often, %d less often\n",
			c.B,
			len(c.Won),
			len(c.Lost),
		)
	}
	c.writeShown(&b)
	c.writeParts(&b, "", c.PassAt)
	c.writeParts(&b, "category ", c.ByCategory)
	c.writeParts(&b, "", c.ByContamination)
	for _, d := range c.Differs {
		fmt.Fprintf(&b, "  differs: %s\n", d)
	}
	return b.String()
}

func (c Comparison) writeShown(b *strings.Builder) {
	if c.MDE80 != nil {
		fmt.Fprintf(b, "  this test shows a true difference of %.4f four times in five", *c.MDE80)
		for _, p := range c.Power {
			fmt.Fprintf(b, ", of %.2f in %.0f %%", p.Difference, 100*p.Power)
		}
		b.WriteByte('\n')
	}
	if e := c.Equivalence; e != nil {
		verdict := "not shown to be equal"
		if e.Shown {
			verdict = "equal"
		}
		fmt.Fprintf(b, "  %s within %.4f (two one-sided tests, p %s)\n", verdict, e.Margin, share(e.P))
	}
}

func (c Comparison) writeParts(
	b *strings.Builder,
	kind string,
	parts map[string]*Part,
) {
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		p := parts[name]
		fmt.Fprintf(
			b,
			"  %s%s: %s %.4f, %s %.4f; %s\n",
			kind,
			name,
			c.A,
			p.AMean,
			c.B,
			p.BMean,
			p,
		)
	}
}

// String returns the difference with its uncertainty.
func (p Part) String() string {
	if p.Differing == 0 {
		return fmt.Sprintf("no problem of %d differs", p.Problems)
	}
	s := fmt.Sprintf("difference %+.4f on %d problems", p.Difference, p.Problems)
	if p.Groups > 0 {
		s += fmt.Sprintf(" in %d groups", p.Groups)
	}
	if p.CI95 != nil {
		s += fmt.Sprintf(" (95 %%: %+.4f to %+.4f)", p.CI95[0], p.CI95[1])
	}
	return s + fmt.Sprintf(", p %.4g (Holm %.4g)", p.P, p.HolmP)
}

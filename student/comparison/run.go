package comparison

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/internal/evaluation"
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

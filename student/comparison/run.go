package comparison

import (
	"cmp"
	"errors"
	"io/fs"
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
	// Seconds is the time under watch; 0 where nobody watched.
	Seconds float64           `json:"seconds"`
	Cost    evaluation.Amount `json:"cost"`

	spec     student.Spec
	defaults string
	problems []*student.ProblemResult
}

func read(folder string) (r *Run, err error) {
	r = &Run{Name: filepath.ToSlash(filepath.Clean(folder))}
	if r.spec, err = student.ReadSpec(folder); err != nil {
		return nil, err
	}
	r.Model = r.spec.Model
	err = student.EachProblem(folder, func(p *student.ProblemResult) error {
		r.problems = append(r.problems, p)
		return nil
	})
	if err == nil {
		err = corpus.ReadJSON(corpus.Disk{}, filepath.Join(folder, student.SummaryFile), maxReport, &r.Summary)
	}
	if err != nil {
		return nil, err
	}
	var account struct {
		Servers []telemetry.Identity `json:"servers"`
		Usage   telemetry.Usage      `json:"usage"`
		Cost    evaluation.Cost      `json:"cost"`
	}
	err = corpus.ReadJSON(corpus.Disk{}, filepath.Join(folder, student.TelemetryFile), maxReport, &account)
	if errors.Is(err, fs.ErrNotExist) { // scored again in a folder that came without
		err = nil
	}
	r.Seconds, r.Cost, r.defaults = account.Usage.Seconds, account.Cost.Total, defaults(account.Servers)
	return r, err
}

// maxReport is far above what a summary has.
const maxReport = 64 << 20

// mayDiffer are the fields of a spec that are compared: who was asked, and those
// that decide no result. The system prompt is in the harness's hash.
var mayDiffer = []string{"model", "seed", "system", "keep"}

func (r *Run) differences(o *Run) []string {
	all := slices.DeleteFunc(r.spec.Differences(o.spec), func(d string) bool {
		field, _, _ := strings.Cut(d, ":")
		return slices.Contains(mayDiffer, field)
	})
	if r.defaults != o.defaults {
		all = append(all, "server_defaults: "+r.defaults+", "+o.defaults)
	}
	return all
}

// defaults is what servers draw with where they are not told, as far as they say.
func defaults(servers []telemetry.Identity) string {
	var all []string
	for _, s := range servers {
		if s.SamplingDefaults != "" && !slices.Contains(all, s.SamplingDefaults) {
			all = append(all, s.SamplingDefaults)
		}
	}
	return cmp.Or(strings.Join(all, " and "), unknown)
}

package comparison

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/internal/evaluation"
	"github.com/trajectory-arena/arena/student"
	"github.com/trajectory-arena/arena/student/rollout"
	"github.com/trajectory-arena/arena/student/telemetry"
)

// run is a finished run with its results by problem.
type run struct {
	name     string
	spec     student.Spec
	summary  evaluation.Summary
	account  account
	ids      []string
	problems map[string]*problem
}

// problem counts the samples of one problem.
type problem struct {
	category    string
	won, scored int
}

func (p *problem) rate() float64 { return float64(p.won) / float64(p.scored) }

// account is what is used of telemetry.json.
type account struct {
	Servers []telemetry.Identity `json:"servers"`
	Usage   telemetry.Usage      `json:"usage"`
	Cost    evaluation.Cost      `json:"cost"`
}

func read(folder, name string) (r *run, err error) {
	r = &run{name: name, problems: map[string]*problem{}}
	if r.spec, err = student.ReadSpec(folder); err != nil {
		return nil, err
	}
	err = student.EachResult(folder, func(result *rollout.Result) error {
		p := r.problems[result.ProblemID]
		if p == nil {
			p = &problem{category: string(result.Category)}
			r.problems[result.ProblemID], r.ids = p, append(r.ids, result.ProblemID)
		}
		if result.Success != nil {
			p.scored++
			if *result.Success {
				p.won++
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err = readJSON(filepath.Join(folder, student.SummaryFile), &r.summary); err != nil {
		return nil, err
	}
	err = readJSON(filepath.Join(folder, student.TelemetryFile), &r.account)
	if errors.Is(err, fs.ErrNotExist) { // scored again in a folder that came without
		err = nil
	}
	return r, err
}

func readJSON(path string, to any) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read run: %w", err)
	}
	if err := json.Unmarshal(b, to); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

// mayDiffer are the fields of a spec that are compared: who was asked. The system
// prompt is in the harness's hash.
var mayDiffer = []string{"model", "seed", "system"}

// differences names what else differs between two runs.
func (r *run) differences(o *run) []string {
	all := slices.DeleteFunc(r.spec.Differences(o.spec), func(d string) bool {
		field, _, _ := strings.Cut(d, ":")
		return slices.Contains(mayDiffer, field)
	})
	if a, b := r.defaults(), o.defaults(); a != b {
		all = append(all, "server_defaults: "+a+", "+b)
	}
	return all
}

// defaults is what the run's servers draw with where they are not told, as far as
// they say.
func (r *run) defaults() string {
	var all []string
	for _, s := range r.account.Servers {
		if s.SamplingDefaults != "" && !slices.Contains(all, s.SamplingDefaults) {
			all = append(all, s.SamplingDefaults)
		}
	}
	if len(all) == 0 {
		return "unknown"
	}
	return strings.Join(all, " and ")
}

// Row is a run in a series.
type Row struct {
	Name     string `json:"name"`
	Model    string `json:"model"`
	Rollouts int    `json:"rollouts"`
	// Rate is of scored rollouts, Pass has pass@k and pass^k.
	Rate     *float64                       `json:"rate"`
	CI95     *[2]float64                    `json:"ci95"`
	Coverage float64                        `json:"coverage"`
	Pass     map[string]evaluation.PassRate `json:"pass"`
	Partial  int                            `json:"partial_successes"`
	// HallucinatedPerTurn and UnseenPerTurn count product ids.
	HallucinatedPerTurn *float64          `json:"hallucinated_ids_per_turn"`
	UnseenPerTurn       *float64          `json:"unseen_ids_per_turn"`
	Turns               int               `json:"turns"`
	Tokens              evaluation.Tokens `json:"tokens"`
	// Seconds is the time under watch; 0 where nobody watched.
	Seconds float64           `json:"seconds"`
	Cost    evaluation.Amount `json:"cost"`
	Stops   map[string]int    `json:"stops"`
	Labels  map[string]int    `json:"labels"`
	Infra   map[string]int    `json:"infra"`
}

func (r *run) row() Row {
	s := &r.summary
	return Row{
		Name: r.name, Model: r.spec.Model, Rollouts: s.Samples, Rate: s.ASRScored, CI95: s.Clustered95, Coverage: s.Coverage, Pass: s.Pass,
		Partial: s.Partial, HallucinatedPerTurn: known(float64(s.HallucinatedIDs) / float64(s.Turns)), UnseenPerTurn: s.UnseenPerTurn,
		Turns: s.Turns, Tokens: s.Tokens, Seconds: r.account.Usage.Seconds, Cost: r.account.Cost.Total,
		Stops: s.Stops, Labels: s.Labels, Infra: s.Infra,
	}
}

// known is nil for what could not be computed.
func known(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// apart names folders by the ends of their paths, each as long as it takes to tell it
// from the others.
func apart(folders []string) []string {
	names := make([]string, len(folders))
	for i, folder := range folders {
		for n := 1; ; n++ {
			names[i] = end(folder, n)
			alike := func(other string) bool {
				return filepath.Clean(other) != filepath.Clean(folder) && end(other, n) == names[i]
			}
			if !slices.ContainsFunc(folders, alike) {
				break
			}
		}
	}
	return names
}

// end is the last n parts of a path.
func end(folder string, n int) string {
	parts := strings.Split(filepath.ToSlash(filepath.Clean(folder)), "/")
	return strings.Join(parts[max(0, len(parts)-n):], "/")
}

package student

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/internal/evaluation"
	"github.com/trajectory-arena/arena/internal/jsonl"
	"github.com/trajectory-arena/arena/internal/wrong"
	"github.com/trajectory-arena/arena/student/foreign"
)

// Opened returns the folder of each run. A run that is a file or folder of another harness's results is
// read into a folder below temporary first. What is neither is returned as it is.
func Opened(runs []string, temporary func(name string) (string, error)) ([]string, error) {
	folders := slices.Clone(runs)
	for i, path := range runs {
		if _, err := os.Stat(filepath.Join(path, specFile)); err == nil {
			continue
		}
		e, err := foreign.Read(path)
		if errors.Is(err, foreign.ErrUnknown) {
			continue
		}
		if err != nil {
			return nil, err
		}
		parent, err := temporary("arena-run-")
		if err != nil {
			return nil, err
		}
		folders[i] = filepath.Join(parent, strings.TrimSuffix(filepath.Base(filepath.Clean(path)), filepath.Ext(path)))
		if err := writeForeign(folders[i], path, e); err != nil {
			return nil, fmt.Errorf("read results %s: %w", path, err)
		}
	}
	return folders, nil
}

// foreignProblem is a line of problems.jsonl in a folder with another harness's results: the id,
// the request, and the group of the problem. Results at problems of one group are not independent.
type foreignProblem struct {
	ID    string `json:"problem_id"`
	Query string `json:"query"`
	Group string `json:"group"`
}

// writeForeign writes the results e of another harness, read from the path source, as a new folder
// of a finished run.
func writeForeign(folder, source string, e *foreign.Evaluation) error {
	if err := os.Mkdir(folder, 0o700); err != nil {
		return err
	}
	var problems, results []byte
	var inputs []string
	samples := 0
	for i := range e.Rollouts {
		r := &e.Rollouts[i]
		results = append(append(results, asjson.Bytes(r.Result)...), '\n')
		samples = max(samples, r.Sample+1)
		if r.Sample == 0 {
			problems = append(append(problems, asjson.Bytes(foreignProblem{r.ProblemID, r.Request, r.Group})...), '\n')
			inputs = append(inputs, string(asjson.Bytes([]string{r.ProblemID, r.Request})))
		}
	}
	for name, text := range map[string][]byte{problemsFile: problems, resultsFile: results} {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
			return err
		}
	}
	if err := writeConversations(filepath.Join(folder, inspectFile), e.Rollouts); err != nil {
		return err
	}
	slices.Sort(inputs)
	spec := Spec{
		Schema: SpecSchema, Model: e.Model, Samples: samples, Problems: len(inputs), ProblemsSHA256: digest.SHA256([]byte(strings.Join(inputs, "\n"))),
		Harness: e.Harness + " " + e.Task, Scorer: e.Scorer, Source: filepath.ToSlash(filepath.Clean(source)), Settings: e.Settings,
	}
	if err := WriteJSON(filepath.Join(folder, specFile), spec); err != nil {
		return err
	}
	groups, err := readForeignGroups(folder)
	if err != nil {
		return err
	}
	return WriteJSON(filepath.Join(folder, SummaryFile), foreignSummary(e.Rollouts, groups))
}

func foreignSummary(rollouts []foreign.Rollout, g groups) *evaluation.Summary {
	t := newTally(nil, false, g)
	for i := range rollouts {
		r := &rollouts[i].Result
		r.SetScore(r.Score)
		t.add(r)
		if i+1 == len(rollouts) || rollouts[i+1].ProblemID != r.ProblemID {
			t.endProblem()
		}
	}
	return t.summary()
}

// writeConversations writes the messages of rollouts to path as a zipped log of inspect_ai: an
// empty entry in place of its header, and one entry for each rollout.
func writeConversations(path string, rollouts []foreign.Rollout) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	log := zip.NewWriter(f)
	defer wrong.Close(&err, f.Close)
	defer wrong.Close(&err, log.Close)
	if _, err = log.Create("_journal/start.json"); err != nil {
		return err
	}
	for i, r := range rollouts {
		entry, err := log.Create(fmt.Sprintf("samples/%d.json", i))
		if err != nil {
			return err
		}
		sample := map[string]any{"id": r.ProblemID, "epoch": r.Sample + 1, "input": r.Request, "messages": r.Messages}
		if err := json.NewEncoder(entry).Encode(sample); err != nil {
			return err
		}
	}
	return nil
}

// readForeignGroups returns the group number of each problem in a folder with another harness's
// results. It returns nil if there are fewer than two groups. Rewordings are not searched, since
// the detector of rewordings was measured on shopping requests only.
func readForeignGroups(folder string) (groups, error) {
	g := groups{}
	indices := map[string]int{}
	err := jsonl.Each(filepath.Join(folder, problemsFile), func(p foreignProblem) error {
		if _, known := indices[p.Group]; !known {
			indices[p.Group] = len(indices)
		}
		g[p.ID] = indices[p.Group]
		return nil
	})
	if len(indices) < 2 {
		return nil, err
	}
	return g, err
}

package finish

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// WithdrawnName is the name of a report. The report lists training rows of earlier versions of a
// corpus that are protected now. WithdrawnSchema is the version of its format.
const (
	WithdrawnName   = "withdrawn.json"
	WithdrawnSchema = "arena.withdrawn.v1"
)

// Withdrawn lists the earlier versions of a corpus, and the attempts that should not have been
// in their training rows.
type Withdrawn struct {
	Schema string `json:"schema"`
	// Versions are the earlier versions of the corpus, the oldest first.
	Versions []Version `json:"versions"`
	// Rows are the withdrawn attempts, sorted by trace ID. A tombstone stays in all later
	// versions.
	Rows []Tombstone `json:"rows"`
}

// Version is one earlier version of the corpus.
type Version struct {
	// Manifest is the SHA-256 of its manifest. Traces are the SHA-256 of its trace files.
	Manifest string   `json:"manifest_sha256"`
	Traces   []string `json:"traces_sha256"`
}

// Tombstone is the record of one attempt whose training rows were withdrawn.
type Tombstone struct {
	TraceID string `json:"trace_id"`
	// Pool is the pool of the attempt's problem now. If it is "train", only the texts of the
	// attempt are similar to a protected problem.
	Pool guard.Pool `json:"pool"`
	// Match and Tier are the guard's finding. They are empty if there is none.
	Match string     `json:"match,omitempty"`
	Tier  guard.Tier `json:"tier,omitempty"`
	// Spoilt are the manifest hashes of the versions that were built from the attempt's trace
	// file. A model that was trained on one of them may know a protected problem.
	Spoilt []string `json:"spoilt"`
}

// Withdraw checks the training rows of an earlier corpus against the split (state) and the train
// guard (g) of its successor. The report includes what the earlier corpus withdrew. g must find
// its canary. It is nil if nothing is protected.
func Withdraw(
	earlier *Source,
	state *guard.State,
	g *guard.Guard,
) (*Withdrawn, error) {
	if err := g.Canary(); err != nil {
		return nil, err
	}
	w := &withdrawer{
		state:     state,
		guard:     g,
		files:     map[string]string{},
		withdrawn: map[string]bool{},
	}
	w.report = &Withdrawn{Schema: WithdrawnSchema, Rows: []Tombstone{}}
	err := corpus.ReadJSON(earlier.fs, earlier.Path("reports/"+WithdrawnName), maxFileBytes, w.report)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	version := Version{Manifest: earlier.SHA256, Traces: []string{}}
	for _, in := range earlier.Manifest.Inputs {
		if in.Kind == corpus.InputTraces {
			version.Traces = append(version.Traces, in.SHA256)
		}
	}
	w.report.Versions = append(w.report.Versions, version)

	err = Table(earlier, TableAttempts, func(a *rows.Attempt) error {
		w.files[a.TraceID] = a.SourceSHA256
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range w.report.Rows {
		w.withdrawn[w.report.Rows[i].TraceID] = true
	}
	// Pairs and turns are made from the attempts of these two configs.
	if err := viewRows[rows.SFT](earlier, corpus.ProfileHFJSON, w.add); err != nil {
		return nil, err
	}
	if err := viewRows[rows.KTO](earlier, corpus.ProfileKTO, w.add); err != nil {
		return nil, err
	}
	slicesx.SortFunc(w.report.Rows, func(a, b Tombstone) int {
		return cmp.Compare(a.TraceID, b.TraceID)
	})
	return w.report, nil
}

type withdrawer struct {
	state  *guard.State
	guard  *guard.Guard
	report *Withdrawn
	// files maps the trace ID of each attempt to the SHA-256 of its trace file.
	files map[string]string
	// withdrawn has the trace IDs of the attempts in the report.
	withdrawn map[string]bool
}

// add adds to the report of withdrawn attempts those of a training row in an earlier corpus, each
// once. It does so only if the guard drops the row today, or if the row's problem is protected by
// now.
func (w *withdrawer) add(row *RowView) error {
	var finding guard.Finding
	if w.guard != nil {
		finding = w.guard.Check(row.Candidate)
	}
	pool := cmp.Or(w.state.Pool(row.Cluster), guard.PoolTrain)
	if !finding.Drop && pool == guard.PoolTrain {
		return nil
	}
	for _, id := range row.Sessions {
		if w.withdrawn[id] {
			continue
		}
		w.withdrawn[id] = true
		t := Tombstone{
			TraceID: id,
			Pool:    pool,
			Match:   finding.Match,
			Tier:    finding.Tier,
			Spoilt:  w.report.versionsWith(w.files[id]),
		}
		w.report.Rows = append(w.report.Rows, t)
	}
	return nil
}

// versionsWith returns those earlier versions of a corpus that were built from a certain trace
// file. file is the SHA-256 of the trace file; versions are named by the hash of their manifest.
func (w *Withdrawn) versionsWith(file string) []string {
	out := []string{}
	for _, v := range w.Versions {
		if slices.Contains(v.Traces, file) {
			out = append(out, v.Manifest)
		}
	}
	return out
}

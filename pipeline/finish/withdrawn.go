package finish

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/guard"
)

// WithdrawnName is the report on rows that earlier versions of a corpus train on
// and that are protected now; WithdrawnSchema is its version.
const (
	WithdrawnName   = "withdrawn.json"
	WithdrawnSchema = "arena.withdrawn.v1"
)

// Withdrawn names a corpus's earlier versions and what none of them should have trained on.
type Withdrawn struct {
	Schema string `json:"schema"`
	// Versions are the corpora that this one follows, the first one first.
	Versions []Version `json:"versions"`
	// Rows are by attempt. A tombstone stays in all later versions.
	Rows []Tombstone `json:"rows"`
}

// Version is one earlier corpus.
type Version struct {
	// Manifest is the sha256 of its manifest, Traces those of its files of traces.
	Manifest string   `json:"manifest_sha256"`
	Traces   []string `json:"traces_sha256"`
}

// Tombstone stands for an attempt whose rows were trained on.
type Tombstone struct {
	TraceID string `json:"trace_id"`
	// Pool is where its problem is now; train where only its texts come near a
	// protected problem.
	Pool guard.Pool `json:"pool"`
	// Match and Tier are what the guard found; empty where it found nothing.
	Match string     `json:"match,omitempty"`
	Tier  guard.Tier `json:"tier,omitempty"`
	// Spoilt are the sha256 of the manifests of the versions that were built of its file, so
	// that a model trained on one of them may know a protected problem.
	Spoilt []string `json:"spoilt"`
}

// Withdraw holds the training rows of an earlier corpus, and what that one
// withdrew, against the split and the guard of the one that follows it, which
// catches its canary first; g is nil where nothing is protected.
func Withdraw(earlier *Source, state *guard.State, g *guard.Guard) (*Withdrawn, error) {
	w := &Withdrawn{Schema: WithdrawnSchema, Rows: []Tombstone{}}
	if err := g.Canary(); err != nil {
		return nil, err
	}
	err := corpus.ReadJSON(earlier.fs, earlier.Path("reports/"+WithdrawnName), most, w)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	version := Version{Manifest: earlier.SHA256, Traces: []string{}}
	for _, in := range earlier.Manifest.Inputs {
		if in.Kind == corpus.InputTraces {
			version.Traces = append(version.Traces, in.SHA256)
		}
	}
	w.Versions = append(w.Versions, version)
	files, gone := map[string]string{}, map[string]bool{}
	err = Table(earlier, TableAttempts, func(a *rows.Attempt) error {
		files[a.TraceID] = a.SourceSHA256
		return nil
	})
	for i := range w.Rows {
		gone[w.Rows[i].TraceID] = true
	}
	see := func(s *Seen) error {
		var found guard.Finding
		if g != nil {
			found = g.Check(s.Candidate)
		}
		pool := cmp.Or(state.Pool(s.Cluster), guard.PoolTrain)
		for _, id := range s.Sessions {
			if (found.Drop || pool != guard.PoolTrain) && !gone[id] {
				gone[id] = true
				w.Rows = append(w.Rows, Tombstone{TraceID: id, Pool: pool, Match: found.Match, Tier: found.Tier, Spoilt: w.of(files[id])})
			}
		}
		return nil
	}
	if err == nil { // pairs are made of the same attempts as labels
		err = errors.Join(eachRow[rows.SFT](earlier, corpus.ProfileHFJSON, see), eachRow[rows.KTO](earlier, corpus.ProfileKTO, see))
	}
	slices.SortFunc(w.Rows, func(a, b Tombstone) int { return cmp.Compare(a.TraceID, b.TraceID) })
	return w, err
}

func (w *Withdrawn) of(file string) []string {
	out := []string{}
	for _, v := range w.Versions {
		if slices.Contains(v.Traces, file) {
			out = append(out, v.Manifest)
		}
	}
	return out
}

// Package corpus turns what a run kept into folders that trainers load at once:
// Parquet shards of package rows, the manifest, the dataset card, and the check
// of every promise that they make.
//
// A corpus is written in two steps that may run on different machines. Each
// Part writes the shards of one partition of the rows and closes with a
// part.json; Assemble gives the shards of all parts their final names, adds the
// card and the manifest, and moves the finished folder into place.
package corpus

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
)

// SchemaVersion names the types of package rows in every manifest. Another
// layout of rows is another file there and another version.
const SchemaVersion = "arena.rows.v1"

// ManifestVersion names the layout of manifest.json itself.
const ManifestVersion = manifestFamily + "v1"

const manifestFamily = "arena.corpus."

// The splits of a corpus. Clusters that are never touched are in none.
const (
	SplitTrain = "train"
	SplitEval  = "eval"
)

// The profiles that a build writes, stepwise where it is asked to. Package export
// has the others.
const (
	ProfileHFJSON   = "hf-json"
	ProfileVerlRL   = "verl-rl"
	ProfilePref     = "pref"
	ProfileKTO      = "kto"
	ProfileStepwise = "stepwise"
)

// Derived reports whether a config holds turns that were cut out of the rows of
// another config of the same corpus: nothing else is made from them.
func Derived(config string) bool { return strings.HasSuffix(config, "_turns") }

// ManifestName is the file that makes a folder a corpus. It is written last.
const ManifestName = "manifest.json"

// BankName is the file of clusters and their pools: what a corpus keeps out of
// training, which whatever is made of it keeps out too.
const BankName = "bank.json"

// maxManifest bounds what is read of a manifest or a part's marker: over half
// a million files.
const maxManifest = 256 << 20

// Manifest says what a corpus is made of and how it was made. It holds no
// clock and no host: the same input and configuration give the same bytes.
type Manifest struct {
	Version  string `json:"version"`
	Pipeline string `json:"pipeline_version"`
	// Schemas are the fingerprints of the row types, by config or by table.
	Schemas map[string]string `json:"schemas"`
	// Configuration is the complete configuration of the run, and its hash.
	Configuration       json.RawMessage `json:"configuration"`
	ConfigurationSHA256 string          `json:"configuration_sha256"`
	Inputs              []Input         `json:"inputs"`
	Funnel              []Stage         `json:"funnel"`
	// Redaction is nil where texts were left as they are.
	Redaction *Redaction  `json:"redaction,omitempty"`
	Files     []FileEntry `json:"files"`
}

// The kinds of inputs by which a manifest names what its corpus was made of: a
// file of traces, and the corpus that it follows; and what it was guarded against: a
// held-out file, and the bank that a published corpus leaves at home.
const (
	InputTraces  = "traces"
	InputParent  = "parent"
	InputHeldOut = "held_out"
	InputBank    = "private_bank"
)

// Input is one file that was read, named by its content.
type Input struct {
	Kind    string `json:"kind"`
	SHA256  string `json:"sha256"`
	Bytes   int64  `json:"bytes"`
	Records int64  `json:"records"`
}

// Stage is one line of the funnel. In = Out + Failed + the sum of Dropped, and
// each stage takes in what the one before let out.
type Stage struct {
	Name   string `json:"stage"`
	In     int64  `json:"in"`
	Out    int64  `json:"out"`
	Failed int64  `json:"failed"`
	// Failures counts the failed by reason; they sum up to Failed.
	Failures map[string]int64 `json:"failures"`
	Dropped  map[string]int64 `json:"dropped"`
	// Unreadable is the share of the records that could not be read, 0 to 1, where
	// what a file that ended early has lost counts as much as was read of it;
	// CutFiles counts those files. Only the stage that reads has them.
	Unreadable float64 `json:"unreadable,omitempty"`
	CutFiles   int64   `json:"files_ended_early,omitempty"`
}

// FileEntry is one file of the corpus. Shards have Config, Profile and Split;
// Rows is nil where the file holds none.
type FileEntry struct {
	Config  string `json:"config,omitempty"`
	Profile string `json:"profile,omitempty"`
	Split   string `json:"split,omitempty"`
	Path    string `json:"path"`
	Rows    *int64 `json:"rows,omitempty"`
	Bytes   int64  `json:"bytes"`
	SHA256  string `json:"sha256"`
}

// ReadManifest reads the manifest of a corpus. A folder without one is no
// corpus. Its paths stay within the folder.
func ReadManifest(fsys FS, dir string) (*Manifest, error) {
	name := filepath.Join(dir, ManifestName)
	var m Manifest
	if err := ReadJSON(fsys, name, maxManifest, &m); err != nil {
		return nil, err
	}
	if m.Version != ManifestVersion {
		return nil, fmt.Errorf("read %s: version %q, want %q", name, m.Version, ManifestVersion)
	}
	for _, f := range m.Files {
		if !filepath.IsLocal(filepath.FromSlash(f.Path)) {
			return nil, fmt.Errorf("read %s: path %q leaves the folder", name, f.Path)
		}
	}
	return &m, nil
}

// EncodeReport gives the text of a report as people read it: JSON on lines of
// its own, with nothing escaped for HTML.
func EncodeReport(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encode report: %w", err)
	}
	return b.Bytes(), nil
}

// Balance checks the funnel's arithmetic: nothing appears, nothing vanishes.
func Balance(funnel []Stage) error {
	for i, s := range funnel {
		sum := s.Out + s.Failed
		for _, n := range s.Dropped {
			sum += n
		}
		if s.In != sum {
			return fmt.Errorf("check funnel: stage %s takes in %d and accounts for %d", s.Name, s.In, sum)
		}
		if i > 0 && s.In != funnel[i-1].Out {
			return fmt.Errorf("check funnel: stage %s takes in %d, stage %s let out %d", s.Name, s.In, funnel[i-1].Name, funnel[i-1].Out)
		}
	}
	return nil
}

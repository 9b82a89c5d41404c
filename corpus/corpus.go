// Package corpus writes corpora, folders that trainers can load: Parquet shards with the
// rows of package rows, a manifest and a dataset card.
//
// A corpus is written in two steps, which may run on different machines. A Part writes
// the shards of one partition of the rows and a part.json. Assemble names the shards of
// all parts, adds card and manifest and moves the finished folder into place.
package corpus

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
)

// SchemaVersion is the version of the types of package rows, in every manifest. Other
// types need another version.
const SchemaVersion = "arena.rows.v1"

// ManifestVersion is the version of the format of manifest.json.
const ManifestVersion = manifestFamily + "v1"

// manifestFamily is the prefix of every manifest version, by which a corpus of any version is
// recognised.
const manifestFamily = "arena.corpus."

// The splits of a corpus. Protected clusters are in neither.
const (
	SplitTrain = "train"
	SplitEval  = "eval"
)

// The profiles that builds write, stepwise only on request. Package export has the
// others.
const (
	ProfileHFJSON   = "hf-json"
	ProfileVerlRL   = "verl-rl"
	ProfilePref     = "pref"
	ProfileKTO      = "kto"
	ProfileStepwise = "stepwise"
)

// IsDerived reports whether the rows of a config are single turns of the rows of another
// config. Other formats are not derived from them.
func IsDerived(config string) bool { return strings.HasSuffix(config, "_turns") }

// ManifestName is the file that makes a folder a corpus. It is written last.
const ManifestName = "manifest.json"

// BankName is the file of the protected clusters, which are excluded from training in a
// corpus and in everything derived from it.
const BankName = "bank.json"

// maxManifestBytes is the maximum size of a manifest or part.json that is read. It suffices for
// half a million files.
const maxManifestBytes = 256 << 20

// Manifest describes the files of a corpus and the run that wrote them. It contains no
// time and no host: the same input and configuration give the same bytes.
type Manifest struct {
	Version  string `json:"version"`
	Pipeline string `json:"pipeline_version"`
	// Schemas are the fingerprints of the row types, by config or by table.
	Schemas map[string]string `json:"schemas"`
	// Configuration is the complete configuration of the run.
	Configuration json.RawMessage `json:"configuration"`
	// Domains are the domains of the attempts of a build.
	Domains []Domain `json:"domains,omitempty"`
	// Instruments are the judges and embeddings that measured the attempts of a build.
	Instruments json.RawMessage `json:"instruments,omitempty"`
	// ConfigurationSHA256 is the hash of Configuration and Instruments.
	ConfigurationSHA256 string  `json:"configuration_sha256"`
	Inputs              []Input `json:"inputs"`
	Funnel              []Stage `json:"funnel"`
	// Redaction is nil if texts were not redacted.
	Redaction *Redaction  `json:"redaction,omitempty"`
	Files     []FileEntry `json:"files"`
}

// Domain is a domain of attempts. SHA256 is the hash of its file. NotMeasured are the instruments
// that were off, since they were not measured on the domain.
type Domain struct {
	Name        string   `json:"name"`
	SHA256      string   `json:"sha256"`
	Attempts    int64    `json:"attempts"`
	NotMeasured []string `json:"not_measured,omitempty"`
}

// The kinds of inputs.
const (
	InputTraces  = "traces"       // a file of traces
	InputParent  = "parent"       // the previous corpus
	InputHeldOut = "held_out"     // a held-out file that the rows were checked against
	InputBank    = "private_bank" // the bank that a published corpus does not contain
)

// Input is a file that was read, identified by its content.
type Input struct {
	Kind    string `json:"kind"`
	SHA256  string `json:"sha256"`
	Bytes   int64  `json:"bytes"`
	Records int64  `json:"records"`
}

// Stage is a stage of the funnel. In = Out + Failed + the sum of Dropped, and In of a
// stage is Out of the previous one.
type Stage struct {
	Name   string `json:"stage"`
	In     int64  `json:"in"`
	Out    int64  `json:"out"`
	Failed int64  `json:"failed"`
	// Failures counts failures by reason; their sum is Failed.
	Failures map[string]int64 `json:"failures"`
	Dropped  map[string]int64 `json:"dropped"`
	// NotMeasured counts the attempts that passed the stage although its instrument, which was
	// not measured on their domain, was off.
	NotMeasured int64 `json:"not_measured,omitempty"`
	// Unreadable is the fraction of records that could not be read, 0 to 1. A file that
	// ended early counts as having lost as many records as were read of it. CutFiles is
	// the number of those files. Only the reading stage has both.
	Unreadable float64 `json:"unreadable,omitempty"`
	CutFiles   int64   `json:"files_ended_early,omitempty"`
	// Stripped counts the records of Out whose rows have no thinking, because no model said
	// it.
	Stripped int64 `json:"thinking_stripped,omitempty"`
}

// FileEntry describes a file of the corpus. Only shards have Config, Profile and Split.
// Rows is nil if the file has no rows.
type FileEntry struct {
	Config  string `json:"config,omitempty"`
	Profile string `json:"profile,omitempty"`
	Split   string `json:"split,omitempty"`
	Path    string `json:"path"`
	Rows    *int64 `json:"rows,omitempty"`
	Bytes   int64  `json:"bytes"`
	SHA256  string `json:"sha256"`
}

// ReadManifest reads the manifest of a corpus and checks its version and that its paths
// do not leave the folder.
func ReadManifest(fsys FS, dir string) (*Manifest, error) {
	name := filepath.Join(dir, ManifestName)
	var m Manifest
	if err := ReadJSON(fsys, name, maxManifestBytes, &m); err != nil {
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

// EncodeReport returns a report as indented JSON, without the escapes that only HTML
// needs.
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

// CheckFunnel checks that the counts of each stage add up and match the previous stage.
func CheckFunnel(funnel []Stage) error {
	for i, s := range funnel {
		sum := s.Out + s.Failed
		for _, n := range s.Dropped {
			sum += n
		}
		if s.In != sum {
			return fmt.Errorf("check funnel: stage %s takes in %d and accounts for %d", s.Name, s.In, sum)
		}
		if i > 0 && s.In != funnel[i-1].Out {
			return fmt.Errorf(
				"check funnel: stage %s takes in %d, stage %s let out %d",
				s.Name,
				s.In,
				funnel[i-1].Name,
				funnel[i-1].Out,
			)
		}
	}
	return nil
}

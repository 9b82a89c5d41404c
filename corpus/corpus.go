// Package corpus writes corpora. A corpus is a folder that trainers can load: Parquet shards
// with the rows of package rows, a manifest and a dataset card.
//
// A corpus is written in two steps, which may run on different machines. A Part writes the
// shards of one partition of the rows and the file part.json. Assemble names the shards of all
// parts, adds card and manifest, and moves the finished folder to its destination.
package corpus

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/trajectory-arena/arena/internal/asjson"
)

// SchemaVersion is the version of the types of package rows, which every manifest records. A
// change of the types needs a new version.
const SchemaVersion = "arena.rows.v1"

// ManifestVersion is the version of the format of manifest.json.
const ManifestVersion = manifestFamily + "v1"

// manifestFamily is the prefix of all manifest versions. Corpora of any version are recognised
// by it.
const manifestFamily = "arena.corpus."

// The splits of a corpus. Protected clusters are in neither split.
const (
	SplitTrain = "train"
	SplitEval  = "eval"
)

// The profiles that builds write, stepwise only on request, and one of an export. Package export has
// all others.
const (
	ProfileHFJSON   = "hf-json"
	ProfileVerlRL   = "verl-rl"
	ProfilePref     = "pref"
	ProfileKTO      = "kto"
	ProfileStepwise = "stepwise"
	// ProfileWeighted is the export profile of attempts with a weight for each row and for each
	// turn. Its messages and tools are JSON values, as those of hf-json are.
	ProfileWeighted = "sft_weighted"
)

// IsDerived reports whether the rows of a config are single turns of another config's rows.
// Other formats are not made from such configs.
func IsDerived(config string) bool { return strings.HasSuffix(config, "_turns") }

// ManifestName is the name of the file by which a folder is recognised as a corpus. It is
// written last.
const ManifestName = "manifest.json"

// BankName is the name of the file with the protected clusters. These are excluded from training
// in a corpus and in everything made from it.
const BankName = "bank.json"

// MaxManifestBytes is the maximum size of a manifest or part.json that is read. It suffices for
// half a million files.
const MaxManifestBytes = 256 << 20

// Manifest describes the files of a corpus and the run that wrote them. It contains no time and
// no host name, so that the same input and configuration give the same bytes.
type Manifest struct {
	Version  string `json:"version"`
	Pipeline string `json:"pipeline_version"`
	// Schemas are the fingerprints of the row types, by config or table.
	Schemas map[string]string `json:"schemas"`
	// Configuration is the complete configuration of the run.
	Configuration json.RawMessage `json:"configuration"`
	// Domains are the domains of the attempts.
	Domains []Domain `json:"domains,omitempty"`
	// Instruments are the judges and embedding models that measured the attempts of a build.
	Instruments json.RawMessage `json:"instruments,omitempty"`
	// ConfigurationSHA256 is the hash of Configuration and Instruments.
	ConfigurationSHA256 string `json:"configuration_sha256"`
	// CommandSHA256 is the hash of the command that made the corpus of other corpora, with the
	// contents that it read. The same command, given once more, has nothing to do.
	CommandSHA256 string  `json:"command_sha256,omitempty"`
	Inputs        []Input `json:"inputs"`
	Funnel        []Stage `json:"funnel"`
	// Redaction is nil if texts were not redacted.
	Redaction *Redaction  `json:"redaction,omitempty"`
	Files     []FileEntry `json:"files"`
}

// The kinds of inputs.
const (
	InputTraces  = "traces"       // a file of traces
	InputParent  = "parent"       // the previous corpus
	InputHeldOut = "held_out"     // a held-out file that the rows were checked against
	InputBank    = "private_bank" // the bank that a published corpus does not contain
)

// Input is an input file, identified by its content.
type Input struct {
	Kind    string `json:"kind"`
	SHA256  string `json:"sha256"`
	Bytes   int64  `json:"bytes"`
	Records int64  `json:"records"`
}

// Stage is one stage of the funnel. In is Out + Failed + the sum of Dropped. In of a stage is
// equal to Out of the previous stage.
type Stage struct {
	Name   string `json:"stage"`
	In     int64  `json:"in"`
	Out    int64  `json:"out"`
	Failed int64  `json:"failed"`
	// Failures counts failures by reason. Their sum is Failed.
	Failures map[string]int64 `json:"failures"`
	Dropped  map[string]int64 `json:"dropped"`
	// NotMeasured counts the attempts that passed the stage because its instrument was off: the
	// instrument was not measured on their domain.
	NotMeasured int64 `json:"not_measured,omitempty"`
	// Drawn counts the attempts that cannot become rows and were drawn for grading, NotAsked those
	// that were not. Only the judge's stage has both.
	Drawn    int64 `json:"drawn,omitempty"`
	NotAsked int64 `json:"not_asked,omitempty"`
	// Undecided counts the attempts whose grade is withheld, since it is not known whether a model
	// wrote their thinking. Only the judge's stage has it.
	Undecided int64 `json:"thinking_undecided,omitempty"`
	// Unreadable is the share of records, from 0 to 1, that could not be read. A truncated file
	// counts as having lost as many records as were read from it. CutFiles is the number of
	// truncated files. Only the reading stage has both.
	Unreadable float64 `json:"unreadable,omitempty"`
	CutFiles   int64   `json:"files_ended_early,omitempty"`
	// Stripped counts the records of Out whose rows have no thinking, because no model wrote it.
	Stripped int64 `json:"thinking_stripped,omitempty"`
}

// FileEntry is the entry of one file of the corpus. Only shards have Config, Profile and Split.
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

// ReadManifest reads the manifest of a corpus. It returns an error if the version is another
// one, or if a path leaves the folder.
func ReadManifest(fsys FS, dir string) (*Manifest, error) {
	name := filepath.Join(dir, ManifestName)
	var m Manifest
	if err := ReadJSON(fsys, name, MaxManifestBytes, &m); err != nil {
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

// EncodeReport returns a report as indented JSON, without the escapes that only HTML needs.
func EncodeReport(v any) ([]byte, error) {
	var b bytes.Buffer
	e := asjson.NewEncoder(&b)
	e.SetIndent("", " ")
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encode report: %w", err)
	}
	return b.Bytes(), nil
}

// CheckFunnel returns an error unless the counts of each stage add up and match those of the
// previous stage.
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

// Package corpus turns what a run kept into folders that trainers load at once:
// Parquet shards of package rows, the manifest, the dataset card, and the check
// of every promise that they make.
//
// A corpus is written in two steps that may run on different machines. Each
// Part writes the shards of one partition of the rows and closes with a
// part.json; Assemble gives the shards of all parts their final names, adds the
// card and the manifest, and moves the finished folder into place.
package corpus

import "strings"

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

package pipeline_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/internal/longtest"
)

// TestImportAndBuildHaveTheSameLedger imports and builds the same folders: the ledger of each
// attempt is the same except for the decision, the cluster, the rank and the number of tokens.
func TestImportAndBuildHaveTheSameLedger(t *testing.T) {
	t.Parallel()
	harbor := t.TempDir()
	writeHarborJob(t, harbor)
	trials := t.TempDir()
	writeTrials(t, trials)
	const newer = `{"schema_version":"ATIF-v9.9","session_id":"z","steps":[]}`
	if err := os.WriteFile(filepath.Join(trials, "newer.json"), []byte(newer), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, day := range map[string]string{
		"trials": trials,
		"harbor": harbor,
		"tau":    "shared/data/real/tau-bench",
		"packs":  "shared/cases/domains/pack",
		"code":   "shared/cases/domains/code",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if part, found := strings.CutPrefix(day, "shared/"); found {
				day = longtest.Shared(t, part)
			}
			r := newForeignRun(t, day, "")
			r.Config.MaxUnreadable = 1
			built := build(t, r)
			dir, imported := imports(t, day)
			if name == "trials" && len(built.Refused) != 1 {
				t.Errorf("refused: %v", built.Refused)
			}
			if diff := cmp.Diff(built.Refused, imported.Refused); diff != "" {
				t.Errorf("refused: %s", diff)
			}
			decided := cmpopts.IgnoreFields(rows.Attempt{}, "Fate", "Stage", "Reason", "Split", "Cluster", "Rank", "NTokens", "TokenCounter")
			sameRows(t, r.Out, dir, "attempts", func(a *rows.Attempt) string { return a.TraceID + a.RecordSHA256 }, decided)
			sameRows(t, r.Out, dir, "outcomes", func(o *rows.Outcome) string { return o.TraceID })
			sameRows(t, r.Out, dir, "declared", func(d *rows.Declared) string { return d.TraceID })
			sameLosses(t, r.Out, dir)
		})
	}
}

// sameRows compares a table of two corpora row by row. Either may lack the table.
func sameRows[T any](t *testing.T, built, imported, table string, key func(*T) string, options ...cmp.Option) {
	t.Helper()
	byKey := func(dir string) map[string]T {
		out := map[string]T{}
		path := "tables/" + table + ".parquet"
		if _, err := os.Stat(filepath.Join(dir, path)); err != nil {
			return out
		}
		for _, row := range readRows[T](t, dir, path) {
			out[key(&row)] = row
		}
		return out
	}
	if diff := cmp.Diff(byKey(built), byKey(imported), options...); diff != "" {
		t.Errorf("%s, - build, + import: %.3000s", table, diff)
	}
}

// sameLosses compares the metadata of the rows that both corpora have.
func sameLosses(t *testing.T, built, imported string) {
	t.Helper()
	metadata := map[string]string{}
	for _, row := range readRows[rows.SFT](t, imported, "data/sft/train-00000-of-00001.parquet") {
		metadata[row.SessionID] = row.Metadata
	}
	compared := 0
	for _, row := range readRows[rows.SFT](t, built, "data/sft/train-00000-of-00001.parquet") {
		for _, field := range []string{"domain", "shape", "declared_reward", "derived_tools", "lost", "record_sha256"} {
			got := gjson.Get(metadata[row.SessionID], field).Raw
			want := gjson.Get(row.Metadata, field).Raw
			if got != want && (field != "lost" || want == "") { // a build merges messages into results, which loses less
				t.Errorf("%s: %s is %s in the import, %s in the build", row.SessionID, field, got, want)
			}
			compared++
		}
	}
	if compared == 0 {
		t.Error("no row")
	}
}

package corpus_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/corpus/verify"
)

func edit(t *testing.T, path string, change func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ok(t, os.WriteFile(path, change(b), 0o600))
}

func replace(old, with string) func([]byte) []byte {
	return func(b []byte) []byte { return bytes.Replace(b, []byte(old), []byte(with), 1) }
}

// TestVerifyNamesWhatIsBroken breaks a corpus in one way at a time.
func TestVerifyNamesWhatIsBroken(t *testing.T) {
	t.Parallel()
	const shard = "data/sft/train-00000-of-00001.parquet"
	for name, c := range map[string]struct {
		harm func(t *testing.T, dir string)
		path string
		name string
	}{
		"a flipped byte": {func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, shard), func(b []byte) []byte { b[len(b)/2] ^= 1; return b })
		}, shard, "sha256"},
		"a cut shard": {func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, shard), func(b []byte) []byte { return b[:len(b)-1] })
		}, shard, "bytes, the manifest says"},
		"a deleted shard": {func(t *testing.T, dir string) {
			ok(t, os.Remove(filepath.Join(dir, shard)))
		}, shard, "missing"},
		"a stray file": {func(t *testing.T, dir string) {
			ok(t, os.WriteFile(filepath.Join(dir, "data/sft/train-00009-of-00009.parquet"), nil, 0o600))
		}, "data/sft/train-00009-of-00009.parquet", "does not name"},
		"an edited card count": {func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, corpus.CardName), replace("num_examples: 3", "num_examples: 4"))
		}, corpus.CardName, "num_examples 4"},
		"a card of brackets": {func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, corpus.CardName), replace("---\n", "---\na: "+strings.Repeat("[", 1<<20)+"\n"))
		}, corpus.CardName, "not readable: 1048576 lists"},
		"a card without a shard": {func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, corpus.CardName), replace("- "+shard, "- data/other.parquet"))
		}, corpus.CardName, shard},
		"a funnel that loses rows": {func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, corpus.ManifestName), replace(`"out": 3`, `"out": 2`))
		}, corpus.ManifestName, "accounts for 2"},
		"an edited row count": {func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, corpus.ManifestName), replace(`"rows": 3`, `"rows": 5`))
		}, "data/kto/eval-00000-of-00001.parquet", "3 rows"},
		"another schema": {func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, corpus.ManifestName), replace(`"sft": "`, `"sft": "0`))
		}, shard, "schema"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := write(t, corpus.Disk{}, t.TempDir(), 3)
			if err != nil {
				t.Fatal(err)
			}
			c.harm(t, s.dir)
			findings, err := verify.Corpus(context.Background(), corpus.Disk{}, s.dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range findings {
				if f.Path == c.path && strings.Contains(f.What, c.name) {
					return
				}
			}
			t.Fatalf("found %v, not %q in %s", findings, c.name, c.path)
		})
	}
}

// TestVerifyFindsLeaks writes one cluster and one product to both splits.
func TestVerifyFindsLeaks(t *testing.T) {
	t.Parallel()
	truth := `{"reward":[{"product_id":"77"}]}`
	dir := twoSplits(t, func(split string) rows.RL {
		r := rows.RL{RewardModel: rows.RewardModel{Truth: truth}}
		r.ProblemID = split
		r.Cluster = "same"
		return r
	}, nil)
	assertLeaks(t, dir, "cluster same", "gold item 77")
}

// TestVerifyHoldsRowsAgainstTheBank checks that verify finds a training row of a protected cluster.
func TestVerifyHoldsRowsAgainstTheBank(t *testing.T) {
	t.Parallel()
	bank := []byte(`{"clusters":[{"id":"train","pool":"never-touch"},{"id":"eval","pool":"eval"},{"id":"other","pool":"eval","product_ids":["of train"]}]}`)
	dir := twoSplits(t, func(split string) rows.RL {
		r := rows.RL{RewardModel: rows.RewardModel{Truth: `{"reward":[{"product_id":"of ` + split + `"}]}`}}
		r.ProblemID = split
		r.Cluster = split
		return r
	}, map[string][]byte{"bank.json": bank})
	assertLeaks(t, dir, "never-touch", `gold item of train is in split train, the bank has it in "eval"`)
}

func twoSplits(t *testing.T, row func(split string) rows.RL, extra map[string][]byte) string {
	t.Helper()
	root := t.TempDir()
	p, err := corpus.NewPart(corpus.Disk{}, filepath.Join(root, "part"), corpus.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	for _, split := range []string{corpus.SplitTrain, corpus.SplitEval} {
		s := corpus.NewShards[rows.RL](p, corpus.Stream{Config: "rl", Profile: corpus.ProfileVerlRL, Split: split})
		r := row(split)
		ok(t, s.Add(&r))
		ok(t, s.Close())
	}
	ok(t, p.Close())
	dir := filepath.Join(root, "corpus")
	if err := corpus.Assemble(context.Background(), corpus.Disk{}, dir, corpus.Assembly{Parts: []string{filepath.Join(root, "part")},
		Manifest: corpus.Manifest{Configuration: []byte("{}")}, Extra: extra}); err != nil {
		t.Fatal(err)
	}
	return dir
}

func assertLeaks(t *testing.T, dir string, wants ...string) {
	t.Helper()
	findings, err := verify.Corpus(context.Background(), corpus.Disk{}, dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range wants {
		hit := false
		for _, f := range findings {
			hit = hit || f.Leak && strings.Contains(f.What, want)
		}
		if !hit {
			t.Errorf("no leak %q in %v", want, findings)
		}
	}
}

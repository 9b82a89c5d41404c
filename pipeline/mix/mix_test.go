package mix_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/internal/dice"
	"github.com/trajectory-arena/arena/internal/longtest"
	"github.com/trajectory-arena/arena/pipeline/choose"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/pipeline/mix"
)

// mixture mixes sources into a new folder.
func mixture(t *testing.T, change func(*mix.Mix), sources ...mix.Source) (string, *mix.Report, error) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "mixture")
	m := &mix.Mix{Sources: sources, Config: mix.Defaults(), Workers: 2, Target: finish.Target{Out: out, Version: "test", FS: corpus.Disk{}}}
	if change != nil {
		change(m)
	}
	r, err := m.Run(t.Context())
	return out, r, err
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// random are two corpora that share some requests, sessions and clusters.
func random(t *testing.T, seed uint64) (a, b draft) {
	t.Helper()
	d := dice.New(seed)
	for i := range 60 {
		problem := d.N(14)
		r := attempt{
			id: fmt.Sprintf("run-%d/p%d", i, problem), problem: problem, agent: fmt.Sprint("agent-", d.N(4)), tokens: int64(200 + d.N(3000)),
			reward: d.Share(), answer: words(d, 40),
		}
		if d.N(5) == 0 && len(a.rows) > 0 { // the same attempt in both
			r = a.rows[d.N(len(a.rows))]
		}
		if d.N(2) == 0 {
			a.rows = append(a.rows, r)
		} else {
			b.rows = append(b.rows, r)
		}
	}
	for p := range 14 {
		a.pools, b.pools = append(a.pools, pool(d)), append(b.pools, pool(d))
		_ = p
	}
	return a, b
}

// TestMixtureKeepsItsPromises mixes random corpora and checks the result against every property of
// a mixture.
func TestMixtureKeepsItsPromises(t *testing.T) {
	t.Parallel()
	rows := 0
	seeds := longtest.Pick[uint64](12, 4)
	for seed := range seeds {
		a, b := random(t, seed)
		sources := []mix.Source{{Dir: a.write(t), Weight: 0.7}, {Dir: b.write(t), Weight: 0.3}}
		config := mix.Config{PerProblem: 3, PerAgent: 5, Near: 0.8}
		out, r, err := mixture(t, func(m *mix.Mix) { m.Config = config }, sources...)
		if errors.Is(err, choose.ErrEmpty) {
			continue
		}
		must(t, err)
		verified(t, out)
		mixed := sftRows(t, out)
		rows += len(mixed)
		weightsHold(t, r, mixed)
		capsHold(t, mixed, config)
		nothingProtected(t, mixed, a, b)
		provenanceHolds(t, out, mixed, sources)
		again, _, err := mixture(t, func(m *mix.Mix) {
			m.Config = config
			m.Workers = 1
		}, sources[1], sources[0])
		must(t, err)
		if diff := cmp.Diff(files(t, out), files(t, again)); diff != "" {
			t.Errorf("the order of arguments shows: %s", diff)
		}
	}
	if rows < 8*int(seeds) {
		t.Errorf("only %d rows: the corpora test little", rows)
	}
}

// weightsHold checks that each source has its share to within one row.
func weightsHold(t *testing.T, r *mix.Report, mixed []rows.SFT) {
	t.Helper()
	longest := int64(0)
	for _, row := range mixed {
		longest = max(longest, row.NTokens)
	}
	weight := map[string]float64{}
	for _, s := range r.Sources {
		weight[s.Corpus] = s.Weight
	}
	scale := map[string]float64{}
	for _, p := range r.Parts {
		if p.Config == "sft" && p.Split == corpus.SplitTrain && p.TokensOut > 0 {
			scale[p.Corpus] = float64(p.TokensOut) / weight[p.Corpus]
		}
		if p.Split == corpus.SplitEval && p.Dropped["over_weight"]+p.Dropped["problem_cap"]+p.Dropped["agent_cap"]+p.Dropped["near_duplicate"] > 0 {
			t.Errorf("eval is thinned: %v", p.Dropped)
		}
	}
	for one, x := range scale {
		for other, y := range scale {
			if off := (x - y) * weight[one]; off > float64(longest) {
				t.Errorf("%s has %.0f tokens more than its weight against %s; a row has %d at most", one[:8], off, other[:8], longest)
			}
		}
	}
}

func capsHold(t *testing.T, mixed []rows.SFT, c mix.Config) {
	t.Helper()
	problems := map[string]int{}
	agents := map[string]int{}
	sessions := map[string]int{}
	for _, row := range mixed {
		if row.Split == corpus.SplitTrain {
			problems[row.Goal]++
			agents[row.AgentVersion]++
		}
		sessions[row.SessionID]++
	}
	for label, limits := range map[string]struct {
		counts map[string]int
		limit  int
	}{"problem": {problems, c.PerProblem}, "agent": {agents, c.PerAgent}, "session": {sessions, 1}} {
		for name, n := range limits.counts {
			if n > limits.limit {
				t.Errorf("%s %s has %d rows, more than %d", label, name, n, limits.limit)
			}
		}
	}
}

// nothingProtected checks that each row is in the split that both banks allow.
func nothingProtected(t *testing.T, mixed []rows.SFT, a, b draft) {
	t.Helper()
	for _, row := range mixed {
		var p int
		if _, err := fmt.Sscanf(row.ProblemID, "p%d", &p); err != nil {
			t.Fatal(err)
		}
		if want := strictest(a.pools[p], b.pools[p]); row.Split != want {
			t.Errorf("%s is in %s, its cluster in %s", row.SessionID, row.Split, want)
		}
	}
}

func provenanceHolds(t *testing.T, out string, mixed []rows.SFT, sources []mix.Source) {
	t.Helper()
	bySource := map[string][]rows.SFT{}
	for _, s := range sources {
		for _, split := range []string{corpus.SplitTrain, corpus.SplitEval} {
			bySource[corpusDigest(t, s.Dir)+split] = rowsOf[rows.SFT](t, s.Dir, "sft", split)
		}
	}
	bySplit := map[string][]rows.SFT{}
	for _, row := range mixed {
		bySplit[row.Split] = append(bySplit[row.Split], row)
	}
	n := 0
	must(t, corpus.ReadRows(corpus.Disk{}, filepath.Join(out, "tables", "provenance.parquet"), func(p *rows.Provenance) error {
		if p.Config != "sft" {
			return nil
		}
		n++
		row := bySplit[p.Split][p.Row]
		source := bySource[p.SourceCorpus+p.Split][p.SourceRow]
		var meta struct {
			From string `json:"source_corpus"`
		}
		if err := json.Unmarshal([]byte(row.Metadata), &meta); err != nil || meta.From != p.SourceCorpus || row.SessionID != source.SessionID {
			t.Errorf("row %d of %s differs from that of %s: %v", p.Row, p.Split, p.SourcePath, err)
		}
		return nil
	}))
	if n != len(mixed) {
		t.Errorf("%d rows have a source, of %d", n, len(mixed))
	}
}

func TestWhatIsLeftOutIsCounted(t *testing.T) {
	t.Parallel()
	d := dice.New(7)
	text := words(d, 60)
	row := func(id string, problem int, answer string) attempt {
		return attempt{id: id, problem: problem, agent: id, tokens: 100, reward: 1, answer: answer}
	}
	a := draft{pools: []string{"train", "eval", "train", "never-touch", "train"}, rows: []attempt{row("one", 0, text), row("two", 1, words(d, 60)), row("both", 2, words(d, 60))}}
	b := draft{pools: []string{"train", "train", "train", "never-touch", "train"}, rows: []attempt{
		row("both", 2, a.rows[2].answer), row("near", 0, text+" indeed"), row("held", 1, words(d, 60)), row("other", 2, words(d, 60))}}
	worded := row("worded", 4, words(d, 60))
	worded.request = "  " + strings.ToUpper(request(3)) // never-touch in other clothes, in a cluster of train
	b.rows = append(b.rows, worded, row("twin", 4, words(d, 60)))
	out, r, err := mixture(t, func(m *mix.Mix) { m.Config.Where = `n_tokens < 1000` }, mix.Source{Dir: a.write(t), Weight: 1}, mix.Source{Dir: b.write(t), Weight: 9})
	must(t, err)
	verified(t, out)
	got := map[string]int64{}
	for _, p := range r.Parts {
		if p.Config == "sft" {
			for reason, n := range p.Dropped {
				got[reason] += n
			}
		}
	}
	for reason, want := range map[string]int64{"copied_row": 1, "near_duplicate": 1, "protected_cluster": 3} {
		if got[reason] != want {
			t.Errorf("%s: %d, want %d (%v)", reason, got[reason], want, got)
		}
	}
	must(t, corpus.ReadRows(corpus.Disk{}, filepath.Join(out, "tables", "attempts.parquet"), func(x *rows.Attempt) error {
		isDropped := x.Fate == rows.FateDropped && x.Reason == "protected_cluster" && x.Stage == "mix"
		if x.TraceID == "held" && !isDropped {
			t.Errorf("the ledger has %+v", x)
		}
		return nil
	}))
	if _, _, err = mixture(t, func(m *mix.Mix) { m.Config.Where = `n_tokens > 1000` }, mix.Source{Dir: a.write(t), Weight: 1}); !errors.Is(err, choose.ErrEmpty) {
		t.Errorf("nothing was selected: %v", err)
	}
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	a, b := random(t, 3)
	good := a.write(t)
	broken := b.write(t)
	shard := filepath.Join(broken, "tables", "attempts.parquet")
	bytes, err := os.ReadFile(shard)
	must(t, err)
	bytes[len(bytes)/2] ^= 1
	must(t, os.WriteFile(shard, bytes, 0o600))
	a.pools = nil
	for name, sources := range map[string][]mix.Source{
		"does not verify":  {{Dir: good, Weight: 1}, {Dir: broken, Weight: 1}},
		"same corpus":      {{Dir: good, Weight: 1}, {Dir: good, Weight: 2}},
		"want more than 0": {{Dir: good, Weight: 1}, {Dir: broken}}, "there is no source": nil, "infinite": {{Dir: good, Weight: math.Inf(1)}},
		"no source has a bank.json": {{Dir: a.write(t), Weight: 1}},
		"no such file":              {{Dir: good + "x", Weight: 1}},
	} {
		out, _, err := mixture(t, nil, sources...)
		if err == nil || name != "infinite" && !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		leftovers, err := filepath.Glob(out + "*")
		if err != nil || len(leftovers) > 0 {
			t.Errorf("%s: left %v", name, leftovers)
		}
	}
}

// TestSampledFailingStepsLeaveNoHalf lets every thirteenth step of the disk fail in turn, and mixes
// again. Without the tag long it takes every 79th step.
func TestSampledFailingStepsLeaveNoHalf(t *testing.T) {
	t.Parallel()
	a, b := random(t, 5)
	sources := []mix.Source{{Dir: a.write(t), Weight: 1}, {Dir: b.write(t), Weight: 1}}
	uncut, _, err := mixture(t, nil, sources...)
	must(t, err)
	want := files(t, uncut)
	failed := 0
	stride := longtest.Pick(13, 79)
	for step := 1; ; step += stride {
		disk := &faulty{remaining: step}
		out, _, err := mixture(t, func(m *mix.Mix) {
			m.FS = disk
			m.Workers = 1
		}, sources...)
		if err == nil {
			break
		}
		failed++
		// only the last step, after the folder was moved into place, leaves one
		if _, missing := os.Stat(out); missing == nil && !maps.Equal(files(t, out), want) {
			t.Fatalf("step %d: %v, and yet there is half a mixture", step, err)
		}
		m := mix.Mix{Sources: sources, Config: mix.Defaults(), Workers: 2, Target: finish.Target{Out: out, Version: "test", FS: corpus.Disk{}}}
		if _, err = m.Run(t.Context()); err != nil {
			t.Fatalf("after step %d: %v", step, err)
		}
		if got := files(t, out); !maps.Equal(got, want) {
			t.Errorf("after step %d the mixture differs", step)
		}
	}
	if failed < 150/stride {
		t.Errorf("only %d steps failed", failed)
	}
}

package mix_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/corpus/verify"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/internal/dice"
	"github.com/trajectory-arena/arena/internal/digest"
)

// draft is a small corpus before it is written.
type draft struct {
	rows []attempt
	// pools are those of the problems by number; without them there is no bank.
	pools []string
	// tables writes the tables of the ledger for the attempts; nil means empty tables.
	tables func(*testing.T, *corpus.Part)
}

// attempt is a row of sft and kto.
type attempt struct {
	id, agent, answer string
	// request replaces the problem's own.
	request string
	problem int
	tokens  int64
	reward  float64
}

// wishes make requests that the guard distinguishes.
var wishes = []string{"a red kettle of steel", "a blue umbrella for two", "wireless earphones with a long life", "a woollen scarf in green", "a wooden chess set",
	"running shoes of size 42", "a lamp with three arms", "a notebook with squared paper", "a yoga mat of cork", "a bicycle pump", "a tin of loose black tea",
	"a bamboo cutting board", "a silver picture frame", "a pair of garden gloves"}

func request(problem int) string {
	return fmt.Sprintf("Please find me %s below %d dollars.", wishes[problem], 10+7*problem)
}

func spec(problem int) string { return digest.SHA256([]byte(fmt.Sprint("problem ", problem))) }

func words(d *dice.Dice, n int) string {
	var b strings.Builder
	for range n {
		for range 3 + d.N(6) {
			b.WriteByte(byte('a' + d.N(26)))
		}
		b.WriteByte(' ')
	}
	return b.String()
}

func pool(d *dice.Dice) string {
	return []string{"train", "train", "train", "eval", "never-touch"}[d.N(5)]
}

func strictest(a, b string) string {
	for _, p := range []string{"never-touch", "eval"} {
		if a == p || b == p {
			return p
		}
	}
	return "train"
}

// split returns the split of a row in its own corpus; a never-touch row has none.
func (c *draft) split(r attempt) string {
	if c.pools == nil {
		return "train"
	}
	return c.pools[r.problem]
}

func (c *draft) write(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	part, err := corpus.NewPart(corpus.Disk{}, filepath.Join(dir, "part"), corpus.DefaultLimits)
	must(t, err)
	for _, split := range []string{"train", "eval"} {
		add(t, part, corpus.Stream{Config: "sft", Profile: corpus.ProfileHFJSON, Split: split}, pick(c, split, sftRow))
		add(t, part, corpus.Stream{Config: "kto", Profile: corpus.ProfileKTO, Split: split}, pick(c, split, ktoRow))
	}
	var attempts []rows.Attempt
	for _, r := range c.rows {
		attempts = append(attempts, rows.Attempt{TraceID: r.id, ProblemID: fmt.Sprint("p", r.problem), AgentVersion: r.agent, NTokens: r.tokens,
			Fate: rows.FateKept, Split: c.split(r), Cluster: spec(r.problem)})
	}
	add(t, part, corpus.Stream{Table: "attempts"}, attempts)
	if c.tables == nil {
		c.tables = emptyTables
	}
	c.tables(t, part)
	must(t, part.Close())
	extra := map[string][]byte{}
	if c.pools != nil {
		extra["bank.json"] = c.bank(t)
	}
	out := filepath.Join(dir, "corpus")
	must(t, corpus.Assemble(context.Background(), corpus.Disk{}, out, corpus.Assembly{
		Parts: []string{filepath.Join(dir, "part")}, Extra: extra, Manifest: corpus.Manifest{Configuration: []byte("{}")}}))
	return out
}

func (c *draft) bank(t *testing.T) []byte {
	t.Helper()
	s := guard.State{Schema: guard.StateSchema, Shares: guard.DefaultShares()}
	for p, pool := range c.pools {
		x := guard.StateCluster{ID: spec(p), Pool: guard.Pool(pool), Problems: []string{spec(p)}, ItemIDs: []string{fmt.Sprint(1000 + p)}}
		if pool != "train" {
			x.Texts = []string{request(p)}
		}
		s.Clusters = append(s.Clusters, x)
	}
	return s.Encode()
}

func pick[T any](c *draft, split string, row func(attempt, string) T) []T {
	var out []T
	for _, r := range c.rows {
		if c.split(r) == split {
			if r.request == "" {
				r.request = request(r.problem)
			}
			out = append(out, row(r, split))
		}
	}
	return out
}

func origin(r attempt) rows.Origin {
	return rows.Origin{ProblemID: fmt.Sprint("p", r.problem), Cluster: spec(r.problem)}
}

func sftRow(r attempt, split string) rows.SFT {
	ms := []chat.Message{{Role: chat.User, Content: r.request}, {Role: chat.Assistant, Content: r.answer}}
	encoded, err := chat.Encode(ms)
	if err != nil {
		panic(err)
	}
	return rows.SFT{Messages: encoded, Metadata: `{"note":1}`, Goal: r.request, Origin: origin(r),
		Scalars: rows.Scalars{SessionID: r.id, Split: split, Reward: r.reward, NTokens: r.tokens, AgentVersion: r.agent}}
}

func ktoRow(r attempt, split string) rows.KTO {
	return rows.KTO{Prompt: []rows.Msg{{Role: chat.User, Content: r.request}}, Completion: []rows.Msg{{Role: chat.Assistant, Content: r.answer}},
		Score: r.reward, NTokens: r.tokens, SessionID: r.id, Split: split, Origin: origin(r)}
}

func add[T any](t *testing.T, part *corpus.Part, s corpus.Stream, rows []T) {
	t.Helper()
	out := corpus.NewShards[T](part, s)
	for i := range rows {
		must(t, out.Add(&rows[i]))
	}
	must(t, out.Close())
}

func emptyTables(t *testing.T, part *corpus.Part) {
	t.Helper()
	add[rows.Verdict](t, part, corpus.Stream{Table: "verdicts"}, nil)
	add[rows.Outcome](t, part, corpus.Stream{Table: "outcomes"}, nil)
	add[rows.Judgement](t, part, corpus.Stream{Table: "judgements"}, nil)
}

func verified(t *testing.T, dir string) {
	t.Helper()
	findings, err := verify.Corpus(t.Context(), corpus.Disk{}, dir)
	must(t, err)
	for _, f := range findings {
		t.Error(f)
	}
}

func rowsOf[T any](t *testing.T, dir, config, split string) []T {
	t.Helper()
	shards, err := filepath.Glob(filepath.Join(dir, "data", config, split+"-*"))
	must(t, err)
	var out []T
	for _, path := range shards {
		must(t, corpus.ReadRows(corpus.Disk{}, path, func(r *T) error {
			out = append(out, *r)
			return nil
		}))
	}
	return out
}

func sftRows(t *testing.T, dir string) []rows.SFT {
	t.Helper()
	return append(rowsOf[rows.SFT](t, dir, "sft", "train"), rowsOf[rows.SFT](t, dir, "sft", "eval")...)
}

func corpusDigest(t *testing.T, dir string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, corpus.ManifestName))
	must(t, err)
	return digest.SHA256(b)
}

// files are the hashes of all files of a folder.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	must(t, fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(filepath.Join(dir, path))
		out[path] = digest.SHA256(b)
		return err
	}))
	return out
}

var errInjected = errors.New("injected")

// faulty is a disk whose n-th step and all after it fail: removing alone works
// again, as it does on a disk that is full.
type faulty struct {
	corpus.Disk
	remaining int
}

func (f *faulty) step() error {
	f.remaining--
	if f.remaining <= 0 {
		return errInjected
	}
	return nil
}

func (f *faulty) MkdirAll(p string) error {
	err := f.step()
	return errors.Join(err, f.Disk.MkdirAll(p))
}

func (f *faulty) SyncDir(string) error { return f.step() }

func (f *faulty) Rename(a, b string) error {
	if err := f.step(); err != nil {
		return err
	}
	return f.Disk.Rename(a, b)
}

func (f *faulty) Open(p string) (corpus.Source, error) {
	if err := f.step(); err != nil {
		return nil, err
	}
	return f.Disk.Open(p)
}

func (f *faulty) Create(p string) (corpus.File, error) {
	if err := f.step(); err != nil {
		return nil, err
	}
	file, err := f.Disk.Create(p)
	return &faultyFile{file, f}, err
}

type faultyFile struct {
	corpus.File
	disk *faulty
}

func (f *faultyFile) Write(b []byte) (int, error) {
	if err := f.disk.step(); err != nil {
		return 0, err
	}
	return f.File.Write(b)
}

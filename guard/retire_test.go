package guard

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	arena "github.com/trajectory-arena/arena"
)

// corpusOf writes a folder with bank.json of state, if any, and one row a split.
func corpusOf(t *testing.T, state *State, train, eval string) string {
	t.Helper()
	dir := t.TempDir()
	data := filepath.Join(dir, "data", "sft")
	if err := os.MkdirAll(data, 0o755); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{filepath.Join(data, "train-00000-of-00001.jsonl"): train, filepath.Join(data, "eval-00000-of-00001.jsonl"): eval}
	if state != nil {
		b, err := state.Encode()
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Join(dir, "bank.json")] = string(b)
	}
	for path, text := range files {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// trainCluster is the first cluster of train with its problem.
func trainCluster(t *testing.T, problems []arena.Problem, state *State) (StateCluster, arena.Problem) {
	t.Helper()
	i := slices.IndexFunc(state.Clusters, func(c StateCluster) bool { return c.Pool == PoolTrain })
	c := state.Clusters[i]
	j := slices.IndexFunc(problems, func(p arena.Problem) bool { return SpecHash(p) == c.Problems[0] })
	return c, problems[j]
}

func TestRotationRetiresCorpora(t *testing.T) {
	t.Parallel()
	const clean = `{"id":"r","text":"an unrelated wish for nine paper lanterns"}`
	problems := things(40)
	state := split(t, problems, nil, 1)
	trained, problem := trainCluster(t, problems, state)
	kettle := kettle()[0]
	for name, c := range map[string]struct {
		bank        []Entry
		state       *State
		train, eval string
		evidence    string
	}{
		"product":       {[]Entry{{ID: "p", Text: "whatever it asks", ProductIDs: trained.ProductIDs}}, state, clean, clean, "is rewarded in train"},
		"specification": {[]Entry{EntryOf("suite", problem, "p")}, state, clean, clean, "specification"},
		"reworded":      {[]Entry{kettle}, nil, `{"id":"r","text":"My stove needs a whistling kettle made of copper that holds two liters, over ₱950"}`, clean, "row r"},
		"answer":        {[]Entry{kettle}, nil, `{"id":"r","text":"tea","response":"take 4110867766"}`, clean, "row r"},
		"cluster": {
			[]Entry{kettle, {ID: "p", Text: "a thing of the same kind", ProductIDs: kettle.ProductIDs}}, nil,
			`{"id":"r","text":"Looking for a copper kettle with a whistle, 2 liters, priced above 950 PHP."}`, clean, "of its cluster",
		},
		"eval only": {[]Entry{kettle}, nil, clean, `{"id":"r","text":"Looking for a copper kettle with a whistle, 2 liters, priced above 950 PHP."}`, ""},
	} {
		r := &Rotation{}
		if err := r.Add(t.Context(), c.bank, move(StageOpen)); err != nil {
			t.Fatal(err)
		}
		corpus := corpusOf(t, c.state, c.train, c.eval)
		if got, err := r.Retires(corpus); err != nil || len(got) != 0 {
			t.Errorf("%s: open problems retire %v: %v", name, got, err)
		}
		if err := r.Add(t.Context(), c.bank, move(StageHeldOut)); err != nil {
			t.Fatal(err)
		}
		got, err := r.Retires(corpus)
		said := slices.ContainsFunc(got, func(p Retirement) bool { return strings.Contains(p.Evidence, c.evidence) })
		if err != nil || said != (c.evidence != "") || len(got) > len(c.bank) {
			t.Errorf("%s: retired by %v: %v", name, got, err)
		}
	}
}

func TestRetiresFailsClosed(t *testing.T) {
	t.Parallel()
	r := &Rotation{}
	if err := r.Add(t.Context(), kettle(), move(StageHeldOut)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Retires(t.TempDir()); !errors.Is(err, ErrNoRows) {
		t.Errorf("a folder without rows: %v", err)
	}
	corpus := corpusOf(t, nil, `{"id":`, "")
	if _, err := r.Retires(corpus); err == nil {
		t.Error("a row that cannot be read is passed")
	}
	if err := os.WriteFile(filepath.Join(corpus, "bank.json"), []byte(`{"schema":"arena.bank.v9"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Retires(corpus); err == nil || !strings.Contains(err.Error(), "v9") {
		t.Errorf("a bank of another version: %v", err)
	}
}

package block_test

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/pipeline/block"
)

func pointer[T any](v T) *T { return &v }

// full is an entry with a value in every field.
func full() *block.Entry {
	x := &block.Entry{
		Source: arena.Source{FileSHA256: "f", Line: 3, Shape: arena.ShapeEnvelope},
		Attempt: block.Attempt{ID: "r/p", RunID: "r", ProblemID: "p", Agent: arena.Agent{VersionID: "v", Hotkey: "h", Suite: "s", StartedAt: "t"},
			RecordSHA256: "abc", Bytes: 9, Status: arena.StatusFailed, ErrorType: "e", Model: "m", Seconds: 1.5, Inferences: -1, Failures: 2,
			HasDialogue: true, Steps: 4, Calls: 5, Query: "q"},
		Problem: 7,
		Sample: filters.Sample{Attempt: 1, Query: 2, Score: -0.5, Evidence: true, Axis: arena.AxisAgentic, Episode: 3, Tools: 4, Asks: 33, Begun: 34, Breadth: 35, Slots: 5,
			Blank: true, Views: 6, TopViews: 7, Picks: 8, FirstPicks: 9, Turns: 10, Cited: 11, Spoken: 12, SpokenCited: 13, Searches: 14,
			Excerpts: 15, Good: 16, GoodAgain: 17, Poor: 18, PoorAgain: 19, Better: 20, Worse: 21, Invented: 22, Prescient: 23, Openings: 24,
			Cheapest: 25, Dearest: 26, BestSold: 27, Asked: 28, Overridden: 29, Judged: 30, AtOnce: 32, Refused: 31, Course: -1, Thoughts: []uint64{10, math.MaxUint64}, Taken: []uint64{3}, Unseen: []uint64{4}, Forms: []uint64{11}},
		Structure: arena.Structure{Keep: true, Axis: arena.AxisAgentic, Confidence: 0.9, Reasons: []string{"a", "b"},
			Verdicts:   []arena.Verdict{{Check: "c_v1", Decision: arena.Drop, Reason: "a", Value: 1, Limit: 2}},
			RichnessV1: pointer(0.0), Features: []arena.Feature{{Name: "n", Value: math.Inf(1)}}},
		Rank:    0.25,
		Outcome: arena.Outcome{Success: true, Titles: arena.TitlesNone, Scores: &arena.Scores{Length: 0.5, Format: 1, Axes: &arena.Axes{Rule: 1, Shop: pointer(0)}}},
		Judgement: arena.Judgement{Judge: "gates_v1", Outcome: arena.JudgeScored, Score: pointer(0.7), Gates: []bool{true, false},
			Spans: []arena.Span{{Gate: 1, Step: 2, Quote: "seen"}}, Model: "m", PromptSHA256: "s", PromptTokens: 1, CompletionTokens: 2,
			CostUSD: pointer(0.1), Cached: true, Detail: "d"},
		Shifts:        []block.Shift{{Probe: "padding", By: pointer(0.2)}, {Probe: "said_twice"}},
		StepJudgement: arena.Judgement{Judge: "steps_v1", Outcome: arena.JudgeScored, Spans: []arena.Span{{Step: 2, Quote: "seen"}}},
		StepNeeds:     block.Needs{Needed: 3, Waste: 2, Unclear: 1},
		Leak:          block.Leak{Match: "m", Bank: "b", Drop: true, Same: true, Score: 1, Tier: "spec", Evidence: "e", Beyond: true},
	}
	x.Body.Tokens = 12
	x.Body.Signature[127] = 5
	return x
}

func write(t *testing.T, dir string, key block.Key, body string, xs ...*block.Entry) {
	t.Helper()
	w, err := block.Create(corpus.Disk{}, dir, key)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range xs {
		if err := w.Add(x, []byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestFullIsFull: the entry that is read back has a value in every field of the
// sample, so that a field the codec forgets is missed.
func TestFullIsFull(t *testing.T) {
	t.Parallel()
	sample := reflect.ValueOf(full().Sample)
	for i := range sample.NumField() {
		if sample.Field(i).IsZero() {
			t.Errorf("full leaves Sample.%s zero", sample.Type().Field(i).Name)
		}
	}
}

func TestAnEntryIsReadBackAsItWasWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fault := &block.Entry{Source: arena.Source{FileSHA256: "f", Line: 1}, Fault: &block.Fault{Reason: "bad_json", Detail: "x"}}
	w, err := block.Create(corpus.Disk{}, dir, block.Key{Input: "i"})
	if err != nil {
		t.Fatal(err)
	}
	want := []*block.Entry{fault, full(), full()}
	for i, x := range want {
		body := []byte("the body of an attempt, the body of an attempt")
		if i == 0 {
			body = nil
		}
		if err = w.Add(x, body); err != nil {
			t.Fatal(err)
		}
	}
	if err = w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := block.Open(corpus.Disk{}, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var got []*block.Entry
	for x, err := range r.Entries() {
		if err != nil {
			t.Fatal(err)
		}
		again, err := r.At(x.Place)
		if err != nil {
			t.Fatal(err)
		}
		x.Place = block.Place{}
		if !reflect.DeepEqual(x, again) {
			t.Errorf("the entry at its place differs: %+v, %+v", again, x)
		}
		got = append(got, x)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v\nwant %+v", got, want)
	}
	bodies, err := block.OpenBodies(corpus.Disk{}, dir)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := bodies.Read(got[2].Body); err != nil || string(b) != "the body of an attempt, the body of an attempt" {
		t.Errorf("body is %q, %v", b, err)
	}
}

func TestEveryFieldOfTheSampleEntryIsSet(t *testing.T) {
	t.Parallel()
	x := reflect.ValueOf(*full())
	for i := range x.NumField() {
		if name := x.Type().Field(i).Name; x.Field(i).IsZero() && name != "Place" && name != "Fault" {
			t.Errorf("field %s of the sample is zero: its codec is not tested", name)
		}
	}
}

func TestStateSaysWhyABlockIsMadeAgain(t *testing.T) {
	t.Parallel()
	key := block.Key{Input: "i", Meta: "m", Config: "c"}
	unscored := full()
	unscored.Judgement.Outcome, unscored.Judgement.Score = arena.JudgeFailed, nil
	damage := func(name string, change func([]byte) []byte) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			path := filepath.Join(dir, name)
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, change(b), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	flip := func(b []byte) []byte { b[len(b)/2] ^= 0xff; return b }
	cut := func(b []byte) []byte { return b[:len(b)-1] }
	for _, c := range []struct {
		name   string
		want   block.Status
		key    block.Key
		damage func(*testing.T, string)
	}{
		{"equal", block.Equal, key, nil},
		{"other configuration", block.ConfigMismatch, block.Key{Input: "i", Meta: "m", Config: "d"}, nil},
		{"other input", block.InputMismatch, block.Key{Input: "j", Meta: "m", Config: "c"}, nil},
		{"other run.json", block.InputMismatch, block.Key{Input: "i", Meta: "n", Config: "c"}, nil},
		{"flipped index", block.Corrupt, key, damage("index", flip)},
		{"flipped words", block.Corrupt, key, damage("words", flip)},
		{"cut bodies", block.Corrupt, key, damage("bodies", cut)},
		{"cut marker", block.Corrupt, key, damage("done.json", cut)},
		{"no marker", block.Missing, key, func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, "done.json")); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir, key, "body", full())
			if c.damage != nil {
				c.damage(t, dir)
			}
			if got, err := block.State(corpus.Disk{}, dir, c.key); got != c.want || err != nil {
				t.Errorf("state is %v, %v; want %v", got, err, c.want)
			}
		})
	}
	dir := t.TempDir()
	write(t, dir, key, "", unscored)
	if got, err := block.State(corpus.Disk{}, dir, key); got != block.Unfinished || err != nil {
		t.Errorf("state of a block with an unscored attempt is %v, %v", got, err)
	}
}

// FuzzReadingABlockNeverPanics reads arbitrary bytes as index and words.
func FuzzReadingABlockNeverPanics(f *testing.F) {
	f.Add([]byte{3, 0, 0, 0}, []byte{1, 1, 'a'})
	f.Fuzz(func(t *testing.T, index, words []byte) {
		dir := t.TempDir()
		for name, b := range map[string][]byte{"index": index, "words": words} {
			if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		r, err := block.Open(corpus.Disk{}, dir)
		if err != nil {
			return
		}
		defer r.Close()
		for _, err := range r.Entries() {
			if err != nil {
				return
			}
		}
	})
}

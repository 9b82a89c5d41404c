package block_test

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/filters/habits"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/pipeline/block"
)

const allParts = block.PartFound | block.PartSample | block.PartStructure

// full is an entry with a value in every field.
func full() *block.Entry {
	x := &block.Entry{}
	n := 0
	fill(reflect.ValueOf(x).Elem(), &n)
	x.Place, x.Fault, x.Leak = block.Place{}, nil, guard.Finding{}
	x.Problem = -1
	x.Sample.Taken[1] = math.MaxUint64
	measure(&x.Structure)
	*x.Seconds = math.Inf(1)
	x.Structure.Features[0].Value = -0.5
	x.Judgement.Detail = strings.Repeat("words longer than a name ", 9)
	x.Judgement.Outcome = arena.JudgeScored
	x.StepJudgement.Outcome = arena.JudgeScored
	return x
}

// measure sets the verdicts and features of s to those of the filter, each with other values.
func measure(s *arena.Structure) {
	filter, err := filters.New(filters.Defaults())
	if err != nil {
		panic(err)
	}
	checked, _ := filter.Check(&arena.Trace{}, &arena.Dialogue{})
	s.Verdicts, s.Features = checked.Verdicts, checked.Features
	for i, c := range filters.Catalogue()[:len(s.Verdicts)] {
		s.Verdicts[i] = arena.Verdict{Check: c.Name, Decision: arena.Keep, Value: float64(i), Limit: -float64(i) / 2}
		if i%2 == 1 {
			s.Verdicts[i].Decision, s.Verdicts[i].Reason = arena.Drop, c.Reason
		}
	}
	for i := range s.Features {
		s.Features[i].Value = float64(i) / 8
	}
}

// fill sets every field under v to a value of its own, and lists to two.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(*n % 256))
	case reflect.Float64:
		v.SetFloat(float64(*n) / 8)
	case reflect.String:
		v.SetString(strconv.Itoa(*n))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Name != "_" {
				fill(v.Field(i), n)
			}
		}
	default:
		panic("no value for " + v.Type().String())
	}
}

func write(t *testing.T, dir string, key block.Key, draft *block.Draft, xs ...*block.Entry) {
	t.Helper()
	w, err := block.Create(corpus.Disk{}, dir, key)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range xs {
		if err := w.Add(x, draft); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestAnEntryIsReadBackAsItWasWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fault := &block.Entry{Head: block.Head{Attempt: rows.Attempt{SourceSHA256: "f", SourceLine: 1}, Fault: &block.Fault{Reason: "bad_json", Detail: "x"}}}
	w, err := block.Create(corpus.Disk{}, dir, block.Key{Input: "i"})
	if err != nil {
		t.Fatal(err)
	}
	draft := &block.Draft{}
	n := 0
	fill(reflect.ValueOf(draft).Elem(), &n)
	want := []*block.Entry{fault, full(), full()}
	for i, x := range want {
		d := draft
		if i == 0 {
			d = nil
		}
		if err = w.Add(x, d); err != nil {
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
	var place block.Place
	for x, err := range r.All(allParts) {
		if err != nil {
			t.Fatal(err)
		}
		again, err := r.Entry(x.Place, block.PartFound)
		if err != nil {
			t.Fatal(err)
		}
		place, x.Place = x.Place, block.Place{}
		copied := *x
		light := *x // until the next
		got = append(got, &copied)
		light.Sample, light.Structure.Verdicts, light.Structure.Features = habits.Sample{}, nil, nil
		if !reflect.DeepEqual(&light, again) {
			t.Errorf("the entry at its place differs: %+v, %+v", again, x)
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v\nwant %+v", got, want)
	}
	for i, x := range heads(t, dir) {
		if !reflect.DeepEqual(x.Head, want[i].Head) || !reflect.ValueOf(x.Judgement).IsZero() {
			t.Errorf("head %d is %+v\nwant %+v", i, x, want[i].Head)
		}
	}
	if _, d, err := r.Draft(place); err != nil || !reflect.DeepEqual(d, draft) {
		t.Errorf("draft is %+v, %v", d, err)
	}
}

func heads(t *testing.T, dir string) []*block.Entry {
	t.Helper()
	r, err := block.Open(corpus.Disk{}, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var entries []*block.Entry
	for x, err := range r.All(0) {
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, new(*x))
	}
	if len(entries) == 0 {
		t.Fatal("no heads")
	}
	return entries
}

func TestStateNamesWhyABlockIsRebuilt(t *testing.T) {
	t.Parallel()
	key := block.Key{Input: "i", Meta: "m", Config: "c"}
	unscored := full()
	unscored.Judgement.Outcome = arena.JudgeFailed
	unscored.Judgement.Score = nil
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
			write(t, dir, key, &block.Draft{Goal: "a mug"}, full())
			if c.damage != nil {
				c.damage(t, dir)
			}
			if got, err := block.State(corpus.Disk{}, dir, c.key); got != c.want || err != nil {
				t.Errorf("state is %v, %v; want %v", got, err, c.want)
			}
		})
	}
	dir := t.TempDir()
	write(t, dir, key, nil, unscored)
	if got, err := block.State(corpus.Disk{}, dir, key); got != block.Unfinished || err != nil {
		t.Errorf("state of a block with an unscored attempt is %v, %v", got, err)
	}
}

// FuzzReadingABlockNeverPanics reads arbitrary bytes as an index.
func FuzzReadingABlockNeverPanics(f *testing.F) {
	f.Add([]byte{3, 1, 0, 0xa0})
	f.Fuzz(func(t *testing.T, index []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "index"), index, 0o644); err != nil {
			t.Fatal(err)
		}
		r, err := block.Open(corpus.Disk{}, dir)
		if err != nil {
			return
		}
		defer r.Close()
		for _, err := range r.All(allParts) {
			if err != nil {
				return
			}
		}
	})
}

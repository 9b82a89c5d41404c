package kl

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/internal/dice"
)

// distributions samples n logits for a teacher and n for a student, whose logits differ from the
// teacher's by normal deviations of sd.
func distributions(d *dice.Dice, n int, sd float64) (t, s []float64) {
	for range n {
		t, s = append(t, 3*normal(d)), append(s, 0)
	}
	for i := range s {
		s[i] = t[i] + sd*normal(d)
	}
	return t, s
}

// normal is a standard normal number by Box and Muller.
func normal(d *dice.Dice) float64 {
	return math.Sqrt(-2*math.Log(1-d.Share())) * math.Cos(2*math.Pi*d.Share())
}

// exact computes KL with compensated sums (Neumaier 1974).
func exact(t, s []float64) float64 {
	lt := logZ(t)
	ls := logZ(s)
	sum := 0.0
	lost := 0.0
	for i := range t {
		x := math.Exp(t[i]-lt) * ((t[i] - lt) - (s[i] - ls))
		next := sum + x
		if math.Abs(sum) >= math.Abs(x) {
			lost += (sum - next) + x
		} else {
			lost += (x - next) + sum
		}
		sum = next
	}
	return sum + lost
}

func logZ(v []float64) float64 {
	sum := 0.0
	lost := 0.0
	for _, x := range v {
		x = math.Exp(x)
		next := sum + x
		lost += (sum - next) + x
		sum = next
	}
	return math.Log(sum + lost)
}

func normalised(t *testing.T, v []float64) []float64 {
	t.Helper()
	v = append([]float64(nil), v...)
	if err := LogSoftmax(v); err != nil {
		t.Fatal(err)
	}
	return v
}

func near(t *testing.T, name string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-9) && got != want {
		t.Errorf("%s is %.12g, want %.12g", name, got, want)
	}
}

// TestKnownDivergences compares KL with values computed by hand: two tokens, Gaussian
// weights on a grid (KL = (a-b)^2/2), a permutation, disjoint support.
func TestKnownDivergences(t *testing.T) {
	t.Parallel()
	logs := func(p ...float64) []float64 {
		for i := range p {
			p[i] = math.Log(p[i])
		}
		return p
	}
	near(t, "two tokens", Full(logs(0.5, 0.5), logs(0.25, 0.75)), 0.5*math.Log(2)+0.5*math.Log(2./3))
	near(t, "equal", Full(logs(0.5, 0.5), logs(0.5, 0.5)), 0)
	near(t, "disjoint", Full(logs(1, 0), logs(0, 1)), math.Inf(1))
	near(t, "nothing lost where the teacher has none", Full(logs(1, 0), logs(0.5, 0.5)), math.Log(2))
	// Gaussian logits: densities of N(0,1) and N(0.7,1) on a fine, wide grid.
	const n = 248_320
	a := make([]float64, n)
	b := make([]float64, n)
	for i := range n {
		x := -14 + 28*float64(i)/(n-1)
		a[i] = -x * x / 2
		b[i] = -(x - 0.7) * (x - 0.7) / 2
	}
	near(t, "Gaussian logits", Full(normalised(t, a), normalised(t, b)), 0.7*0.7/2)
	d := dice.New(1)
	for _, width := range []int{2, 100, 248_320} {
		x, y := distributions(d, width, 0.4)
		got := Full(normalised(t, x), normalised(t, y))
		near(t, fmt.Sprintf("%d tokens", width), got, exact(x, y))
		for i := range width {
			j := d.N(width)
			x[i], x[j], y[i], y[j] = x[j], x[i], y[j], y[i]
		}
		near(t, fmt.Sprintf("%d tokens permuted", width), Full(normalised(t, x), normalised(t, y)), got)
	}
}

// TestBoundNeverExceedsKL samples 10,000 pairs of distributions and truncates both.
func TestBoundNeverExceedsKL(t *testing.T) {
	t.Parallel()
	d := dice.New(2)
	for i := range 10_000 {
		x, y := distributions(d, 3+d.N(60), 0.1+3*d.Share())
		x, y = normalised(t, x), normalised(t, y)
		full := Full(x, y)
		kt := 1 + d.N(len(x))
		ks := 1 + d.N(len(y))
		if b := Bound(Top(&Row{Full: x}, kt), Top(&Row{Full: y}, ks)); b > full+1e-9 || b < 0 {
			t.Fatalf("case %d: bound %.9g of top %d and %d exceeds %.9g", i, b, kt, ks, full)
		}
		near(t, "all tokens", Bound(Top(&Row{Full: x}, len(x)), &Row{Full: y}), full)
	}
}

func TestBoundOfDisjointTopsIsFinite(t *testing.T) {
	t.Parallel()
	teacher := &Row{Top: []Token{{1, math.Log(0.6)}, {2, math.Log(0.39)}}}
	student := &Row{Top: []Token{{3, math.Log(0.99)}}}
	near(t, "bound", Bound(teacher, student), 0.99*math.Log(99)+0.01*math.Log(0.01/0.99))
	if v := Supported(teacher.Top, student); !math.IsNaN(v) {
		t.Errorf("got %v for forms without a shared one", v)
	}
}

func TestTopIsSorted(t *testing.T) {
	t.Parallel()
	got := fmt.Sprint(Top(&Row{Full: []float64{-3, -1, -2, -1, -9}}, 3).Top)
	if want := "[{1 -1} {3 -1} {2 -2}]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func lines(text string) iter.Seq2[*Row, error] {
	return func(yield func(*Row, error) bool) {
		if err := readLines(strings.NewReader(text), func(r *Row) bool { return yield(r, nil) }); err != nil {
			yield(nil, err)
		}
	}
}

func TestCompareLines(t *testing.T) {
	t.Parallel()
	teacher := `{"prompt":"a","position":0,"logits":[0,0,null]}
{"prompt":"a","position":1,"logprobs":[-0.6931471805599453,-0.6931471805599453,null]}
{"prompt":7,"position":0,"logits":[0,0,0]}
`
	student := strings.Replace(teacher, `"logits":[0,0,null]`, `"logits":[0,null,0]`, 1)
	r, err := Compare(lines(teacher), lines(student), 0)
	if err != nil {
		t.Fatal(err)
	}
	full := r.Forms[0]
	if full.Name != FormFull || full.Infinite != 1 || full.Measured != 3 || len(r.Prompts) != 2 || r.Prompts[1].Prompt != "7" {
		t.Errorf("%+v", r)
	}
}

// TestAPromptWithoutValueHasNoFigures compares files that share all tokens at one of two prompts.
func TestAPromptWithoutValueHasNoFigures(t *testing.T) {
	t.Parallel()
	const whole = `{"prompt":"a","logits":[0,0]}` + "\n"
	r, err := Compare(lines(whole+`{"prompt":"b","logits":[0,0]}`), lines(whole+`{"prompt":"b","top":[[0,-1]]}`), 0)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(r.Prompts)
	const want = `[{"prompt":"a","positions":1,"mean":0,"sd":null,"min":0,"max":0},{"prompt":"b","positions":0,"mean":null,"sd":null,"min":null,"max":null}]`
	if err != nil || string(text) != want {
		t.Errorf("%v: %s, want %s", err, text, want)
	}
}

// TestRefusals compares files that do not match, for every reason.
func TestRefusals(t *testing.T) {
	t.Parallel()
	ok := `{"prompt":"a","position":0,"top":[[1,-0.1],[2,-3]]}`
	byPosition := ok + "\n" + strings.Replace(ok, `"a"`, `"b"`, 1) + "\n" + strings.Replace(ok, `:0`, `:1`, 1)
	for _, c := range []struct {
		name, teacher, student, want string
		vocabulary                   int
	}{
		{"order", ok, strings.Replace(ok, `"a"`, `"b"`, 1), `the student has prompt "b"`, 0},
		{"short", ok + "\n" + strings.Replace(ok, `:0`, `:1`, 1), ok, "the student ends before", 0},
		{"long", ok, ok + "\n" + strings.Replace(ok, `:0`, `:1`, 1), "the teacher ends before", 0},
		{"text ids", ok, strings.Replace(ok, `[1,`, `["1",`, 1), "ids as text match none", 0},
		{"part ids", ok, strings.Replace(ok, `[1,`, `[1.5,`, 1), "no whole number", 0},
		{"range", ok, ok, "token id 2 in a vocabulary of 2", 2},
		{"twice", ok, strings.Replace(ok, `[1,`, `[2,`, 1), "comes twice", 0},
		{"mass", ok, strings.Replace(ok, `-3`, `-0.1`, 1), "probability 1.8", 0},
		{"truncated as whole", ok, `{"prompt":"a","logprobs":[-1,-2]}`, "add up to 0.5", 0},
		{"networks", ok, strings.Replace(ok, `{`, `{"network":"test",`, 1), "networks", 0},
		{"width", `{"prompt":"a","logits":[0,0]}`, `{"prompt":"a","logits":[0,0,0]}`, "vocabularies of 2 and 3", 0},
		{"not a number", ok, `{"prompt":"a","logits":[null,null]}`, "largest logit", 0},
		{"empty", "", "", "neither has a position", 0},
		{"by position", byPosition, byPosition, "the rows of 2 prompts are in 3 places", 0},
	} {
		if _, err := Compare(lines(c.teacher), lines(c.student), c.vocabulary); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// wide writes positions of 248,320 logits as npy.
func wide(t *testing.T, path string, positions int, shift float32) {
	t.Helper()
	const n = 248_320
	head := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (1, %d, %d), }", positions, n)
	b := append([]byte("\x93NUMPY\x01\x00"), byte(len(head)), byte(len(head)>>8))
	b = append(b, head...)
	row := make([]byte, 0, 4*n)
	for i := range n {
		row = binary.LittleEndian.AppendUint32(row, math.Float32bits(shift*float32(i%977)))
	}
	b = append(b, bytes.Repeat(row, positions)...)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestCompareOfWideFilesUsesLittleMemory compares 12 positions of 248,320 tokens: a row of
// each file is in memory, not the files.
func TestCompareOfWideFilesUsesLittleMemory(t *testing.T) {
	dir := t.TempDir()
	a := filepath.Join(dir, "a.npy")
	b := filepath.Join(dir, "b.npy")
	wide(t, a, 12, 0.01)
	wide(t, b, 12, 0.012)
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r, err := Compare(Rows(a), Rows(b), 0)
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if r.Positions != 12 || r.Vocabulary != 248_320 || r.Forms[0].Measured != 12 || r.Prompts[0].Prompt != "0" {
		t.Errorf("%+v", r.Forms)
	}
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 16<<20 {
		t.Errorf("%d bytes were taken for two files of %d", allocated, 12*4*248_320)
	}
}

// FuzzParse checks that a line is rejected or is a row that can be compared with
// itself: KL 0.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"prompt":"a","logits":[0,1,null]}`))
	f.Add([]byte(`{"prompt":1,"top":[[1,-0.1],[2,-3]]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := parse(b)
		if err != nil {
			return
		}
		if p := comparePosition(r, r); p.KL > 1e-9 || p.Bound > 1e-3 {
			t.Fatalf("%s: %+v", b, p)
		}
	})
}

func TestErrorsHaveFileName(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.npy")
	if err := os.WriteFile(path, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Compare(Rows(path), Rows(path), 0)
	if err == nil || !strings.Contains(err.Error(), path) {
		t.Error(err)
	}
	if _, err = Compare(Rows(path+".no"), Rows(path), 0); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// TestTensorIsPrompt reads a file of two tensors, fully and partly.
func TestTensorIsPrompt(t *testing.T) {
	t.Parallel()
	const header = `{"a":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[1,2],"data_offsets":[8,16]}}`
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	path := filepath.Join(t.TempDir(), "two.safetensors")
	if err := os.WriteFile(path, append(append(b, header...), make([]byte, 16)...), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Compare(Rows(path), Rows(path), 2)
	if err != nil || len(r.Prompts) != 2 || r.Prompts[1].Prompt != "b" || r.Forms[0].PerPosition != 0 {
		t.Errorf("%v %+v", err, r)
	}
	if _, err = Compare(lines(`{"prompt":"a","logits":[0,0]}`), Rows(path), 0); err == nil || !strings.Contains(err.Error(), "the teacher ends before prompt \"b\"") {
		t.Error(err)
	}
	if _, err = Compare(lines(`{"prompt":"x","logits":[0,0]}`), Rows(path), 0); err == nil {
		t.Error("another prompt")
	}
}

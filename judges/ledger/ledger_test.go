package ledger_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/judges/ledger"
)

func TestAnAnswerOutlivesItsProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := opened(t, dir)
	add(t, l, answer(1))
	if e, err := l.Answer(id("ask", 1)); err != nil || e.Cached {
		t.Errorf("before closing: %+v, %v", e, err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = opened(t, dir)
	e, err := l.Answer(id("ask", 1))
	if err != nil || !e.Cached || string(e.Request) != `{"q":1}` || string(e.Reply) != "reply 1" || *e.Tokens.USD != 0.5 {
		t.Errorf("after opening again: %+v, %v", e, err)
	}
	if _, err := l.Reply(id("key", 1)); err != nil {
		t.Errorf("by request: %v", err)
	}
	if _, err := l.Answer(id("ask", 2)); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("got an answer that was not stored: %v", err)
	}
}

func TestOnlyReadableRepliesAreAnswers(t *testing.T) {
	t.Parallel()
	l := opened(t, t.TempDir())
	e := answer(1)
	e.Outcome = arena.JudgeUnparsed
	add(t, l, e)
	if _, err := l.Answer(e.Ask); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("an unreadable reply is stored: %v", err)
	}
	if b := l.Bill(); b.Exchanges != 1 || b.Prompt != 100 {
		t.Errorf("its bill is %+v", b)
	}
}

func TestALiveSegmentIsReadByOthers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := opened(t, dir)
	for i := range 40 {
		add(t, first, answer(i))
		if i%13 != 0 {
			continue
		}
		before := segments(t, dir)
		other := opened(t, dir)
		if got := other.Bill().Exchanges; got != i+1 {
			t.Errorf("after %d exchanges another process sees %d", i+1, got)
		}
		add(t, other, answer(1000+i))
		if err := other.Close(); err != nil {
			t.Fatal(err)
		}
		for _, path := range segments(t, dir) { // so that the next count is the first's alone
			if slices.Contains(before, path) {
				continue
			}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestTheBillAndTheUsageAreThoseOfAllFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const n = 30
	for start := 0; start < n; start += 10 {
		l := opened(t, dir)
		for i := start; i < start+10; i++ {
			add(t, l, answer(i))
		}
	}
	if files := segments(t, dir); len(files) != 3 {
		t.Errorf("%d files, want one a process: %v", len(files), files)
	}
	l := opened(t, dir)
	for i := range n {
		if e, err := l.Answer(id("ask", i)); err != nil || string(e.Reply) != fmt.Sprintf("reply %d", i) {
			t.Errorf("answer %d: %q, %v", i, e.Reply, err)
		}
	}
	b := l.Bill()
	u := l.Usage("m", id("prompt", 0))
	if b.Exchanges != n || b.Prompt != 100*n || *b.USD != 0.5*n || b.Unpriced != 0 {
		t.Errorf("bill %+v", b)
	}
	if u.Answers != n || u.Prompt != 100*n || u.Verdicts != 2*n || u.MaxCompletion != 10 || u.MaxRatio != 0.25 {
		t.Errorf("usage %+v", u)
	}
}

// TestTwoProcessesShare holds that one process reuses the answers that another process receives
// while both run, without cost of its own.
func TestTwoProcessesShare(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "ledger")
	a := opened(t, dir)
	b := opened(t, dir)
	for i := range 20 {
		first := a
		other := b
		if i%2 == 1 {
			first = b
			other = a
		}
		add(t, first, answer(i))
		if e, err := other.Answer(id("ask", i)); err != nil || !e.Cached || string(e.Reply) != fmt.Sprintf("reply %d", i) {
			t.Errorf("answer %d: %+v, %v", i, e, err)
		}
		if _, err := other.Reply(id("key", i)); err != nil {
			t.Errorf("reply %d: %v", i, err)
		}
	}
	x := a.Bill().Exchanges
	y := b.Bill().Exchanges
	if x != 10 || y != 10 {
		t.Errorf("%d and %d exchanges are billed", x, y)
	}
}

func TestLedgersMergeInOneFolder(t *testing.T) {
	t.Parallel()
	merged := t.TempDir()
	for shard := range 3 {
		dir := t.TempDir()
		l := opened(t, dir)
		add(t, l, answer(shard))
		for _, path := range segments(t, dir) {
			if err := os.Rename(path, filepath.Join(merged, filepath.Base(path))); err != nil {
				t.Fatal(err)
			}
		}
	}
	l := opened(t, merged)
	for shard := range 3 {
		if _, err := l.Answer(id("ask", shard)); err != nil {
			t.Errorf("shard %d: %v", shard, err)
		}
	}
}

// TestATornLineIsNone truncates a file after every byte: the exchanges before the cut are read, and
// the next process writes a file of its own.
func TestATornLineIsNone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := opened(t, dir)
	add(t, l, answer(1))
	add(t, l, answer(2))
	path := segments(t, dir)[0]
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	first := bytes.IndexByte(content, '\n')
	for cut := range len(content) {
		for _, tail := range []string{"", "\x00\x00"} {
			if err := os.WriteFile(path, append(content[:cut:cut], tail...), 0o600); err != nil {
				t.Fatal(err)
			}
			want := 0
			if cut >= first && (tail == "" || cut > first) {
				want = 1
			}
			if cut == len(content)-1 && tail == "" {
				want = 2
			}
			l, err := ledger.Open(dir)
			if err != nil {
				t.Fatalf("cut at %d: %v", cut, err)
			}
			if got := l.Bill().Exchanges; got != want {
				t.Fatalf("cut at %d: %d exchanges, want %d", cut, got, want)
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestADamagedLineIsNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := opened(t, dir)
	add(t, l, answer(1))
	add(t, l, answer(2))
	path := segments(t, dir)[0]
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[12] = ';'
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ledger.Open(dir); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "byte 0 ") {
		t.Errorf("got %v", err)
	}
}

func TestALaterLedgerIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.jsonl"), []byte(`{"version":4}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ledger.Open(dir); err == nil || !strings.Contains(err.Error(), "later version") {
		t.Errorf("got %v", err)
	}
}

func TestAForeignFileIsNamed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "notes.jsonl")
	if err := os.WriteFile(path, []byte(strings.Repeat("not an exchange ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ledger.Open(filepath.Dir(path)); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v", err)
	}
}

func TestLookingCreatesNothing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "ledger")
	l := opened(t, dir)
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("opening made %s: %v", dir, err)
	}
	add(t, l, answer(1))
	if n := len(segments(t, dir)); n != 1 {
		t.Errorf("%d segments", n)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ledger.Open(file); err == nil {
		t.Error("a file is no ledger")
	}
}

func TestAnEmptyFileHoldsNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "exchanges-1.jsonl"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if b := opened(t, dir).Bill(); b.Exchanges != 0 {
		t.Errorf("%+v", b)
	}
}

// TestAKilledWriterLosesNothingCommitted kills a process that writes as fast as it can, after its
// first file or after some confirmed exchanges, and checks that the confirmed ones are stored.
func TestAKilledWriterLosesNothingCommitted(t *testing.T) {
	if dir := os.Getenv("LEDGER_WRITER"); dir != "" {
		writeForEver(t, dir)
	}
	t.Parallel()
	for _, after := range []int{0, 0, 1, 2, 3, 8, 20, 90, 200} {
		dir := t.TempDir()
		c := exec.Command(os.Args[0], "-test.run=^TestAKilledWriter")
		c.Env = append(os.Environ(), "LEDGER_WRITER="+dir)
		out, err := c.StdoutPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		confirmed := bufio.NewScanner(out)
		for after == 0 && len(segments(t, dir)) == 0 {
			time.Sleep(100 * time.Microsecond)
		}
		for n < after && confirmed.Scan() {
			n++
		}
		_ = c.Process.Kill()
		for confirmed.Scan() {
			n++
		}
		_ = c.Wait()
		l := opened(t, dir)
		if got := l.Bill().Exchanges; got < n || got > n+1 || n < after {
			t.Errorf("killed after %d: %d confirmed, %d stored", after, n, got)
		}
		for i := range n {
			if _, err := l.Answer(id("ask", i)); err != nil {
				t.Errorf("answer %d of %d: %v", i, n, err)
			}
		}
	}
}

func writeForEver(t *testing.T, dir string) {
	l, err := ledger.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; ; i++ {
		if err := l.Add(answer(i)); err != nil {
			t.Fatal(err)
		}
		fmt.Println(i)
	}
}

func BenchmarkAdd(b *testing.B) {
	l, err := ledger.Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	e := answer(0)
	e.Request = []byte(strings.Repeat("a request repeats its instructions; ", 500))
	b.SetBytes(int64(len(e.Request)))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		e.Key = id("key", i)
		e.Ask = id("ask", i)
		if err := l.Add(e); err != nil {
			b.Fatal(err)
		}
	}
}

func opened(t *testing.T, dir string) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func add(t *testing.T, l *ledger.Ledger, e ledger.Exchange) {
	t.Helper()
	if err := l.Add(e); err != nil {
		t.Fatal(err)
	}
}

func answer(i int) ledger.Exchange {
	usd := 0.5
	cost := ledger.Spent{Prompt: 100, Completion: 20, USD: &usd}
	return ledger.Exchange{
		Key: id("key", i), Ask: id("ask", i), Model: "m", Served: "m-1", PromptSHA256: id("prompt", 0),
		Outcome: arena.JudgeScored, Try: 1, Status: 200, Request: fmt.Appendf(nil, `{"q":%d}`, i),
		Reply: fmt.Appendf(nil, "reply %d", i), PromptBytes: 400, Verdicts: 2, Tokens: cost, Total: cost, LatencyMS: 7,
	}
}

// id is a key of its own for every kind and number, as long as a sha256.
func id(kind string, i int) string {
	return fmt.Sprintf("%032x%032x", kind[0], i)
}

func segments(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// FuzzAnyFileIsALedgerOrRefused holds that no content of a ledger's folder causes a panic, and that
// each counted exchange can be looked up.
func FuzzAnyFileIsALedgerOrRefused(f *testing.F) {
	dir := f.TempDir()
	l, err := ledger.Open(dir)
	if err != nil {
		f.Fatal(err)
	}
	for i := range 2 {
		if err = l.Add(answer(i)); err != nil {
			f.Fatal(err)
		}
	}
	if err = l.Close(); err != nil {
		f.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(files) != 1 {
		f.Fatal(files, err)
	}
	content, err := os.ReadFile(files[0])
	if err != nil {
		f.Fatal(err)
	}
	f.Add(content)
	f.Add(content[:len(content)/2])
	f.Add(bytes.ReplaceAll(content, []byte(`"ask":"`), []byte(`"ask":"00000000`)))
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "a.jsonl"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := ledger.Open(dir)
		if err != nil {
			return
		}
		defer l.Close()
		for i := range 2 {
			_, _ = l.Answer(id("ask", i))
			_, _ = l.Reply(id("key", i))
		}
		_ = l.Usage("m", id("prompt", 0))
	})
}

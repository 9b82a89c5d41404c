package traces

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/longtest"
	"github.com/trajectory-arena/arena/traces/convert"
	"github.com/trajectory-arena/arena/traces/formats"
)

// line is the sample envelope on one line, at another problem.
func line(problem string) string {
	return strings.Replace(strings.ReplaceAll(sampleEnvelope, "\n", ""), `"problem_id": "p-1", "status"`, `"problem_id": "`+problem+`", "status"`, 1)
}

func packed(tb testing.TB, text string) string {
	tb.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte(text))
	if err = errors.Join(err, z.Close()); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

func tarOf(tb testing.TB, text string) string {
	tb.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	err := w.WriteHeader(&tar.Header{Name: "a.jsonl", Mode: 0o600, Size: int64(len(text)), Format: tar.FormatPAX})
	if err == nil {
		_, err = w.Write([]byte(text))
	}
	if err = errors.Join(err, w.Close()); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

func squeezed(tb testing.TB, text string) string {
	tb.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		tb.Fatal(err)
	}
	return string(z.EncodeAll([]byte(text), nil))
}

// small returns limits with which large inputs are tested quickly.
func small() Options {
	opt := Defaults()
	opt.Limits.LineBytes = 8 << 10
	opt.Limits.Depth = 64
	opt.Limits.StringBytes = 4 << 10
	opt.Limits.Elements = 1000
	return opt
}

func TestHostileInput(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`[`, 10_000) + strings.Repeat(`]`, 10_000)
	long := `{"problem_id":"x","status":"SUCCESS","dialogue":[` + strings.Repeat(`{"completion":{}},`, 1000) + `{}]}`
	for name, c := range map[string]struct {
		text   string
		traces int
		faults string
	}{
		"empty":                   {"", 0, "empty_file"},
		"white space":             {" \n\t\r\n", 0, "empty_file"},
		"long line":               {line("a") + "\n" + long + "\n" + line("b") + "\n", 2, "line_too_long"},
		"long line at the end":    {line("a") + "\n" + long, 1, "line_too_long"},
		"long blank in a list":    {"[" + strings.Repeat(" ", 100_000) + "1]\n" + line("b"), 1, "line_too_long"},
		"long garbage":            {strings.Repeat("x", 50_000) + "\n" + line("b"), 1, "line_too_long"},
		"10,000 deep":             {line("a") + "\n{\"problem_id\":" + deep[:8000] + "\n" + line("b"), 2, "too_deep"},
		"10,000 deep array":       {line("a") + "\n" + `[` + deep[:3000] + "\n" + line("b"), 2, "too_deep"},
		"long string":             {`{"problem_id":"` + strings.Repeat("p", 5000) + `","status":"SUCCESS","dialogue":null}`, 0, "string_too_long"},
		"too many steps":          {`{"problem_id":"x","status":"SUCCESS","dialogue":[` + strings.Repeat("0,", 2000) + "0]}\n" + line("b"), 1, "too_many_elements"},
		"broken line":             {line("a") + "\n{\"problem_id\": \n" + line("b") + "\n", 2, "bad_json"},
		"broken first line":       {"{\"problem_id\":\n" + line("a") + "\n" + line("b"), 2, "bad_json"},
		"cut in a string":         {line("a")[:700] + "\n" + line("b") + "\n", 1, "bad_json"},
		"cut between":             {line("a")[:strings.Index(line("a"), `"extra_info"`)] + "\n" + line("b") + "\n" + line("c"), 2, "bad_json"},
		"cut array line":          {`[{"completion":{}},` + "\n" + line("b") + "\n" + line("c"), 2, "bad_json"},
		"two values on a line":    {line("a") + line("b") + "\n" + line("c"), 1, "bad_json"},
		"only text":               {"hello\nworld\n", 0, "bad_json bad_json"},
		"only NUL":                {"\x00\x00\x00\n" + line("a"), 1, "bad_json"},
		"NUL in the line":         {"\x00\x00" + line("a") + "\x00\n", 1, ""},
		"carriage returns":        {line("a") + "\r\n" + line("b") + "\r\n", 2, ""},
		"byte order mark":         {"\xef\xbb\xbf" + line("a") + "\n", 1, ""},
		"no final line feed":      {line("a"), 1, ""},
		"blank lines":             {"\n\n" + line("a") + "\n \n\n" + line("b") + "\n\n", 2, ""},
		"status a number":         {strings.Replace(line("a"), `"SUCCESS"`, `7`, 1), 0, "wrong_type"},
		"status unknown":          {strings.Replace(line("a"), `SUCCESS`, `GREAT`, 1), 0, "unknown_status"},
		"no status":               {`{"problem_id":"a","dialogue":[]}`, 0, "wrong_type"},
		"dialogue a string":       {`{"problem_id":"a","status":"SUCCESS","dialogue":"x"}`, 1, ""},
		"a number":                {"7\n" + line("a"), 1, "not_a_trace"},
		"a string":                {`"x"`, 0, "not_a_trace"},
		"null without a name":     {"null", 0, "not_a_trace"},
		"empty list, no name":     {"[]", 0, "not_a_trace"},
		"numbers":                 {"[1,2,3]", 0, "not_a_trace"},
		"truncated gzip":          {packed(t, line("a")+"\n"+noise(5000))[:900], 1, "truncated_gzip"},
		"zeros after gzip":        {packed(t, line("a")+"\n") + strings.Repeat("\x00", 9000), 1, ""},
		"gzip of nothing":         {packed(t, ""), 0, "empty_file"},
		"gzip header only":        {"\x1f\x8b", 0, "truncated_gzip"},
		"gzip with a flipped bit": {flipped(packed(t, line("a")+"\n"), 60), 0, "corrupt_gzip"},
		"truncated zstd":          {squeezed(t, line("a")+"\n"+noise(200_000))[:150_000], 1, "line_too_long truncated_zstd"},
		"Parquet":                 {"PAR1\n\n\nPAR1", 0, "corrupt_columns"},
		"xz":                      {"\xfd7zXZ\x00\n\n\x01", 0, "not_a_trace"},
		"UTF-16":                  {"\xff\xfe{\x00}\x00", 0, "not_a_trace"},
		"tar":                     {tarOf(t, line("a")), 0, "not_a_trace"},
		"tar in gzip":             {packed(t, tarOf(t, line("a"))), 0, "not_a_trace"},
		"tar in zstd":             {squeezed(t, tarOf(t, line("a"))), 0, "not_a_trace"},
		"unknown schema":          {`{"schema_version":"ATIF-v2.0","steps":[]}`, 0, "unsupported_schema"},
		"later episode":           {`{"schema_version":"oro.environment_episode.v2","episode":{}}`, 0, "unsupported_schema"},
		"steps no array":          {`{"schema_version":"ATIF-v1.7","steps":{}}`, 0, "wrong_type"},
		"messages no array":       {`{"messages":"hi"}`, 0, "wrong_type"},
		"a pointer of Git LFS":    {"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n", 0, "not_a_trace"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			traces, faults := readTextWith(t, "f.jsonl", c.text, small())
			if len(traces) != c.traces || !strings.HasPrefix(reasons(faults), c.faults) || (c.faults == "") != (len(faults) == 0) {
				t.Errorf("got %d traces and faults %+v, want %d and %q", len(traces), faults, c.traces, c.faults)
			}
		})
	}
}

// noise is text of n bytes that does not shrink.
func noise(n int) string {
	var b strings.Builder
	for x := uint64(88172645463325252); b.Len() < n; {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		fmt.Fprintf(&b, "%x", x)
	}
	return b.String()[:n]
}

func flipped(s string, index int) string {
	b := []byte(s)
	b[index] ^= 0x10
	return string(b)
}

func TestFaultsNameTheirLine(t *testing.T) {
	t.Parallel()
	_, faults := readText(t, "f.jsonl", line("a")+"\n\n{\"x\":1}\n"+line("b")+"\nnope\n")
	if len(faults) != 2 || faults[0].Line != 3 || faults[1].Line != 5 || len(faults[0].FileSHA256) != 64 {
		t.Errorf("faults %+v, want lines 3 and 5 of a hashed file", faults)
	}
}

func TestFaultsNeverQuoteTheFile(t *testing.T) {
	t.Parallel()
	const secret = "AKIA7EXAMPLE42SECRET"
	for _, text := range []string{
		`{"` + secret + `":1}`, `{"schema_version":"` + secret + `","steps":[]}`, `{"problem_id":"x","status":"` + secret + `"}`,
		`{"x":"` + secret, secret, `[{"` + secret + `":1}]`,
	} {
		_, faults := readText(t, "f.json", text)
		for _, f := range faults {
			if strings.Contains(f.Detail, secret) {
				t.Errorf("fault repeats the text: %s", f.Detail)
			}
		}
	}
}

// TestWhatIsMendedIsVetoed checks that an attempt whose text had to be repaired is excluded from
// training.
func TestWhatIsMendedIsVetoed(t *testing.T) {
	t.Parallel()
	for word, text := range map[string]string{
		repairUTF8:      strings.Replace(line("a"), "kettles", "kett\xffles", 1),
		repairSurrogate: strings.Replace(line("a"), "kettles", `kett\ud800les`, 1),
		repairNUL:       strings.Replace(line("a"), "kettles", "kett\x00les", 1),
		repairDialogue:  `{"problem_id":"a","status":"SUCCESS","dialogue":{}}`,
	} {
		day := t.TempDir()
		write(t, filepath.Join(day, "f.jsonl"), text)
		traces, faults, _ := readAll(t, day, Defaults())
		if len(traces) != 1 || len(faults) != 0 {
			t.Fatalf("%s: got %d traces, faults %v", word, len(traces), faults)
		}
		if got := traces[0].Vetoes; len(got) != 1 || got[0] != word {
			t.Errorf("%s: vetoes %v", word, got)
		}
	}
	traces, _ := readText(t, "f.jsonl", strings.Replace(line("a"), "kettles", "kett\xffles", 1))
	if got := traces[0].Steps[0].Reasoning; got != "kett\ufffdles" {
		t.Errorf("invalid byte reads as %q", got)
	}
}

func TestBombsStopTheirFileOnly(t *testing.T) {
	t.Parallel()
	opt := small()
	opt.Limits.Expansion = 100
	text := line("a") + "\n" + strings.Repeat("0", 4<<20) + "\n" + line("b")
	for name, stored := range map[string]string{"gzip": packed(t, text), "zstd": squeezed(t, text)} {
		traces, faults := readTextWith(t, "f.jsonl", stored, opt)
		if len(traces) != 1 || !strings.HasSuffix(reasons(faults), "decompression_bomb") {
			t.Errorf("%s: got %d traces, faults %+v", name, len(traces), faults)
		}
	}
	traces, faults := readTextWith(t, "f.jsonl", squeezed(t, strings.Repeat(line("a")+"\n", 5_000)), opt)
	if len(traces) != 5_000 || len(faults) > 0 {
		t.Errorf("copies of one line: got %d traces, faults %+v", len(traces), faults)
	}
	opt = small()
	opt.Limits.FileBytes = 20_000
	traces, faults = readTextWith(t, "f.jsonl", strings.Repeat(line("a")+"\n", 40), opt)
	if len(traces) == 0 || reasons(faults) != "file_too_long" {
		t.Errorf("got %d traces, faults %+v", len(traces), faults)
	}
}

// TestManyMessagesTakeTheirTimeOnly reads and writes tens of thousands of results without a call,
// calls without a result, and calls with one id. It has no time limit of its own.
func TestManyMessagesTakeTheirTimeOnly(t *testing.T) {
	t.Parallel()
	n := longtest.Pick(40_000, 10_000)
	for name, messages := range map[string]string{
		"unasked":  `{"role":"assistant","tool_calls":[{"id":"a","name":"f"}]},{"role":"tool","tool_call_id":"b","content":""},`,
		"one turn": `{"role":"user","content":""},{"role":"tool","content":""},`,
	} {
		text := `{"messages":[` + strings.Repeat(messages, n) + `{"role":"assistant","tool_calls":[` + strings.Repeat(`{"id":"a","name":"f"},`, n) + `{}]}]}`
		trace := one(t, text)
		for _, format := range convert.Formats {
			if _, _, err := convert.Write(trace, format); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestAnEnvelopeOfThirtyMegabytes(t *testing.T) {
	t.Parallel()
	big := strings.Replace(line("a"), `"price": 12.5`, `"text": "`+strings.Repeat(`\u00e9 and `, 2_800_000)+`"`, 1)
	traces, faults := readText(t, "f.jsonl", big+"\n"+line("b"))
	if len(traces) != 2 || len(faults) > 0 || traces[0].Bytes < 30_000_000 || len(traces[0].Steps[0].Calls[0].Result) < 30_000_000 {
		t.Errorf("%d traces, faults %+v", len(traces), faults)
	}
}

// TestMemoryIsBoundedByTheLineNotTheFile reads a line and a list far beyond the
// limit.
func TestMemoryIsBoundedByTheLineNotTheFile(t *testing.T) {
	opt := small()
	for name, c := range map[string]struct {
		text   io.Reader
		traces int
	}{
		"line": {io.MultiReader(strings.NewReader(`{"a":"`), &repeated{line: strings.Repeat("x", 64<<10), n: 512}, strings.NewReader("\"}\n"+line("a"))), 1},
		"list": {io.MultiReader(strings.NewReader(`[`+line("a")), &repeated{line: "," + line("a"), n: 15_000}, strings.NewReader("]")), 15_001},
	} {
		input := Input{}
		dir := t.TempDir()
		if err := input.Spool(t.Context(), c.text, dir); err != nil {
			t.Fatal(err)
		}
		var before, now runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		var peak uint64
		n := 0
		sum, err := Read(t.Context(), input, opt, func(Item) error {
			if n++; n%5000 == 0 {
				runtime.GC()
				runtime.ReadMemStats(&now)
				peak = max(peak, now.HeapAlloc)
			}
			return nil
		})
		if err != nil || sum.Traces != c.traces {
			t.Errorf("%s: %+v, %v", name, sum, err)
		}
		if peak > before.HeapAlloc+8<<20 {
			t.Errorf("%s: heap grew from %d to %d bytes", name, before.HeapAlloc, peak)
		}
	}
}

// repeated is line n times.
type repeated struct {
	line   string
	n      int
	suffix string
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.suffix == "" {
		if r.n == 0 {
			return 0, io.EOF
		}
		r.n--
		r.suffix = r.line
	}
	n := copy(p, r.suffix)
	r.suffix = r.suffix[n:]
	return n, nil
}

func TestReadErrorsAreErrorsNotFaults(t *testing.T) {
	t.Parallel()
	full := errors.New("disk full")
	dir := t.TempDir()
	write(t, filepath.Join(dir, "f.jsonl"), line("a"))
	input := Input{Path: filepath.Join(dir, "f.jsonl")}
	if _, err := Read(t.Context(), input, Defaults(), func(Item) error { return full }); !errors.Is(err, full) {
		t.Errorf("got %v, want the error of emit", err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Read(canceled, input, Defaults(), func(Item) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v for a cancelled read", err)
	}
	if _, err := Read(t.Context(), Input{Path: filepath.Join(dir, "none")}, Defaults(), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v for a missing file", err)
	}
	opt := Defaults()
	opt.Limits = Limits{}
	if _, err := Read(t.Context(), input, opt, nil); err == nil || strings.Count(err.Error(), " is 0: want 1 to ") != 6 {
		t.Errorf("got %v for bad options", err)
	}
}

// TestBrokenDiskIsNoBrokenFile checks a device that fails in the middle of a plain or compressed
// file: the error is the device's, not a fault of the file.
func TestBrokenDiskIsNoBrokenFile(t *testing.T) {
	t.Parallel()
	broken := errors.New("input/output error")
	for name, stored := range map[string]string{"plain": line("a"), "gzip": packed(t, line("a")), "zstd": squeezed(t, line("a"))} {
		src := io.MultiReader(strings.NewReader(stored[:len(stored)/2]), failingReader{broken})
		text, err := openContent(src, DefaultLimits())
		if err == nil {
			_, err = io.ReadAll(text)
		}
		if !errors.Is(err, broken) {
			t.Errorf("%s: %v, want the disk's error", name, err)
		}
	}
}

func TestIdsAreNeverPaths(t *testing.T) {
	t.Parallel()
	got := one(t, line("../../etc/passwd"))
	if got.ProblemID != "../../etc/passwd" || got.ID != "stdin/../../etc/passwd" {
		t.Errorf("ids are %q and %q: they are data and stay what they are", got.ProblemID, got.ID)
	}
}

// TestManyPartsTakeLinearTime reads texts of many parts. Joining them one by one from the start takes
// quadratic time.
func TestManyPartsTakeLinearTime(t *testing.T) {
	t.Parallel()
	const parts = 50_000
	text := strings.Repeat("x", 200)
	traces, faults := readText(t, "a.json", `{"messages":[`+strings.Repeat(`{"role":"system","content":"`+text+`"},`, parts)+`{"role":"user","content":"hi"}]}`)
	if len(traces) != 1 || len(traces[0].System) != parts*(len(text)+2)-2 {
		t.Errorf("%d traces, faults %+v", len(traces), faults)
	}
	traces, faults = readText(t, "b.json", `{"schema_version":"ATIF-v1.7","steps":[{"source":"user","message":"q","observation":{"results":[`+
		strings.Repeat(`{"content":"`+text+`"},`, parts)+`{"content":"last"}]}}]}`)
	if len(traces) != 1 || len(traces[0].Query) != 1+parts*(len(text)+1)+len("\nlast") {
		t.Errorf("%d traces, faults %+v", len(traces), faults)
	}
}

// TestRenderedTurnsAreElements holds steps that are written as text to the limit
// of those that are written as JSON.
func TestRenderedTurnsAreElements(t *testing.T) {
	t.Parallel()
	opt := small()
	opt.Limits.Elements = 100
	for turns, want := range map[int]string{100: "", 101: "too_many_elements"} {
		_, faults := readTextWith(t, "f.jsonl", `{"input":"user\nx","reward":1,"output":"`+strings.Repeat("a<obs>x</obs>", turns)+`"}`, opt)
		if reasons(faults) != want {
			t.Errorf("%d turns: %q, want %q", turns, reasons(faults), want)
		}
	}
}

// TestListOfNoPartsIsNotBuilt reads a result that is a long list without making
// a value of each element.
func TestListOfNoPartsIsNotBuilt(t *testing.T) {
	list := arena.Raw("[" + strings.Repeat("0,", 1<<20) + "0]")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if formats.JoinTextParts(list) != list {
		t.Fatal("the list changed")
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 16<<20 {
		t.Errorf("%d bytes for a list of %d", grown, len(list))
	}
}

package traces

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/hostiletest"
	"github.com/trajectory-arena/arena/internal/longtest"
	"github.com/trajectory-arena/arena/traces/convert"
	"github.com/trajectory-arena/arena/traces/formats"
)

// formatSamples are the files of testdata/formats, by name.
func formatSamples(tb testing.TB) map[string]string {
	tb.Helper()
	return samplesIn(tb, "testdata/formats")
}

func samplesIn(tb testing.TB, folder string) map[string]string {
	tb.Helper()
	samples := map[string]string{}
	paths, err := filepath.Glob(folder + "/*")
	if err != nil || len(paths) == 0 {
		tb.Fatalf("no samples: %v", err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			tb.Fatal(err)
		}
		if filepath.Ext(path) != ".golden" {
			samples[filepath.Base(path)] = string(text)
		}
	}
	return samples
}

// rowOf returns a trace as a row of messages, with the losses of such a row.
func rowOf(tb testing.TB, t *arena.Trace) string {
	tb.Helper()
	row, _, err := convert.Write(t, convert.OpenAI)
	if err != nil {
		tb.Fatal(err)
	}
	return fmt.Sprintf("%s line %d: %s %s error %+v seconds %v lost %q vetoes %q\n%s", t.Source.Shape, t.Source.Line, t.ID, t.Status, t.Error, t.Seconds, t.Lost, t.Vetoes, row)
}

// TestSamplesOfOtherTools compares every sample with its expected content, and checks that every
// format has a sample.
func TestSamplesOfOtherTools(t *testing.T) {
	t.Parallel()
	seen := map[arena.Shape]bool{}
	for name, text := range formatSamples(t) {
		attempts, faults := readTextWith(t, name, text, named())
		var out strings.Builder
		for _, trace := range attempts {
			seen[trace.Source.Shape] = true
			out.WriteString(rowOf(t, trace))
		}
		if len(faults) > 0 {
			t.Errorf("%s: %+v", name, faults)
		}
		golden := filepath.Join("testdata/formats", name+".golden")
		if *update {
			write(t, golden, out.String())
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		diff(t, string(want), out.String())
	}
	for _, f := range formats.Detectable {
		if !seen[f.Name] {
			t.Errorf("%s has no sample", f.Name)
		}
	}
}

// zippedLog is a log of inspect_ai as a zip, of one that is a document.
func zippedLog(tb testing.TB, doc string) string {
	tb.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	add := func(name, text string) {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	for i, sample := range gjson.Get(doc, "samples").Array() {
		add(fmt.Sprintf("samples/%d_epoch_1.json", i), sample.Raw)
	}
	add("summaries.json", "[]")
	header := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(doc), &header); err != nil {
		tb.Fatal(err)
	}
	delete(header, "samples")
	text, err := json.Marshal(header)
	if err != nil {
		tb.Fatal(err)
	}
	add("header.json", string(text))
	if err := z.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.String()
}

// TestLogsThatAreZipsReadAsTheirDocuments checks that both forms of inspect_ai's log have the same
// samples.
func TestLogsThatAreZipsReadAsTheirDocuments(t *testing.T) {
	t.Parallel()
	doc := formatSamples(t)["inspect.json"]
	want, _ := readText(t, "log.json", doc)
	got, faults := readText(t, "log.eval", zippedLog(t, doc))
	if len(faults) > 0 || len(got) != len(want) {
		t.Fatalf("%d of %d samples, faults %+v", len(got), len(want), faults)
	}
	for i := range got {
		diff(t, rowOf(t, want[i]), rowOf(t, got[i]))
		if got[i].RecordSHA256 != want[i].RecordSHA256 {
			t.Errorf("sample %d is another record", i)
		}
	}
}

// TestHostileFilesOfEveryFormat reads at least 60 broken files of each format: every record is a
// trace that can be written, or a fault that states its cause. Without the tag long it reads every
// sixth file.
func TestHostileFilesOfEveryFormat(t *testing.T) {
	t.Parallel()
	samples := samplesOfAll(t)
	for name, text := range samples {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := hostiletest.Files(strings.TrimSpace(text), 3000)
			if strings.HasPrefix(name, "inspect") {
				z := zippedLog(t, text)
				for i := range 60 {
					offset := len(z) * i / 60
					files = append(files, hostiletest.File{What: "zip, cut", Text: z[:offset]}, hostiletest.File{What: "zip, flipped", Text: flipped(z, offset)})
				}
			}
			read := 0
			refused := 0
			for i, file := range files {
				if i%longtest.Pick(1, 6) > 0 {
					continue
				}
				for _, item := range readBytes(t, strings.NewReader(file.Text), small()) {
					if item.Trace == nil {
						refused++
						refusedInWords(t, file, item.Fault)
						continue
					}
					read++
					checkTrace(t, item.Trace)
					writable(t, file, item.Trace)
				}
			}
			if t.Logf("%d files: %d records read, %d refused", len(files), read, refused); len(files) < 60 || refused == 0 {
				t.Error("that is too few")
			}
		})
	}
}

// TestHostileFilesTakeBoundedTimeAndMemory reads the hostile files of each format with the usual
// limits. A file takes some seconds at most, and the total allocation grows with its bytes and with
// the elements of its lists, whose number is limited. Without the tag long it reads every 60th.
func TestHostileFilesTakeBoundedTimeAndMemory(t *testing.T) {
	const (
		entries      = 100_000
		maxTime      = 10 * time.Second // on a machine with other work
		fixedBytes   = 64 << 20
		bytesAByte   = 100
		bytesAnEntry = 8000
	)
	n := 0
	for name, text := range samplesOfAll(t) {
		for i, file := range hostiletest.Files(strings.TrimSpace(text), entries) {
			if i%longtest.Pick(1, 60) > 0 {
				continue
			}
			n++
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			readBytes(t, strings.NewReader(file.Text), Defaults())
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			allocated := after.TotalAlloc - before.TotalAlloc
			allowed := uint64(fixedBytes + bytesAByte*len(file.Text) + bytesAnEntry*entries)
			if took > maxTime || allocated > allowed {
				t.Errorf("%s, %s: %d bytes take %v and allocate %d bytes, allowed are %d", name, file.What, len(file.Text), took, allocated, allowed)
			}
		}
	}
	t.Logf("%d files", n)
}

func refusedInWords(t *testing.T, file hostiletest.File, f *Fault) {
	t.Helper()
	if f.Reason == "" || f.Detail == "" || len(f.Detail) > 500 || !utf8.ValidString(f.Detail) || strings.ContainsAny(f.Detail, "\n\x00") {
		t.Errorf("%s: a fault without words: %+v", file.What, f)
	}
}

func writable(t *testing.T, file hostiletest.File, trace *arena.Trace) {
	t.Helper()
	if n := len(trace.Steps); n > small().Limits.Elements {
		t.Errorf("%s: %d steps", file.What, n)
	}
	for _, format := range convert.Formats {
		if _, _, err := convert.Write(trace, format); err != nil {
			t.Errorf("%s: as %s: %v", file.What, format, err)
		}
	}
}

// TestHostileColumns breaks a table of messages at many places.
func TestHostileColumns(t *testing.T) {
	t.Parallel()
	type row struct {
		ID       string   `parquet:"instance_id"`
		Messages []string `parquet:"messages,list"`
		Solved   *bool    `parquet:"resolved,optional"`
	}
	solved := true
	var out bytes.Buffer
	rows := []row{{"a", []string{`{"role":"user","content":"Hi"}`, `{"role":"assistant","content":"Hello.","tool_calls":null}`}, &solved}, {"b", []string{"no JSON"}, nil}}
	if err := parquet.Write(&out, rows); err != nil {
		t.Fatal(err)
	}
	full := out.String()
	attempts, faults := readText(t, "rows.parquet", full)
	if len(attempts) != 1 || len(attempts[0].Steps) != 1 || attempts[0].Query != "Hi" || *attempts[0].Declared != 1 || len(faults) != 1 || faults[0].Reason != WrongType {
		t.Fatalf("%d rows, faults %+v", len(attempts), faults)
	}
	for i := range 60 {
		offset := len(full) * i / 60
		for _, hostile := range []string{full[:offset], flipped(full, offset)} {
			more, faults := readText(t, "rows.parquet", hostile)
			if len(more)+len(faults) == 0 || len(more) > 2 {
				t.Errorf("%d rows, faults %+v of a file broken at %d", len(more), faults, offset)
			}
		}
	}
}

// FuzzOtherTools checks that no document of a format of package formats causes a panic, and that
// the traces read from it can be written.
func FuzzOtherTools(f *testing.F) {
	for _, text := range formatSamples(f) {
		for line := range strings.Lines(text) {
			f.Add(line)
		}
	}
	f.Fuzz(func(t *testing.T, doc string) {
		items := readBytes(t, strings.NewReader(doc), fuzzLimits())
		for _, item := range items {
			if item.Trace == nil {
				continue
			}
			text, _, err := convert.Write(item.Trace, convert.ATIF)
			if err != nil || !json.Valid(bytes.TrimSpace(text)) {
				t.Errorf("written: %v %s", err, text)
			}
		}
	})
}

// FuzzLogsOfInspect overwrites bytes of a zipped log: each log is read as samples, or as a fault
// with a cause.
func FuzzLogsOfInspect(f *testing.F) {
	var logs []string
	for name, text := range formatSamples(f) {
		if strings.HasPrefix(name, "inspect") {
			logs = append(logs, zippedLog(f, text))
		}
	}
	for i := range 16 {
		f.Add(uint8(0), len(logs[0])*i/16, []byte{0xff, 0xff})
	}
	f.Fuzz(func(t *testing.T, log uint8, offset int, damage []byte) {
		content := []byte(logs[int(log)%len(logs)])
		if offset >= 0 && offset < len(content) {
			copy(content[offset:], damage)
		}
		attempts, faults := readTextWith(t, "log.eval", string(content), small())
		if len(attempts)+len(faults) == 0 {
			t.Error("read neither an attempt nor a fault")
		}
		for _, fault := range faults {
			if fault.Reason == "" || fault.Detail == "" {
				t.Errorf("a fault without words: %+v", fault)
			}
		}
	})
}

// TestRolloutsAndLogsKeepEveryMessage holds that an attempt written as a rollout or as a log has
// the same row of messages when it is read again, except for the losses that the writer reports.
func TestRolloutsAndLogsKeepEveryMessage(t *testing.T) {
	t.Parallel()
	attempts := everyShape(t)
	for name, text := range formatSamples(t) {
		more, _ := readTextWith(t, name, text, named())
		attempts = append(attempts, more...)
	}
	for _, format := range []convert.Format{convert.Responses, convert.Inspect} {
		count := 0
		for _, trace := range attempts {
			want, _, _ := convert.Write(trace, convert.OpenAI)
			text, lost, err := convert.Write(trace, format)
			if err != nil {
				t.Fatal(err)
			}
			if slices.Contains(lost, convert.LossTurns) || slices.Contains(lost, convert.LossArguments) || slices.Contains(lost, convert.LossMask) || slices.Contains(trace.Vetoes, "unknown_role") {
				continue
			}
			prefix, _, suffix := format.Delimiters()
			back := readBytes(t, strings.NewReader(prefix+string(text)+suffix), Defaults())
			if len(back) != 1 || back[0].Trace == nil {
				t.Fatalf("%s of %s is read as %+v", format, trace.ID, back[0].Fault)
			}
			back[0].Trace.RunID, back[0].Trace.ProblemID = trace.RunID, trace.ProblemID
			got, _, _ := convert.Write(back[0].Trace, convert.OpenAI)
			if meaning(got) != meaning(want) {
				t.Errorf("%s of %s:\n%s\n%s", format, trace.Source.Shape, meaning(want), meaning(got))
			}
			count++
		}
		if count < len(attempts)*3/4 {
			t.Errorf("%s: %d of %d are kept", format, count, len(attempts))
		}
	}
}

// meaning returns a row without the spaces and escapes that readers may omit.
func meaning(row []byte) string {
	return strings.NewReplacer(`\"`, `"`, " ", "", `\n`, "").Replace(string(row))
}

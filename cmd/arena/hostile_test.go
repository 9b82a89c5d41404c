package main

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/internal/hostiletest"
	"github.com/trajectory-arena/arena/internal/longtest"
)

// envelope is one attempt with this problem id and this think text.
func envelope(problem, think string) string {
	return fmt.Sprintf(`{"problem_id":%q,"status":"SUCCESS","execution_time":1,"inference_failure_count":0,"inference_total":1,"error":null,`+
		`"dialogue":[{"completion":{"reasoning_content":"","content":"","message":{"think":%q}},"extra_info":{"step":1,"query":"q","timestamp":1}}]}`, problem, think)
}

// zipBomb is a gzip file that grows a thousandfold, to 128 MiB of empty
// lines.
func zipBomb(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.CopyN(w, emptyLines{}, longtest.Pick[int64](128<<20, 32<<20)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

type emptyLines struct{}

func (emptyLines) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '\n'
	}
	return len(p), nil
}

// TestHostileInputIsCountedAndTheDayIsBuilt builds the sample day with hostile files of every kind
// added: the funnel counts each under its reason, and the corpus has the same rows as without them.
func TestHostileInputIsCountedAndTheDayIsBuilt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	day := filepath.Join(dir, "day")
	if err := os.CopyFS(day, os.DirFS(testDay)); err != nil {
		t.Fatal(err)
	}
	hostile := filepath.Join(day, "traces", "run=hostile")
	if err := os.Mkdir(hostile, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"deep.jsonl":     strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + "\n",
		"nul.jsonl":      "{\"problem_id\":\"\x00\n",
		"bomb.jsonl.gz":  zipBomb(t),
		"path.jsonl":     envelope("../../../etc/passwd", "x") + "\n",
		"large.jsonl":    envelope("large", strings.Repeat("word ", longtest.Pick(6<<20, 1<<20))) + "\n",
		"empty.jsonl":    "",
		"cut.jsonl.gz":   zipped(t, envelope("cut", "x"))[:60],
		"invalid.jsonl":  strings.Replace(envelope("invalid", "x"), `"x"`, "\"\xff\xfe\"", 1) + "\n",
		"number.jsonl":   strings.Replace(envelope("number", "x"), `"status":"SUCCESS"`, `"status":7`, 1) + "\n",
		"halfline.jsonl": envelope("half", "x")[:100] + "\n" + envelope("whole", "x") + "\n",
		"log.eval":       "PK\x03\x04" + strings.Repeat("\xff", 100),
		"rows.parquet":   "PAR1" + strings.Repeat("\xff", 100) + "PAR1",
		"rows.arrow":     "\xff\xff\xff\xff\xff\xff\xff\x7f" + strings.Repeat("\xff", 100),
		"episode.jsonl":  `{"schema_version":"oro.environment_episode.v1","call_trace":{"steps":7}}` + "\n",
		"ledger.jsonl":   `{"ledger":{"ledger_format":1,"episode":[7,{"kind":"action","step":-1}]}}` + "\n",
		"spans.jsonl":    `{"resourceSpans":[{"scopeSpans":[{"spans":7}]}]}` + "\n",
	} {
		if err := os.WriteFile(filepath.Join(hostile, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	endless := filepath.Join(hostile, "long.jsonl") // a line longer than the limit, sparse, so that it uses no disk space
	if err := os.WriteFile(endless, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(endless, longtest.Pick[int64](1<<30, 80<<20)); err != nil {
		t.Fatal(err)
	}
	var words bytes.Buffer
	if code := run(t.Context(), []string{"build", day, "--max-unreadable", "0.2", "-o", filepath.Join(dir, "corpus")}, nil, io.Discard, &words); code != cli.ExitOK {
		t.Fatalf("exit %d\n%s", code, words.String())
	}
	for _, reason := range []string{"too_deep", "bad_json", "empty_file", "truncated_gzip", "line_too_long", "corrupt_zip", "corrupt_columns"} {
		if !strings.Contains(words.String(), reason) {
			t.Errorf("the funnel does not name %s:\n%s", reason, words.String())
		}
	}
	buildTestDay(t, filepath.Join(dir, "plain"))
	shard := filepath.Join("data", "sft", "train-00000-of-00001.parquet")
	want, err := os.ReadFile(filepath.Join(dir, "plain", shard))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "corpus", shard)); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the training rows differ from those of the day without hostile files (%v)", err)
	}
}

// toldRefused matches the lines in which commands count unread records.
var toldRefused = regexp.MustCompile(`(?m)^read +[0-9,]+ +([0-9,]+)|^([0-9]+) records? could not be read`)

// ofEach is how many broken files of each format are read.
var ofEach = longtest.Pick(60, 4)

// TestHostileFilesOfEveryFormatByEveryReader runs each command that reads traces on broken files of
// each format: it ends with the same exit code as for any day, uses less than 512 MB, and counts as
// many rejected records as the other commands.
func TestHostileFilesOfEveryFormatByEveryReader(t *testing.T) {
	t.Parallel()
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("needs Linux, and is left out by -short: it measures processes")
	}
	dir := t.TempDir()
	day := filepath.Join(dir, "day")
	if err := os.CopyFS(day, os.DirFS(testDay)); err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(day, "traces", "run=hostile")
	files := brokenFiles(t, bad) + brokenBlobs(t, dir, bad)
	counts := map[int]bool{}
	for _, args := range [][]string{{"convert", bad, "--to", "atif"}, {"build", day}, {"import", bad, "--unguarded"}, {"filter", day}}[:longtest.Pick(4, 2)] {
		c := exec.CommandContext(t.Context(), program(t), append(args, "--max-unreadable", "1", "-o", filepath.Join(dir, args[0]))...)
		var stderr bytes.Buffer
		c.Stderr = &stderr
		c.Env = append(os.Environ(), "GOGC=100") // measures the memory that is needed, without uncollected garbage
		mb, err := peak(c)
		refused := 0
		for _, m := range toldRefused.FindAllStringSubmatch(stderr.String(), -1) {
			n, _ := strconv.Atoi(strings.ReplaceAll(m[1]+m[2], ",", ""))
			refused += n
		}
		t.Logf("%s: %d files, %d records refused, %d MB", args[0], files, refused, mb)
		if counts[refused] = true; err != nil || mb >= 512 || refused < 8*ofEach || len(counts) > 1 || strings.Contains(stderr.String(), "goroutine ") {
			t.Errorf("%s: %v, %d MB, %d refused: %.2000s", args[0], err, mb, refused, stderr.String())
		}
	}
}

// brokenBlobs writes broken files of Parquet, Arrow and a zipped log.
func brokenBlobs(t *testing.T, dir, folder string) (n int) {
	t.Helper()
	uncut := filepath.Join(dir, "whole")
	buildTestDay(t, uncut)
	must(t, cli.ExitOK, "export", uncut, "--profile", "arrow", "-o", filepath.Join(dir, "arrow"), "-q")
	must(t, cli.ExitOK, "convert", testDay, "--to", "inspect", "-o", filepath.Join(dir, "log.json"))
	zipLog(t, filepath.Join(dir, "log.json"), filepath.Join(dir, "log.eval"))
	for _, sample := range []string{filepath.Join(uncut, "data", "sft", "eval-00000-of-00001.parquet"), filepath.Join(dir, "arrow", "arrow", "eval", "data-00000.arrow"), filepath.Join(dir, "log.eval")} {
		b, err := os.ReadFile(sample)
		for i, f := range blobs(string(b), ofEach) {
			if err == nil {
				err = os.WriteFile(filepath.Join(folder, fmt.Sprintf("%d-%s", i, filepath.Base(sample))), []byte(f.Text), 0o644)
			}
			n++
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// zipLog packs a log of inspect_ai as its own recorder does: the header and each sample
// by itself.
func zipLog(t *testing.T, src, dst string) {
	t.Helper()
	b, err := os.ReadFile(src)
	var log map[string]json.RawMessage
	var samples []json.RawMessage
	if err != nil || json.Unmarshal(b, &log) != nil || json.Unmarshal(log["samples"], &samples) != nil {
		t.Fatal("no log", err)
	}
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	put := func(name string, v any) {
		f, failed := w.Create(name)
		if failed == nil {
			failed = json.NewEncoder(f).Encode(v)
		}
		if failed != nil {
			t.Fatal(failed)
		}
	}
	delete(log, "samples")
	put("header.json", log)
	for i, s := range samples[:20] {
		put(fmt.Sprintf("samples/%d_epoch_1.json", i), s)
	}
	if err = w.Close(); err != nil || os.WriteFile(dst, out.Bytes(), 0o644) != nil {
		t.Fatal(err)
	}
}

// brokenFiles writes broken files of each format into a folder.
func brokenFiles(t *testing.T, folder string) (n int) {
	t.Helper()
	var samples []string
	for _, dir := range []string{"formats", "shapes"} {
		matches, err := filepath.Glob(filepath.Join("..", "..", "traces", "testdata", dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		samples = append(samples, matches...)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, sample := range samples {
		text, err := os.ReadFile(sample)
		if strings.HasSuffix(sample, ".golden") {
			continue
		}
		files := hostiletest.Files(strings.TrimSpace(string(text)), 50_000)
		for i := range ofEach {
			dst := filepath.Join(folder, fmt.Sprintf("%d-%s", i, filepath.Base(sample)))
			if err == nil {
				err = os.WriteFile(dst, []byte(files[i*len(files)/ofEach].Text), 0o644)
			}
			n++
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return n
}

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// blobs are n files made of one that is no text: cut, with bytes flipped, blank or at
// their highest, most of them near the end, where such formats keep their tables.
func blobs(text string, n int) (files []hostiletest.File) {
	for i := range n {
		offset := len(text) * i / n
		if i%2 == 1 {
			offset = max(0, len(text)-1-3*i)
		}
		end := min(len(text), offset+8)
		changed := [...][2]string{
			{"cut", text[:offset]},
			{"flipped", text[:offset] + string([]byte{text[offset] ^ 0x10}) + text[offset+1:]},
			{"blank", text[:offset] + strings.Repeat("\x00", end-offset) + text[end:]},
			{"highest", text[:offset] + strings.Repeat("\xff", end-offset) + text[end:]},
		}[i/2%4]
		files = append(files, hostiletest.File{What: fmt.Sprintf("%s at %d", changed[0], offset), Text: changed[1]})
	}
	return files
}

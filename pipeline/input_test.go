package pipeline_test

import (
	"bytes"
	"compress/gzip"
	"path/filepath"
	"testing"
)

// oneInput is the first trace file of a day.
func oneInput(t *testing.T, day string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(day, "traces", "*", "*.jsonl.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("find traces in %s: %v", day, err)
	}
	return files[0]
}

func gzipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRunWritesADay(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "day")
	args := append(strings.Fields("-attempts 6 -problems 3 -products 40 -sentences 1 -pages 1 -o"), dir)
	if err := run(t.Context(), args); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"problems.jsonl", "catalog.jsonl", "labels.jsonl", "traces"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	if err := run(t.Context(), args); err == nil || !strings.Contains(err.Error(), "catalog.jsonl") {
		t.Errorf("a day was written over: %v", err)
	}
	if err := run(t.Context(), []string{"-attempts", "-1"}); err == nil {
		t.Error("a negative day was made")
	}
}

package traces

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/internal/longtest"
	"github.com/trajectory-arena/arena/traces/convert"
)

// TestCasesOfAnExaminer compares the cases in shared/cases with their right answers: every attempt
// with its messages, its reward, the other statements of its source, and the reason why it is
// excluded from training. The samples in testdata/formats are of the same kinds, for runs without
// the cases.
func TestCasesOfAnExaminer(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(longtest.Shared(t, "cases/incoming"), "*.json*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	golden := "testdata/cases.golden"
	var got strings.Builder
	for _, file := range files {
		content, failure := os.ReadFile(file)
		if failure != nil {
			t.Fatal(failure)
		}
		attempts, faults := readTextWith(t, filepath.Base(file), string(content), named())
		if len(faults) > 0 {
			t.Errorf("%s: %+v", filepath.Base(file), faults)
		}
		got.WriteString("== " + filepath.Base(file) + "\n")
		for _, trace := range attempts {
			row, _, writeErr := convert.Write(trace, convert.OpenAI)
			if writeErr != nil {
				t.Fatal(writeErr)
			}
			for _, m := range gjson.GetBytes(row, "messages").Array() {
				got.WriteString(messageWords(m) + "\n")
			}
			isUnread := func(word string) bool { return word == "metadata" || strings.HasPrefix(word, "unread:") }
			lost := slices.DeleteFunc(slices.Clone(trace.Lost), isUnread)
			got.WriteString("reward " + gjson.GetBytes(row, "reward").Raw + " lost [" + strings.Join(lost, " ") + "] vetoes [" + strings.Join(trace.Vetoes, " ") + "]\n")
		}
	}
	if *update {
		write(t, golden, got.String())
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	diff(t, string(want), got.String())
}

// messageWords returns a message of a row on one line.
func messageWords(m gjson.Result) string {
	words := []string{m.Get("role").Str}
	if m.Get("weight").Exists() {
		words = append(words, "(out of training)")
	}
	if reasoning := m.Get("reasoning_content").Str; reasoning != "" {
		words = append(words, "("+reasoning+")")
	}
	words = append(words, m.Get("content").Str)
	for _, call := range m.Get("tool_calls.#.function").Array() {
		words = append(words, call.Get("name").Str+call.Get("arguments").Str)
	}
	return strings.Join(words, " ")
}

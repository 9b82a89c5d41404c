package export_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/trajectory-arena/arena/corpus/rows"
)

// nasty are JSON values that formats and loaders are known to bend. Each is
// sent as an argument, as a result and, as text, as request, thought and
// answer.
var nasty = []string{
	`null`, `""`, `[]`, `{}`, `true`, `0`, `-0.0`, `1.50`, `1e300`, `12345678901234567890`,
	"\"a\u2028b\u2029c\"", `"🛒👩‍👩‍👧"`, `"\u0000\t\"\\/<b>&"`, `" padded "`, `"\"quoted\""`, `"12"`, `"null"`, `"[1, 2]"`, `" {} "`,
	`"line\nline\r\n"`, `"</tool_response>"`, `"\ud800"`, "\"a\xffb\"", `{"a":[{"b":[null,1.50,{}]}],"":""}`, `[null]`, `[[],{}]`,
}

// literal is a JSON string with a value between words: its text where it is a
// string itself.
func literal(t *testing.T, before, value, after string) string {
	t.Helper()
	b, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	inner := string(b[1 : len(b)-1])
	if strings.HasPrefix(value, `"`) {
		inner = value[1 : len(value)-1]
	}
	return `"` + before + inner + after + `"`
}

// nastyTraces returns traces with each of the values that formats may alter: as an argument, in a
// result, and in the texts of the user and the model. One result has ten megabytes.
func nastyTraces(t *testing.T) string {
	t.Helper()
	var lines []string
	for i, value := range nasty {
		text := value
		if strings.Contains(value, "tool_response") {
			text = `"plain"` // a row with a tag in the model's own text is dropped; another test covers it
		}
		lines = append(lines, talkAbout(t, i, value, text, literal(t, "", value, "")))
	}
	lines = append(lines, talkAbout(t, len(lines), `1`, `"long"`, `"`+strings.Repeat("long \u2028", 10<<20/8)+`"`))
	dir := t.TempDir()
	ok(t, os.WriteFile(filepath.Join(dir, "nasty.jsonl"), []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	return dir
}

func talkAbout(t *testing.T, i int, value, text, result string) string {
	t.Helper()
	return fmt.Sprintf(`{"id":"n%d","messages":[{"role":"user","content":%s},`+
		`{"role":"assistant","content":null,"reasoning_content":%s,"tool_calls":[{"id":"a","type":"function","function":{"name":"find","arguments":{"any":%s,"":%[4]s}}}]},`+
		`{"role":"tool","tool_call_id":"a","content":%s},{"role":"assistant","content":%s}],`+
		`"tools":[{"type":"function","function":{"name":"find","parameters":{"type":"object","properties":{"any":{},"":{}}}}}]}`,
		i, literal(t, fmt.Sprintf("request %d ", i), text, ""), literal(t, "think ", text, ""), value, result, literal(t, "done ", text, "."))
}

// vetoed reports whether a record holds a character that no text can hold, so that it is no row.
func vetoed(raw string) bool {
	return !utf8.ValidString(raw) || strings.Contains(raw, `\ud800`)
}

// TestUnusualTracesAreRowsOrCounted finds each record in the ledger: records that are not text by
// their reason, all others as rows.
func TestUnusualTracesAreRowsOrCounted(t *testing.T) {
	t.Parallel()
	dir := imported(t, nastyTraces(t))
	got := map[string]int{}
	for _, a := range readRows[rows.Attempt](t, filepath.Join(dir, "tables/attempts.parquet")) {
		got[a.Fate+" "+a.Reason]++
	}
	want := map[string]int{"kept ": len(nasty) - 1, "dropped lone_surrogate": 1, "dropped invalid_utf8": 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

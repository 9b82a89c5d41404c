package traces

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// TestARefusalGuesses checks that an unread document is refused with the kind of document that it
// resembles, the keys that show it, the version, and where to report it. The error repeats nothing
// else of the document.
func TestARefusalGuesses(t *testing.T) {
	t.Parallel()
	const secret = "AKIA7EXAMPLE42SECRET"
	seen := map[string]bool{}
	for _, l := range likenesses() {
		doc := "{}"
		for _, key := range l.Keys {
			var nested any = secret
			parts := strings.Split(key, ".")
			for i := len(parts) - 1; i > 0; i-- {
				nested = map[string]any{parts[i]: nested}
			}
			doc = merged(t, doc, parts[0], nested)
		}
		attempts, faults := readText(t, "x.json", doc)
		if len(attempts) != 0 || len(faults) != 1 {
			t.Errorf("%s: %d attempts, faults %+v of %s", l.Name, len(attempts), faults, doc)
			continue
		}
		detail := faults[0].Detail
		if !strings.Contains(detail, l.Name+" ("+strings.Join(l.Keys, ", ")) || !strings.Contains(detail, reportAddress) || strings.Contains(detail, secret) {
			t.Errorf("%s: %s", l.Name, detail)
		}
		if seen[strings.Join(l.Keys, " ")] {
			t.Errorf("%s is listed twice", l.Keys)
		}
		seen[strings.Join(l.Keys, " ")] = true
	}
	for doc, want := range map[string]string{
		`{"type":"metadata","protocol_version":"1.4"}`:                                                    "a session of Kimi CLI (type, protocol_version, version 1.4)",
		`{"type":"metadata","protocol_version":"` + secret + `"}`:                                         "a session of Kimi CLI (type, protocol_version)",
		`{"messages":"### Instruction:\nu\n\n### Response:\na"}`:                                          "an array of messages, and not one text with all of them,",
		`{"chosen":[{"role":"assistant","content":"a"}],"rejected":[{"role":"assistant","content":"b"}]}`: "pairs of a preference",
		`{"prompt":[{"role":"assistant","content":"a"},{"role":"user","content":"u"}]}`:                   "prompts without answers",
		`{"hello":1}`:        "no format with these keys is known: report it at " + reportAddress + ", or write each run as docs/how-to/my-agents.md says",
		`{"0":{},"1033":{}}`: "object with the keys 0, 1033; ",
		`{"schema_version":"ATIF-v1.9","steps":[]}`:                                         "write an older version, or report it at " + reportAddress,
		`{"kind":"MessageEvent","id":"a","timestamp":"t","source":"user","llm_message":{}}`: "one event is no attempt: join the events",
		`{"timestamp":"t","type":"a_new_kind","payload":{}}`:                                "codex without an attempt in it; it may be of a version that is not read",
	} {
		_, faults := readText(t, "x.json", doc)
		if len(faults) != 1 || !strings.Contains(faults[0].Detail, want) {
			t.Errorf("%s: %+v", doc, faults)
		}
	}
}

// merged returns a document with another member, or with another member in an object that it has.
func merged(t *testing.T, doc, key string, value any) string {
	t.Helper()
	o, ok := gjson.Parse(doc).Value().(map[string]any)
	if !ok {
		t.Fatal(doc)
	}
	o[key] = value
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

package filters

import (
	"encoding/json"
	"maps"
	"testing"
	"unicode/utf8"
)

// FuzzTextAndMembersReadJSON: an object is read like the standard library reads
// it: every member with its own text, and every string decoded.
func FuzzTextAndMembersReadJSON(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":"b"}`, ` { "a" : "x\n\"\\\/é\ud83d\ude00" , "b":[{"c":"]}"}], "d":1.5e3,"e":null }`, `{"lone":"\ud800x\udc00"}`, `{"a":{"b":"}"},"c":true}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var want map[string]json.RawMessage
		whole := utf8.ValidString(s) && json.Unmarshal([]byte(s), &want) == nil && want != nil
		got := map[string]json.RawMessage{}
		var p pad
		members(s, func(key, raw string) bool { // broken text must only not fail
			p.text(raw)
			got[p.text(`"`+key+`"`)] = json.RawMessage(raw)
			return true
		})
		if !whole {
			return
		}
		if !maps.EqualFunc(got, want, func(a, b json.RawMessage) bool { return string(a) == string(b) }) {
			t.Fatalf("read %q, want %q", got, want)
		}
		for key, raw := range want {
			var text string
			if json.Unmarshal(raw, &text) == nil && raw[0] == '"' && p.text(string(raw)) != text {
				t.Fatalf("%s: %q is read as %q, want %q", key, raw, p.text(string(raw)), text)
			}
		}
	})
}

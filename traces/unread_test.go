package traces

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/longtest"
	"github.com/trajectory-arena/arena/traces/convert"
)

// TestNothingIsLostSilently holds that a value under an unknown key is named, in a row and in a
// message, for every type of value.
func TestNothingIsLostSilently(t *testing.T) {
	t.Parallel()
	for _, value := range []string{`"text"`, `0.5`, `true`, `[1]`, `{"deep":"x"}`, `0`, `false`} {
		for place, row := range map[string]string{
			"row":     `{"id":"p","strange_key":%s,"messages":[{"role":"user","content":"u"},{"role":"assistant","content":"a"}]}`,
			"message": `{"id":"p","messages":[{"role":"user","content":"u"},{"role":"assistant","content":"a","strange_key":%s}]}`,
		} {
			attempts, faults := readTextWith(t, "rows.jsonl", fmt.Sprintf(row, value)+"\n", named())
			if len(attempts) != 1 || len(faults) > 0 {
				t.Fatalf("%s %s: %d traces, faults %v", place, value, len(attempts), faults)
			}
			if !slices.Contains(attempts[0].Lost, "unread:"+map[string]string{"message": "messages."}[place]+"strange_key") {
				t.Errorf("%s %s: lost %q", place, value, attempts[0].Lost)
			}
		}
	}
	for _, empty := range []string{`null`, `""`, `[]`, `{ }`} {
		attempts, _ := readTextWith(t, "rows.jsonl", `{"id":"p","strange_key":`+empty+`,"messages":[{"role":"user","content":"u"},{"role":"assistant","content":"a"}]}`+"\n", named())
		if len(attempts) != 1 || len(attempts[0].Lost) > 0 {
			t.Errorf("%s: %v", empty, attempts)
		}
	}
}

// TestInventedKeysAreNamed adds an unknown member to every object of every sample, one at a time:
// an attempt names it or holds it, or the record is refused.
func TestInventedKeysAreNamed(t *testing.T) {
	t.Parallel()
	const invented = "zq_invented"
	values := []string{`"a text"`, `0.75`, `false`, `[["nested"]]`, `{"deep":{"er":1}}`, `0`}
	samples := samplesOfAll(t)
	for name, text := range samples {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			places := objectPlaces(text)
			plain, _ := readTextWith(t, name, text, named())
			known := lossesOf(plain)
			for i, place := range places {
				if i%longtest.Pick(1, 3) > 0 {
					continue
				}
				member := fmt.Sprintf("%q:%s", invented, values[i%len(values)])
				if strings.TrimLeft(text[place.offset:], " \n")[0] != '}' {
					member += ","
				}
				attempts, faults := readTextWith(t, name, text[:place.offset]+member+text[place.offset:], named())
				path := pathOf(place.keys[:len(place.keys)-1], invented)
				want := []string{"unread:" + path, "unread:messages." + path, "unread:dialogue." + path} // the latter two in bare lists
				isElsewhere := func(word string) bool { return strings.HasSuffix(word, invented) && !slices.Contains(want, word) }
				isPairs := slices.Contains(place.keys, "attributes") || slices.Contains(place.keys, "logRecords")
				if !isPairs && slices.ContainsFunc(lossesOf(attempts), isElsewhere) {
					t.Errorf("%s is named as %q", path, lossesOf(attempts))
				}
				isNew := func(word string) bool { return !slices.Contains(known, word) }
				if len(faults) > 0 || slices.ContainsFunc(lossesOf(attempts), isNew) || slices.ContainsFunc(attempts, func(trace *arena.Trace) bool { return tells(t, trace, invented, place.keys) }) {
					continue
				}
				t.Errorf("silent: …%s%s…", text[max(0, place.offset-60):place.offset], member)
			}
			t.Logf("%d places", len(places))
		})
	}
}

// place is the offset after the opening brace of an object, with the keys of all objects around it and
// the attribute of OpenTelemetry that it is in.
type place struct {
	offset int
	keys   []string
}

// objectPlaces returns the places of all objects in a JSON text.
func objectPlaces(text string) (places []place) {
	var keys []string
	key := ""
	last := ""
	attribute := ""
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			end := i + 1
			for ; text[end] != '"'; end++ {
				if text[end] == '\\' {
					end++
				}
			}
			last = text[i+1 : end]
			if key == "key" {
				attribute = last[strings.LastIndex(last, ".")+1:]
			}
			i = end
		case ':':
			key = last
		case ',':
			key = ""
		case '{', '[':
			keys = append(keys, key)
			key = ""
			if text[i] == '{' {
				places = append(places, place{i + 1, append(slices.Clone(keys), attribute)})
			}
		case '}', ']':
			keys = keys[:len(keys)-1]
			key = ""
		}
	}
	return places
}

// lossesOf returns the names of the traces' losses.
func lossesOf(attempts []*arena.Trace) (words []string) {
	for _, trace := range attempts {
		words = append(words, trace.Lost...)
		words = append(words, trace.Vetoes...)
	}
	return words
}

// tells reports whether a trace names a key, or a value around it, as lost, or holds the key.
func tells(tb testing.TB, trace *arena.Trace, key string, around []string) bool {
	tb.Helper()
	isNamed := func(word string) bool {
		path, isUnread := strings.CutPrefix(word, "unread:")
		if !isUnread {
			return slices.Contains(wholeParts, word)
		}
		name := path[strings.LastIndex(path, ".")+1:]
		return strings.Contains(word, key) || path == "…" || slices.Contains(around, name)
	}
	if slices.ContainsFunc(trace.Lost, isNamed) {
		return true
	}
	text, err := json.Marshal(trace.Steps)
	if err != nil {
		tb.Fatal(err)
	}
	return strings.Contains(string(text), key) || strings.Contains(string(trace.Tools), key)
}

// pathOf returns the path of a key in the innermost of the objects with these keys, without the indices of
// lists. OpenTelemetry's pairs of a key and a value have no such path.
func pathOf(around []string, key string) string {
	isIndex := func(name string) bool { return strings.Trim(name, "0123456789") == "" }
	return strings.Join(append(slices.DeleteFunc(slices.Clone(around), isIndex), key), ".")
}

// wholeParts are the names of parts of a document that are lost completely.
var wholeParts = []string{
	"program_events", "other_branches", "other_scores", "other_spans", "hidden_reasoning", "user_tools", "greeting",
}

// TestDeclaredRewards checks that a reward is read under the names that data sets use, as a number,
// a text or a boolean.
func TestDeclaredRewards(t *testing.T) {
	t.Parallel()
	for member, want := range map[string]float64{
		`"reward":0.5`: 0.5, `"reward":"0.5"`: 0.5, `"score":0.25`: 0.25, `"success":true`: 1, `"success":false`: 0, `"resolved":true`: 1,
	} {
		attempts, _ := readTextWith(t, "rows.jsonl", `{"id":"p",`+member+`,"messages":[{"role":"user","content":"u"},{"role":"assistant","content":"a"}]}`+"\n", named())
		if len(attempts) != 1 || attempts[0].Declared == nil || *attempts[0].Declared != want {
			t.Errorf("%s: %v", member, attempts)
		}
	}
}

// TestMasksAreTheAuthors checks that a message which its author excluded from training is masked,
// for each tool with such a mark, and that rows of messages keep the mask.
func TestMasksAreTheAuthors(t *testing.T) {
	t.Parallel()
	const row = `{"id":"p","messages":[{"role":"user","content":"u"},{"role":"assistant","content":"a",%s},{"role":"user","content":"v"},{"role":"assistant","content":"b"}]}`
	for member, want := range map[string]bool{
		`"weight":0`: true, `"train":false`: true, `"trainable":false`: true, `"loss":false`: true, `"loss":0.0`: true, `"masked":true`: true, `"loss_mask":0`: true,
		`"weight":1`: false, `"train":true`: false, `"masked":false`: false, `"weight":0.5`: false,
	} {
		attempts, _ := readTextWith(t, "rows.jsonl", fmt.Sprintf(row, member)+"\n", named())
		if len(attempts) != 1 || attempts[0].Steps[0].Masked != want || attempts[0].Steps[2].Masked {
			t.Fatalf("%s: %+v", member, attempts)
		}
		if isUnread := member == `"weight":0.5`; isUnread != (len(attempts[0].Lost) > 0) {
			t.Errorf("%s: lost %q", member, attempts[0].Lost)
		}
		if !strings.Contains(rowOf(t, attempts[0]), `"weight":0`) == want {
			t.Errorf("%s: the row has no mask: %s", member, rowOf(t, attempts[0]))
		}
		if _, lost, err := convert.Write(attempts[0], convert.Responses); err != nil || slices.Contains(lost, convert.LossMask) != want {
			t.Errorf("%s: %v, lost %q", member, err, lost)
		}
	}
}

// TestHarmonyIsSplit checks that a text in the format of gpt-oss is split into reasoning, calls and
// text, and that a text which only resembles it is not.
func TestHarmonyIsSplit(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"<|channel|>analysis<|message|>Small lamps.<|end|><|start|>assistant<|channel|>commentary to=functions.find <|constrain|>json<|message|>{\"q\":\"lamp\"}<|call|>": `"Small lamps." "" find "{\"q\":\"lamp\"}"`,
		"<|start|>assistant to=functions.find<|channel|>commentary<|message|>{}<|call|>":                                                                                  `"" "" find "{}"`,
		"<|channel|>analysis<|message|>Fits.<|end|><|start|>assistant<|channel|>final<|message|>Lamp 17.<|return|>":                                                       `"Fits." "Lamp 17."`,
		"<|channel|>final<|message|>cut":          `"" "cut"`,
		"says <|channel|> and nothing else":       `"" "says <|channel|> and nothing else"`,
		"<|channel|>final<|message|>a<|end|> <b>": `"" "<|channel|>final<|message|>a<|end|> <b>"`,
	} {
		trace := one(t, `{"messages":[{"role":"user","content":"u"},{"role":"assistant","content":`+string(arena.Quote(content))+`}]}`)
		s := trace.Steps[0]
		got := fmt.Sprintf("%q %q", s.Reasoning, s.Content)
		for _, c := range s.Calls {
			got += fmt.Sprintf(" %s %q", c.Name, c.Arguments.Text())
		}
		if got != want {
			t.Errorf("%s: %s, want %s", content, got, want)
		}
	}
}

// TestWrongTypesAreNamed checks that a value of the sandbox's record with a wrong type is reported,
// and that the record is read.
func TestWrongTypesAreNamed(t *testing.T) {
	t.Parallel()
	for record, want := range map[string]string{
		`{"problem_id":{"a":1},"status":"SUCCESS","dialogue":[]}`:                                                                   "problem_id",
		`{"problem_id":"p","status":"SUCCESS","execution_time":"3","dialogue":[]}`:                                                  "execution_time",
		`{"problem_id":"p","status":"SUCCESS","inference_total":1.5,"dialogue":[]}`:                                                 "inference_total",
		`{"problem_id":"p","status":"FAILED","error":{"message":["m"]},"dialogue":[]}`:                                              "error.message",
		`{"problem_id":"p","status":"FAILED","error":7,"dialogue":[]}`:                                                              "error",
		`{"problem_id":"p","status":"SUCCESS","dialogue":[{"completion":"text"}]}`:                                                  "dialogue.completion",
		`{"problem_id":"p","status":"SUCCESS","dialogue":[{"completion":{"content":["a"]}}]}`:                                       "dialogue.completion.content",
		`{"problem_id":"p","status":"SUCCESS","dialogue":[{"completion":{"message":{"think":1,"tool_call":[]}}}]}`:                  "dialogue.completion.message.think",
		`{"problem_id":"p","status":"SUCCESS","dialogue":[{"extra_info":{"proxy_calls":[{"path":1,"response_truncated":"yes"}]}}]}`: "dialogue.extra_info.proxy_calls.path",
	} {
		if lost := one(t, record).Lost; !slices.Contains(lost, "unread:"+want) {
			t.Errorf("%s: lost %q, want %s", record, lost, want)
		}
	}
	for _, record := range []string{
		`{"problem_id":null,"status":"SUCCESS","execution_time":null,"error":null,"inference_total":null,"dialogue":null}`,
		`{"problem_id":7,"status":"SUCCESS","dialogue":[{"completion":null,"extra_info":{"step":null,"proxy_calls":null}}]}`,
	} {
		if lost := one(t, record).Lost; len(lost) > 0 {
			t.Errorf("%s: lost %q", record, lost)
		}
	}
}

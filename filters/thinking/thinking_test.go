package thinking_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters/evidence"
	"github.com/trajectory-arena/arena/filters/thinking"
)

const (
	modelText = "The red lamp costs 19.99, so I prefer it to the blue one."
	unsaid    = "Comparing both sellers, the second is clearly the better bargain."
)

// chat returns a reply of a model server with a message of this content.
func chat(content string) string {
	b, err := json.Marshal(map[string]any{"choices": []any{
		map[string]any{"message": map[string]any{"role": "assistant", "content": content}},
	}})
	if err != nil {
		panic(err) // texts can always be encoded
	}
	return string(b)
}

// measure returns the parts of a thought that no reply contains, for a log with these replies.
func measure(think string, replies ...string) thinking.Unsaid {
	t := &arena.Trace{InferenceTotal: len(replies), HasDialogue: true}
	step := arena.Step{}
	for i, body := range replies {
		step.Proxy = append(step.Proxy, arena.ProxyCall{
			Path:     "/inference/chat/completions",
			Status:   200,
			AtMS:     int64(1000 * (i + 1)),
			Response: arena.Raw(body),
		})
	}
	t.Steps = []arena.Step{step}
	return measureTrace(t, think)
}

func measureTrace(t *arena.Trace, think string) thinking.Unsaid {
	d := &arena.Dialogue{Turns: []arena.Turn{{Think: think}}}
	a := evidence.Examine(t, d, nil)
	defer a.Release()
	u, _, _ := thinking.Measure(a)
	return u
}

// TestThinkingIsFoundHoweverItIsWritten holds that a thought is found in the model's reply with any
// markup or escapes, and if a client changed its ends.
func TestThinkingIsFoundHoweverItIsWritten(t *testing.T) {
	t.Parallel()
	arguments, _ := json.Marshal(map[string]string{"thought": "First:\n" + modelText})
	quoted, _ := json.Marshal(map[string]string{"call": string(arguments)})
	for name, c := range map[string]struct{ think, reply string }{
		"as it is":         {modelText, chat("Hm. " + modelText + " Next.")},
		"case and markup":  {strings.ToUpper(modelText), chat("**" + strings.ReplaceAll(modelText, " ", "\n") + "**")},
		"a tag":            {modelText, chat("<think>" + modelText + "</think>")},
		"after a line end": {modelText, chat("First:\n" + modelText)},
		"reasoning":        {modelText, `{"choices":[{"message":{"content":"","reasoning_content":"` + modelText + `"}}]}`},
		"a second choice":  {modelText, `{"choices":[{"message":{"content":"no"}},{"message":{"content":"` + modelText + `"}}]}`},
		"arguments":        {modelText, `{"choices":[{"message":{"content":null,"tool_calls":[{"function":{"name":"think","arguments":` + string(arena.Quote(string(arguments))) + `}}]}}]}`},
		"a quoted call":    {modelText, chat(string(quoted))},
		"blocks":           {modelText, `{"content":[{"type":"thinking","thinking":"` + modelText + `"},{"type":"text","text":"go"}]}`},
		"a stream":         {modelText, string(arena.Quote("data: {\"choices\":[{\"delta\":{\"content\":\"The red lamp costs 19.99, so I \"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"prefer it to the blue one.\"}}]}\n\ndata: [DONE]\n"))},
		"a label":          {"[Step 3] " + modelText, chat(modelText)},
		"cut in a word":    {modelText[:len(modelText)-5], chat(modelText)},
		"cut with points":  {modelText[:len(modelText)-5] + "...", chat(modelText)},
		"no blanks":        {"红色的台灯价格是十九块九毛九比蓝色的那一盏便宜所以我选择红色的这一盏。", chat("好。红色的台灯价格是十九块九毛九比蓝色的那一盏便宜所以我选择红色的这一盏。")},
	} {
		if u := measure(c.think, c.reply); u.Sentences != 1 || u.Missing != 0 {
			t.Errorf("%s: %+v", name, u)
		}
	}
}

// TestThinkingOfNoModel holds that a thought which no reply contains counts as such with any other
// content of the log.
func TestThinkingOfNoModel(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ think, reply string }{
		"another thought":   {unsaid, chat(modelText)},
		"other words":       {"The red lamp is 19.99, therefore I like it more than the blue one.", chat(modelText)},
		"over two replies":  {modelText, chat(modelText[:25]) + "|" + chat(modelText[25:])},
		"only in a prompt":  {modelText, `{"prompt":"` + modelText + `","choices":[{"message":{"content":"ok"}}]}`},
		"a longer sentence": {strings.TrimSuffix(modelText, ".") + " of the other shop.", chat(modelText)},
	} {
		if u := measure(c.think, strings.Split(c.reply, "|")...); u.Sentences != 1 || u.Missing != 1 {
			t.Errorf("%s: %+v", name, u)
		}
	}
	if share := measure(modelText+" "+unsaid, chat(modelText)).Share(); share != 0.5 {
		t.Errorf("one of two sentences: %v", share)
	}
}

// TestLogWithAGapIsNoEvidence holds that a log with a gap is no evidence that a thought is missing.
func TestLogWithAGapIsNoEvidence(t *testing.T) {
	t.Parallel()
	cut := chat(unsaid)[:40]
	fullCall := arena.ProxyCall{
		Path:     "/inference/chat/completions",
		Status:   200,
		AtMS:     1000,
		Response: arena.Raw(chat("ok")),
	}
	marked := fullCall
	marked.Truncated = true
	for name, u := range map[string]thinking.Unsaid{
		"no reply":          measure(unsaid),
		"a cut reply":       measure(unsaid, chat("ok"), cut),
		"a reply cut mark":  measureTrace(&arena.Trace{InferenceTotal: 1, Steps: []arena.Step{{Proxy: []arena.ProxyCall{marked}}}}, unsaid),
		"a lost reply":      measureTrace(&arena.Trace{InferenceTotal: 2, Steps: []arena.Step{{Proxy: []arena.ProxyCall{fullCall}}}}, unsaid),
		"no thinking":       measure("", chat("ok")),
		"nothing but words": measure("Ok. Next. Go on now.", chat("fine")),
	} {
		want := arena.OriginOpen
		switch name {
		case "no thinking":
			want = arena.OriginNone
		case "nothing but words":
			want = arena.OriginClient
		}
		if u != (thinking.Unsaid{Origin: want}) || !math.IsNaN(u.Share()) {
			t.Errorf("%s: %+v", name, u)
		}
	}
	known := measureTrace(&arena.Trace{InferenceTotal: 1, Steps: []arena.Step{{Proxy: []arena.ProxyCall{fullCall}}}}, unsaid)
	if known.Missing != 1 || known.Origin != arena.OriginClient {
		t.Errorf("the same log without a gap: %+v", known)
	}
	for name, u := range map[string]thinking.Unsaid{
		"a complete log":   measure(unsaid, chat(unsaid)),
		"a log with a gap": measure(unsaid, chat(unsaid), cut),
	} {
		if u.Origin != arena.OriginModel {
			t.Errorf("%s has the sentence: %+v", name, u)
		}
	}
}

// TestLoggedIsWhatRepliesContain holds that of an incomplete log graded is the whole thinking, and
// logged the part that its replies contain, labels left out.
func TestLoggedIsWhatRepliesContain(t *testing.T) {
	t.Parallel()
	call := arena.ProxyCall{Path: "/inference/chat/completions", Status: 200, Response: arena.Raw(chat(modelText))}
	trace := &arena.Trace{InferenceTotal: 2, HasDialogue: true, Steps: []arena.Step{{Proxy: []arena.ProxyCall{call}}}}
	for think, want := range map[string]string{
		modelText:                   modelText,
		modelText + " " + unsaid:    modelText,
		"A beats B: " + modelText:   ": " + modelText,
		modelText + "\nCheaper one": modelText,
	} {
		d := &arena.Dialogue{Turns: []arena.Turn{{Think: think}}}
		a := evidence.Examine(trace, d, nil)
		_, graded, logged := thinking.Measure(a)
		a.Release()
		if logged == nil {
			logged = graded
		}
		if graded[0].Think != think || logged[0].Think != want {
			t.Errorf("%q: graded %v, logged %v", think, graded, logged)
		}
	}
}

// TestUnsaidSentencesAreTakenOut holds that only the sentences that no reply contains are removed.
func TestUnsaidSentencesAreTakenOut(t *testing.T) {
	t.Parallel()
	trace := &arena.Trace{InferenceTotal: 1, HasDialogue: true}
	trace.Steps = []arena.Step{{Proxy: []arena.ProxyCall{{Path: "/inference/chat/completions", Status: 200, Response: arena.Raw(chat(modelText))}}}}
	for think, want := range map[string]string{
		modelText:                               modelText,
		unsaid:                                  "",
		unsaid + " " + modelText + " " + unsaid: modelText,
		"Hm. " + modelText + "\n" + unsaid + "\nOk.":                modelText,
		"Step 3: " + modelText + " It is\nthe best.\nLamp":          ": " + modelText,
		modelText + "\n| red | 19.99 |\nIt is the cheapest of all.": modelText,
		modelText + "\nCheaper":                                     modelText,

		strings.TrimSuffix(modelText, "one.") + "dear": strings.TrimSuffix(modelText, " one."),
		strings.TrimSuffix(modelText, "."):             strings.TrimSuffix(modelText, "."),
		"I prefer it to the":                           "I prefer it to the",
	} {
		d := &arena.Dialogue{Turns: []arena.Turn{{Text: "a"}, {Think: think}}}
		a := evidence.Examine(trace, d, nil)
		_, turns, _ := thinking.Measure(a)
		a.Release()
		if got := turns[1].Think; got != want {
			t.Errorf("%q: %q, want %q", think, got, want)
		}
		if d.Turns[1].Think != think {
			t.Errorf("%q: the dialogue was changed", think)
		}
	}
}

package evidence_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters/evidence"
)

// logOf returns an attempt whose log has one reply, and then a request to each of these paths with
// the same parameters.
func logOf(content string, params map[string]string, paths ...string) *arena.Trace {
	encoded, err := json.Marshal(params)
	text, textErr := json.Marshal(content)
	if err = errors.Join(err, textErr); err != nil {
		panic(err) // texts can always be encoded
	}
	step := arena.Step{Proxy: []arena.ProxyCall{{
		Method:   "POST",
		Path:     "/inference/chat/completions",
		Status:   200,
		AtMS:     1000,
		Response: arena.Raw(`{"choices":[{"message":{"role":"assistant","content":` + string(text) + `}}]}`),
	}}}
	for i, path := range paths {
		step.Proxy = append(step.Proxy, arena.ProxyCall{
			Method:   "GET",
			Path:     path,
			Status:   200,
			AtMS:     int64(2000 + i),
			Params:   arena.Raw(encoded),
			Response: `{"result":"ok"}`,
		})
	}
	return &arena.Trace{InferenceTotal: 1, HasDialogue: true, Steps: []arena.Step{step}}
}

// links returns the link of each request of a log.
func links(t *testing.T, trace *arena.Trace) []evidence.Link {
	t.Helper()
	tools := evidence.Tools{
		"find_\u212a": {Tool: evidence.ToolAsk},
		"look":        {Tool: evidence.ToolAsk},
	}
	a := evidence.Examine(trace, &arena.Dialogue{}, tools)
	defer a.Release()
	var list []evidence.Link
	for i := range a.Log.Dispatches {
		list = append(list, a.Log.Dispatches[i].Link)
		a.NewestReply(&a.Log.Dispatches[i])
	}
	return list
}

// TestNameOfOtherLength holds that a tool's name is found whose lower case has another number of
// bytes: the Kelvin sign takes three bytes, its lower case k one.
func TestNameOfOtherLength(t *testing.T) {
	t.Parallel()
	for _, content := range []string{"find_k", "Then find_k\nquery: lamp", "find_k(lamp)"} {
		list := links(t, logOf(content, map[string]string{"query": "lamp"}, "/shop/find_\u212a"))
		if len(list) != 1 || list[0] == evidence.LinkNone {
			t.Errorf("%q: links %v, want one that is not %v", content, list, evidence.LinkNone)
		}
	}
}

// TestUnsearchedRequestsAreUnknown holds that a request is unknown, not unnamed, if the limit on
// comparisons ends the search for it. Each request has a value that the end of the reply contains.
func TestUnsearchedRequestsAreUnknown(t *testing.T) {
	t.Parallel()
	params := map[string]string{"z": "zinc lantern"}
	for i := range 60 {
		params[fmt.Sprintf("k%02d", i)] = fmt.Sprintf("word%02d", i)
	}
	content := strings.Repeat("a b c d ", 8000) + "\nzinc lantern"
	paths := make([]string, 40)
	for i := range paths {
		paths[i] = "/shop/look"
	}
	for i, link := range links(t, logOf(content, params, paths...)) {
		if link != evidence.LinkUnknown {
			t.Errorf("request %d: link %v, want %v", i, link, evidence.LinkUnknown)
		}
	}
}

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// streamOf is how a server writes its reply as a stream.
type streamOf struct {
	// pieces are the deltas of a call.
	pieces func(i int, id, name, arguments string) []map[string]any
	// text changes the whole stream.
	text func(string) string
	// two adds a second call.
	two bool
	// only refuses requests for other replies than streams.
	only bool
	// delta is added to the first chunk.
	delta map[string]any
}

func inPieces(i int, id, name, arguments string) []map[string]any {
	half := len(arguments) / 2
	return []map[string]any{
		{"index": i, "id": id, "type": "function", "function": map[string]any{"name": name, "arguments": arguments[:half]}},
		{"index": i, "function": map[string]any{"arguments": arguments[half:]}},
	}
}

// with returns the pieces with a change of each.
func with(change func(n int, piece, function map[string]any)) func(int, string, string, string) []map[string]any {
	return func(i int, id, name, arguments string) []map[string]any {
		pieces := inPieces(i, id, name, arguments)
		for n, p := range pieces {
			change(n, p, function(p))
		}
		return pieces
	}
}

func wholeCall(i int, id, name, arguments string) []map[string]any {
	return []map[string]any{{"index": i, "id": id, "type": "function", "function": map[string]any{"name": name, "arguments": arguments}}}
}

// streamQuirks answer with a stream of events.
func streamQuirks() (list []quirk) {
	for name, s := range map[string]streamOf{
		"plain":         {},
		"two":           {two: true},
		"only":          {only: true},
		"crlf":          {text: func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }},
		"no_space":      {text: func(s string) string { return strings.ReplaceAll(s, "data: ", "data:") }},
		"comments":      {text: func(s string) string { return ": ping\n\n" + strings.ReplaceAll(s, "\n\n", "\n\n: ping\n\n") }},
		"events":        {text: func(s string) string { return "event: message\nid: 1\nretry: 10\n" + s }},
		"no_done":       {text: func(s string) string { return strings.Replace(s, "data: [DONE]\n\n", "", 1) }},
		"no_usage":      {text: func(s string) string { return s[:strings.Index(s, `data: {"choices":[],`)] + "data: [DONE]\n\n" }},
		"index_0":       {two: true, pieces: func(_ int, id, name, a string) []map[string]any { return wholeCall(0, id, name, a) }},
		"index_1":       {two: true, pieces: func(i int, id, name, a string) []map[string]any { return inPieces(i+1, id, name, a) }},
		"index_5":       {two: true, pieces: func(i int, id, name, a string) []map[string]any { return inPieces(i+5, id, name, a) }},
		"index_missing": {two: true, pieces: with(func(_ int, p, _ map[string]any) { delete(p, "index") })},
		"index_null":    {two: true, pieces: with(func(_ int, p, _ map[string]any) { p["index"] = nil })},
		"id_repeated": {two: true, pieces: func(i int, id, name, a string) []map[string]any {
			p := inPieces(i, id, name, a)
			p[1]["id"] = id
			return p
		}},
		"index_0_ids": {two: true, pieces: func(_ int, id, name, a string) []map[string]any {
			p := inPieces(0, id, name, a)
			p[1]["id"] = id
			return p
		}},
		"id_missing": {two: true, pieces: with(func(_ int, p, _ map[string]any) { delete(p, "id") })},
		"nothing_given": {two: true, pieces: func(_ int, _, name, a string) []map[string]any {
			return []map[string]any{{"function": map[string]any{"name": name, "arguments": a}}}
		}},
		"name_repeated": {two: true, pieces: func(i int, id, name, a string) []map[string]any {
			p := inPieces(i, id, name, a)
			function(p[1])["name"] = name
			return p
		}},
		"name_null": {pieces: with(func(n int, p, f map[string]any) {
			p["type"] = nil
			if n == 1 {
				f["name"] = nil
			}
		})},
		"name_empty": {pieces: with(func(n int, p, f map[string]any) {
			if n == 1 {
				p["id"] = ""
				f["name"] = ""
			}
		})},
		"name_in_parts": {pieces: func(i int, id, name, a string) []map[string]any {
			p := inPieces(i, id, name[:3], "")
			function(p[1])["name"] = name[3:]
			function(p[1])["arguments"] = a
			return p
		}},
		"name_growing": {pieces: func(i int, id, name, a string) []map[string]any {
			p := inPieces(i, id, name[:3], "")
			function(p[1])["name"] = name
			function(p[1])["arguments"] = a
			return p
		}},
		"object": {pieces: func(i int, id, name, a string) []map[string]any {
			p := wholeCall(i, id, name, a)
			function(p[0])["arguments"] = json.RawMessage(a)
			return p
		}},
		"empty_then_all": {pieces: func(i int, id, name, a string) []map[string]any {
			p := inPieces(i, id, name, "")
			function(p[1])["arguments"] = a
			return p
		}},
		"reasoning": {delta: map[string]any{"reasoning_content": "Hm."}},
	} {
		list = append(list, quirk{name: "stream_" + name, change: s.send})
	}
	signed := streamOf{pieces: func(i int, id, name, a string) []map[string]any {
		p := inPieces(i, id, name, a)
		p[0]["extra_content"] = map[string]any{"signature": "s"}
		return p
	}}
	list = append(list,
		quirk{name: "stream_wants_signature", change: both(sends(400, "no signature", func(x *exchange) bool {
			return len(x.body.Get("messages.#.tool_calls.0.id").Array()) > len(x.body.Get("messages.#.tool_calls.0.extra_content.signature").Array())
		}), signed.send)},
		quirk{name: "stream_error_once", change: streamedOnce(streamOf{text: func(s string) string { return s[:len(s)/2] + "\n\ndata: {\"error\":{\"message\":\"worker died\"}}\n\n" }})},
		quirk{name: "stream_cut_once", change: streamedOnce(streamOf{text: func(s string) string { return s[:len(s)/2] }})},
	)
	return list
}

func streamedOnce(s streamOf) func(*exchange) bool {
	return func(x *exchange) bool {
		if onceAStep(x) {
			return s.send(x)
		}
		return streamOf{}.send(x)
	}
}

func (s streamOf) send(x *exchange) bool {
	if x.step < 0 && !s.only {
		return false
	}
	if s.only && !x.body.Get("stream").Bool() {
		x.w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(x.w, `{"error":{"message":"This model only supports streaming: set stream=true"}}`)
		return true
	}
	if s.pieces == nil {
		s.pieces = inPieces
	}
	var b strings.Builder
	event := func(delta map[string]any, finish any) {
		text, _ := json.Marshal(map[string]any{"id": "c", "model": "m", "choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}})
		fmt.Fprintf(&b, "data: %s\n\n", text)
	}
	first := map[string]any{"role": "assistant", "content": x.text[:2]}
	for k, v := range s.delta {
		first[k] = v
	}
	event(first, nil)
	event(map[string]any{"content": x.text[2:]}, nil)
	calls := x.calls
	if s.two && x.step >= 0 && x.step < 3 {
		calls = append(calls, map[string]any{"id": fmt.Sprintf("more_%d", x.step), "function": map[string]any{"name": "find_product", "arguments": fmt.Sprintf(`{"q": "again %d"}`, x.step)}})
	}
	for i, c := range calls {
		for _, piece := range s.pieces(i, fmt.Sprint(c["id"]), fmt.Sprint(function(c)["name"]), fmt.Sprint(function(c)["arguments"])) {
			event(map[string]any{"tool_calls": []any{piece}}, nil)
		}
	}
	event(map[string]any{}, x.choice["finish_reason"])
	usage, _ := json.Marshal(x.reply["usage"])
	fmt.Fprintf(&b, "data: {\"choices\":[],\"usage\":%s}\n\ndata: [DONE]\n\n", usage)
	text := b.String()
	if s.text != nil {
		text = s.text(text)
	}
	x.w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(x.w, text)
	return true
}

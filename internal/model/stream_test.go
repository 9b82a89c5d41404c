package model

import (
	"bytes"
	"encoding/json"
	"testing"
)

// FuzzJoinStream holds that a text sent in pieces is joined completely, and that no bytes make the
// reader panic or drop a body that is no stream.
func FuzzJoinStream(f *testing.F) {
	f.Add("{\"reasoning_quality\": 0.7}", 3, []byte(": ping\n\ndata: {\"choices\":[{}]}\ndata: [DONE]"))
	f.Add("é", 1, []byte("data: null\n\ndata:"))
	f.Add("", 1, []byte(`{"choices":[]}`))
	f.Fuzz(func(t *testing.T, text string, size int, foreign []byte) {
		var body bytes.Buffer
		pieces := []rune(text)
		for size = max(1, min(size, 64)); len(pieces) > 0; pieces = pieces[min(size, len(pieces)):] {
			event(t, &body, map[string]any{"delta": map[string]any{"content": string(pieces[:min(size, len(pieces))])}})
		}
		event(t, &body, map[string]any{"finish_reason": "stop"})
		r, err := Read(JoinStream(body.Bytes()))
		if want := string([]rune(text)); err != nil || r.Text() != want || r.Finish != "stop" {
			t.Errorf("the stream of %q was read as %q, %q: %v", want, r.Text(), r.Finish, err)
		}
		if out := JoinStream(foreign); !bytes.Contains(foreign, []byte("data:")) && !bytes.Equal(out, foreign) {
			t.Errorf("%q was changed to %q", foreign, out)
		}
	})
}

func event(t *testing.T, body *bytes.Buffer, choice map[string]any) {
	t.Helper()
	b, err := json.Marshal(map[string]any{"choices": []any{choice}})
	if err != nil {
		t.Fatal(err)
	}
	body.WriteString("data: " + string(b) + "\r\n\r\n")
}

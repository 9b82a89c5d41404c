package model

import "testing"

// FuzzRead holds for any reply of a server that no count is negative and that a second reading is
// equal.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		`{"choices":[{"message":{"content":"x"}}],"usage":{"prompt_tokens":-1,"completion_tokens":1e3}}`,
		`{"choices":[{"message":{"content":[{"type":"text","text":"a"},{"type":"image_url"}]}}]}`,
		`{"choices":[{"message":null}]}`, `{"choices":[{}]}`, `[]`, `null`, "",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := Read(body)
		again, twice := Read(body)
		if (err == nil) != (twice == nil) || r.Text() != again.Text() {
			t.Fatalf("%v, then %v", err, twice)
		}
		if u := r.Usage; u != nil && min(u.Prompt, u.Completion) < 0 {
			t.Fatalf("%+v", u)
		}
	})
}

package model

import (
	"net/http"
	"testing"
	"time"
)

// FuzzReadGivesWholeCompletions: whatever a server sends, what is read of it
// has no negative count and reads the same again.
func FuzzReadGivesWholeCompletions(f *testing.F) {
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

// FuzzRetryAfterIsAPause: whatever the header says, the pause is none or later,
// and never more than some decades.
func FuzzRetryAfterIsAPause(f *testing.F) {
	f.Add("1", "")
	f.Add("Wed, 21 Oct 2026 07:28:00 GMT", "Wed, 21 Oct 2026 07:27:30 GMT")
	f.Add("-3", "x")
	f.Add("1e300", "")
	f.Add("NaN", "")
	f.Fuzz(func(t *testing.T, value, date string) {
		h := http.Header{"Retry-After": {value}, "Date": {date}}
		if d := retryAfter(h, time.Unix(1_790_000_000, 0)); d < 0 {
			t.Fatalf("%q gives %v", value, d)
		}
	})
}

func TestRetryAfterDatesUseTheServersClock(t *testing.T) {
	t.Parallel()
	h := http.Header{"Retry-After": {"Wed, 21 Oct 2026 07:28:00 GMT"}, "Date": {"Wed, 21 Oct 2026 07:27:30 GMT"}}
	if d := retryAfter(h, time.Now()); d != 30*time.Second {
		t.Errorf("got %v", d)
	}
}

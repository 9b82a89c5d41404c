package redact

import (
	"strings"
	"testing"
	"time"

	"github.com/trajectory-arena/arena/internal/longtest"
)

// TestCookiesAreHeadersWithASession checks which headers the rule removes and which it keeps.
func TestCookiesAreHeadersWithASession(t *testing.T) {
	t.Parallel()
	r := New(Options{})
	const long = "abcdefgh12345678"
	for text, becomes := range map[string]string{
		"cookie: sid=" + long:                     "cookie: *",
		"Set-Cookie: a=b; sid=" + long + "; c":    "Set-Cookie: *; c",
		`"cookie":"sid=` + long + `","x":1`:       `"cookie":"*","x":1`,
		`{\"cookie\": \"sid=` + long + `\"}`:      `{\"cookie\": \"*\"}`,
		"cookie = a=b;sid=" + long:                "cookie = *",
		"cookie cookie=" + long + "1=2;x=" + long: "cookie cookie=*",
		"cookie: a=b; c=d1":                       "cookie: a=b; c=d1",
		"cookie: sid=abcdefghijklmnop":            "cookie: sid=abcdefghijklmnop",
		"cookie jar, 16 cookies: chocolate":       "cookie jar, 16 cookies: chocolate",
		"cookie:    sid=" + long:                  "cookie:    sid=" + long,
	} {
		got := r.Text(text, Counts{})
		want := strings.ReplaceAll(becomes, "*", Placeholder("cookie"))
		if got != want {
			t.Errorf("%q is changed to %q, want %q", text, got, want)
		}
	}
}

// TestLongCookieHeadersAreFoundWhole checks a header in which the session is the last of many
// pairs.
func TestLongCookieHeadersAreFoundWhole(t *testing.T) {
	t.Parallel()
	r := New(Options{})
	text := "Cookie: " + strings.Repeat("consent=yes; ", 40) + "session=" + "a1B2c3D4e5F6g7H8i9J0"
	if got := r.Text(text, Counts{}); got != "Cookie: "+Placeholder("cookie") {
		t.Error(got)
	}
}

// TestDenseWordsTakeNoTimeEach checks the time for a text of many words. It would take hours if the
// search walked over the remaining text after each word.
func TestDenseWordsTakeNoTimeEach(t *testing.T) {
	t.Parallel()
	r := New(Options{})
	done := make(chan bool)
	go func() {
		for _, word := range []string{"cookie=", "cookie:", "cookie=a;", "cookie=a1", "password: token: secret: ", "secret="} {
			r.Scan(strings.Repeat(word, longtest.Pick(1<<19, 1<<18)/len(word)))
		}
		done <- true
	}()
	select {
	case <-done:
	case <-time.After(4 * time.Minute):
		t.Error("not done within four minutes")
	}
}

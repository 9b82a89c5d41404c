package canonical_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/internal/canonical"
	"github.com/trajectory-arena/arena/internal/digest"
)

// TestDigestIsOfThePythonForm compares forms with those of oro_env_runtime.canonical 4.0.1 for the
// same texts.
func TestDigestIsOfThePythonForm(t *testing.T) {
	t.Parallel()
	for text, form := range map[string]string{
		` {"b" : 1, "a": [true, null, 1.0]} `:          `{"a":[true,null,1.0],"b":1}`,
		`[1e16, 1e-7, 1e15, 0.0001, -0.0, 1E2]`:        `[1e+16,1e-07,1000000000000000.0,0.0001,-0.0,100.0]`,
		`["\u00e9<>&/\u2028\u007f", "\u0001\n\t\"\\"]`: "[\"é<>&/\u2028\u007f\",\"\\u0001\\n\\t\\\"\\\\\"]",
		`-0`:                   `0`,
		`9223372036854775807`:  `9223372036854775807`,
		`{"é":1,"z":2,"a":3}`:  `{"a":3,"z":2,"é":1}`,
		`{"a":1,"a":2}`:        `{"a":2}`,
		`123456789012345678.0`: `1.2345678901234568e+17`,
	} {
		got, err := canonical.Digest(text)
		if want := digest.SHA256([]byte(form)); got != want || err != nil {
			t.Errorf("%s: %v, not of the form %s", text, err, form)
		}
	}
}

func TestDigestRefusesWhatHasNoForm(t *testing.T) {
	t.Parallel()
	for _, text := range []string{``, `{`, `1 2`, `9223372036854775808`, `1e999`, strings.Repeat("[", 257) + strings.Repeat("]", 257)} {
		if _, err := canonical.Digest(text); !errors.Is(err, canonical.ErrNot) {
			t.Errorf("%.20s: %v", text, err)
		}
	}
}

package cursor

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestValidIsWhatEncodingJSONReads(t *testing.T) {
	t.Parallel()
	const deepest = 10_000
	texts := []string{
		``, ` `, `{}`, ` [1, "a"] `, `[1,]`, `{"a":1}x`, `"a`, `nul`, `null`, "\"\n\"", `[1 2]`,
		strings.Repeat("[", deepest) + strings.Repeat("]", deepest),
		strings.Repeat("[", deepest+1) + strings.Repeat("]", deepest+1),
	}
	for _, text := range texts {
		if got, want := Valid(text), json.Valid([]byte(text)); got != want {
			t.Errorf("Valid(%.20q) = %v, want %v", text, got, want)
		}
	}
}

func TestValidNeedsNoStack(t *testing.T) {
	t.Parallel()
	if Valid(strings.Repeat("[", 16<<20)) {
		t.Error("sixteen million open brackets are valid")
	}
}

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
		got := Valid(text)
		want := json.Valid([]byte(text))
		if got != want {
			t.Errorf("Valid(%.20q) = %v, want %v", text, got, want)
		}
	}
}

func TestFiniteIsWhatAFloatHolds(t *testing.T) {
	t.Parallel()
	zeros := strings.Repeat("0", 308)
	nines := strings.Repeat("9", 308)
	for text, want := range map[string]bool{
		`{"a":[1e308,-1.5E+3,1e-400,12345678901234567890]}`: true, `"1e400"`: true, `{"1e400":0}`: true, nines: true, "1" + zeros: true,
		`1e309`: false, `{"a":[0,{"b":-1E400}]}`: false, "2" + nines: false, `[1e400,1]`: false, `{"a":1`: false,
	} {
		if got := Finite(text); got != want {
			t.Errorf("Finite(%.40q) = %v, want %v", text, got, want)
		}
	}
}

func TestValidNeedsNoStack(t *testing.T) {
	t.Parallel()
	if Valid(strings.Repeat("[", 16<<20)) {
		t.Error("sixteen million open brackets are valid")
	}
}

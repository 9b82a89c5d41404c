package label

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/report/attempt"
)

// TestAPageIsBlindAndTakesTextForText checks that the page does not contain the results of the
// instruments, that no text ends its data, and that only its own script may run.
func TestAPageIsBlindAndTakesTextForText(t *testing.T) {
	t.Parallel()
	hostile := "</script><script>alert(1)</script><!--\u2028\x00"
	story := &attempt.Story{
		Query: hostile, Odds: []filters.Term{{Rule: "FOUND"}}, Faults: []string{"FOUND"},
		Turns: []attempt.Turn{{Think: hostile, Held: []string{"FOUND"}, Nowhere: []string{"FOUND"}, Repairs: []string{"FOUND"}, Calls: []attempt.Call{
			{Name: hostile, Arguments: hostile, Result: strings.Repeat("x", 100_000), Answered: true, Link: "FOUND", Reply: 7},
		}}},
		Replies: []attempt.Reply{{Text: hostile}},
	}
	b, err := Page("day", []Attempt{{ID: hostile, Near: []string{hostile}, Story: story}, {ID: "b"}})
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(b, []byte("FOUND")) || bytes.Contains(b, []byte("alert(1)</script>")) || len(b) > 40_000 {
		t.Errorf("%d bytes, which show the findings or end the data:\n%.500s", len(b), b)
	}
	if n := bytes.Count(b, []byte("</script>")); n != 2 {
		t.Errorf("%d scripts end, of 2", n)
	}
	_, tail, _ := bytes.Cut(b, []byte("<script>"))
	script, _, _ := bytes.Cut(tail, []byte("</script>"))
	hash := sha256.Sum256(script)
	if !bytes.Contains(b, []byte("'sha256-"+base64.StdEncoding.EncodeToString(hash[:])+"'")) {
		t.Error("the page's own script may not run")
	}
}

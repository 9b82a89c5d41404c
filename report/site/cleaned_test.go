package site

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/corpus/redact"
)

// TestPartsAreCleanedAsTheWhole cleans data of several parts, whose texts look like the
// places between objects and hold a secret each.
func TestPartsAreCleanedAsTheWhole(t *testing.T) {
	t.Parallel()
	r := redact.New(redact.Options{})
	type turn struct {
		Text string `json:"text"`
	}
	var turns []turn
	for i := range 200 {
		turns = append(turns, turn{fmt.Sprintf(`},{"write to jane.roe%d@corp-mail.com %s`, i, strings.Repeat("a lamp of cork ", 2000))})
	}
	b, err := json.Marshal(turns)
	if err != nil {
		t.Fatal(err)
	}
	calls := make(chan int, 100)
	clean := func(text string) string {
		calls <- len(text)
		return r.Text(text, redact.Counts{})
	}
	cleaned := r.Text(string(b), redact.Counts{})
	if got := string(cleanJSON(string(b), clean)); got != cleaned || strings.Contains(got, "corp-mail") {
		t.Errorf("%d bytes in parts, %d in one", len(got), len(cleaned))
	}
	if len(calls) < 2 {
		t.Errorf("%d bytes were cleaned in %d part", len(b), len(calls))
	}
}

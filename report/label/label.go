// Package label draws the page on which people label a sample of attempts. It
// shows what was said, dispatched and returned, and nothing of what filter, judge
// and guard make of it.
package label

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/text"
	"github.com/trajectory-arena/arena/report/attempt"
)

// page is the HTML page on which people label attempts.
//
//go:embed label.html
var page []byte

// Attempt is one attempt of a sample.
type Attempt struct {
	ID      string `json:"id"`
	Run     string `json:"run"`
	Problem string `json:"problem"`
	// Near are the protected requests that share the most words with the attempt's own request,
	// whether or not the guard dropped the attempt.
	Near []string `json:"near"`
	// Story is nil if the trace of the attempt is not available.
	Story *attempt.Story `json:"story"`
}

const maxText = 8 << 10

// Page writes the page of a sample as one file that loads nothing from a server. The browser
// stores answers under the sample's name.
func Page(sample string, attempts []Attempt) ([]byte, error) {
	for i := range attempts {
		attempts[i].Story = blind(attempts[i].Story)
	}
	data, err := json.Marshal(map[string]any{"sample": sample, "attempts": attempts})
	if err != nil {
		return nil, fmt.Errorf("encode attempts: %w", err)
	}
	_, remaining, _ := bytes.Cut(page, []byte("<script>"))
	script, _, _ := bytes.Cut(remaining, []byte("</script>"))
	hash := sha256.Sum256(script)
	out := bytes.Replace(
		page,
		[]byte("SCRIPT-HASH"),
		[]byte("sha256-"+base64.StdEncoding.EncodeToString(hash[:])),
		1,
	)
	return bytes.Replace(out, []byte("SAMPLE-DATA"), data, 1), nil // encoding/json writes < as \u003c
}

// blind returns a copy of an attempt's dialogue without the findings of the filter and the judge,
// so that they cannot influence the people who label it. Texts are cut to maxText bytes.
func blind(s *attempt.Story) *attempt.Story {
	if s == nil {
		return nil
	}
	out := attempt.Story{
		Query:  cut(s.Query),
		Beside: calls(s.Beside),
	}
	for _, t := range s.Turns {
		out.Turns = append(out.Turns, attempt.Turn{
			Step:  t.Step,
			User:  cut(t.User),
			Think: cut(t.Think),
			Text:  cut(t.Text),
			Calls: calls(t.Calls),
		})
	}
	for _, r := range s.Replies {
		out.Replies = append(out.Replies, attempt.Reply{
			Text:   cut(r.Text),
			Status: r.Status,
		})
	}
	return &out
}

func calls(attemptCalls []attempt.Call) []attempt.Call {
	return slicesx.Map(attemptCalls, func(c attempt.Call) attempt.Call {
		return attempt.Call{
			Name: c.Name, Arguments: cut(c.Arguments), Result: cut(c.Result), Answered: c.Answered, Sent: cut(c.Sent), Status: c.Status,
		}
	})
}

func cut(s string) string {
	if len(s) <= maxText {
		return s
	}
	return text.ClipBytes(s, maxText) + " … (cut)"
}

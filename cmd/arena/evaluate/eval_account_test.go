package evaluate

import (
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/internal/evaluation"
)

func TestCostNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	prompt := int64(200)
	completion := int64(80)
	s := &evaluation.Summary{SolvedProblems: 2, Tokens: evaluation.Tokens{Prompt: &prompt, Completion: &completion, Uncounted: 1}}
	c := (&Flags{}).cost(s, nil)
	if words := c.String(); !strings.HasSuffix(words, "100 prompt tokens, 40 completion tokens a solved problem (2 solved); the server counted no tokens for 1 reply, which no figure holds") || c.Uncounted != 1 {
		t.Error(words)
	}
	s.Tokens.Uncounted = 0
	if words := (&Flags{}).cost(s, nil).String(); !strings.HasSuffix(words, "(2 solved)") {
		t.Error(words)
	}
}

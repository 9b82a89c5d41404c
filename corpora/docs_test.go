package corpora_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/corpora"
)

// TestEveryColumnIsDocumented fails for a column that docs/columns.md lacks.
func TestEveryColumnIsDocumented(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../docs/columns.md")
	ok(t, err)
	all := slices.Concat(corpora.Columns[corpora.SFT](), corpora.Columns[corpora.RL](), corpora.Columns[corpora.Pref](), corpora.Columns[corpora.KTO](),
		corpora.Columns[corpora.Steps](), corpora.Columns[corpora.Text](), corpora.Columns[corpora.ShareGPT](), corpora.Columns[corpora.Prompts](),
		corpora.Columns[corpora.VerlSFT](), corpora.Columns[corpora.Attempt](), corpora.Columns[corpora.Verdict](), corpora.Columns[corpora.Outcome](),
		corpora.Columns[corpora.Judgement](), corpora.Columns[corpora.Leak]())
	for _, c := range all {
		if !strings.Contains(string(doc), "`"+c+"`") {
			t.Errorf("docs/columns.md lacks %s", c)
		}
	}
}

package corpus_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/corpus/rows"
)

// TestEveryColumnIsDocumented fails for a column that docs/columns.md lacks.
func TestEveryColumnIsDocumented(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../docs/columns.md")
	ok(t, err)
	names := slices.Concat(columns[rows.SFT](), columns[rows.RL](), columns[rows.Pref](), columns[rows.KTO](),
		columns[rows.Steps](), columns[rows.Text](), columns[rows.ShareGPT](), columns[rows.Prompts](),
		columns[rows.VerlSFT](), columns[rows.Attempt](), columns[rows.Verdict](), columns[rows.Outcome](),
		columns[rows.Axes](), columns[rows.Weighted](), columns[rows.Judgement](), columns[rows.Leak](), columns[rows.Place]())
	for _, c := range names {
		if !strings.Contains(string(doc), "`"+c+"`") {
			t.Errorf("docs/columns.md lacks %s", c)
		}
	}
}

package corpus_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/corpus/export/exporttest"
	"github.com/trajectory-arena/arena/corpus/rows"
)

// TestEveryColumnIsDocumented fails for a column that docs/columns.md lacks.
func TestEveryColumnIsDocumented(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../docs/columns.md")
	ok(t, err)
	all := slices.Concat(exporttest.Columns[rows.SFT](), exporttest.Columns[rows.RL](), exporttest.Columns[rows.Pref](), exporttest.Columns[rows.KTO](),
		exporttest.Columns[rows.Steps](), exporttest.Columns[rows.Text](), exporttest.Columns[rows.ShareGPT](), exporttest.Columns[rows.Prompts](),
		exporttest.Columns[rows.VerlSFT](), exporttest.Columns[rows.Attempt](), exporttest.Columns[rows.Verdict](), exporttest.Columns[rows.Outcome](),
		exporttest.Columns[rows.Axes](), exporttest.Columns[rows.Weighted](), exporttest.Columns[rows.Judgement](), exporttest.Columns[rows.Leak](), exporttest.Columns[rows.Place]())
	for _, c := range all {
		if !strings.Contains(string(doc), "`"+c+"`") {
			t.Errorf("docs/columns.md lacks %s", c)
		}
	}
}

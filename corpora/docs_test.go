package corpora_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/corpora"
	"github.com/trajectory-arena/arena/corpora/export/exporttest"
)

// TestEveryColumnIsDocumented fails for a column that docs/columns.md lacks.
func TestEveryColumnIsDocumented(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../docs/columns.md")
	ok(t, err)
	all := slices.Concat(exporttest.Columns[corpora.SFT](), exporttest.Columns[corpora.RL](), exporttest.Columns[corpora.Pref](), exporttest.Columns[corpora.KTO](),
		exporttest.Columns[corpora.Steps](), exporttest.Columns[corpora.Text](), exporttest.Columns[corpora.ShareGPT](), exporttest.Columns[corpora.Prompts](),
		exporttest.Columns[corpora.VerlSFT](), exporttest.Columns[corpora.Attempt](), exporttest.Columns[corpora.Verdict](), exporttest.Columns[corpora.Outcome](),
		exporttest.Columns[corpora.Judgement](), exporttest.Columns[corpora.Leak]())
	for _, c := range all {
		if !strings.Contains(string(doc), "`"+c+"`") {
			t.Errorf("docs/columns.md lacks %s", c)
		}
	}
}

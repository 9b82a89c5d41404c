package corpus_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/export/exporttest"
)

// TestEveryColumnIsDocumented fails for a column that docs/columns.md lacks.
func TestEveryColumnIsDocumented(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../docs/columns.md")
	ok(t, err)
	all := slices.Concat(exporttest.Columns[corpus.SFT](), exporttest.Columns[corpus.RL](), exporttest.Columns[corpus.Pref](), exporttest.Columns[corpus.KTO](),
		exporttest.Columns[corpus.Steps](), exporttest.Columns[corpus.Text](), exporttest.Columns[corpus.ShareGPT](), exporttest.Columns[corpus.Prompts](),
		exporttest.Columns[corpus.VerlSFT](), exporttest.Columns[corpus.Attempt](), exporttest.Columns[corpus.Verdict](), exporttest.Columns[corpus.Outcome](),
		exporttest.Columns[corpus.Judgement](), exporttest.Columns[corpus.Leak]())
	for _, c := range all {
		if !strings.Contains(string(doc), "`"+c+"`") {
			t.Errorf("docs/columns.md lacks %s", c)
		}
	}
}

package evaluate

import (
	"path/filepath"
	"testing"

	"github.com/trajectory-arena/arena/internal/canary"
	"github.com/trajectory-arena/arena/report"
)

// TestCanariesReachNoPage writes secrets of two hundred kinds into the conversations
// and the cells of a run's page.
func TestCanariesReachNoPage(t *testing.T) {
	t.Parallel()
	dir, secrets := t.TempDir(), canary.All()
	s := report.Section{Columns: []string{"model"}}
	for _, c := range secrets {
		s.Rows = append(s.Rows, report.Row{Cells: []string{"m " + c.Text, c.Text}})
		s.Talks = append(s.Talks, report.Talk{Title: c.Text, Lines: []report.Line{{Who: "assistant", Text: "I noted " + c.Text}, {Who: "tool", Text: c.Text}}})
	}
	if err := writePage(filepath.Join(dir, pageFile), &report.Page{Title: "A run", Sections: []report.Section{s}}); err != nil {
		t.Fatal(err)
	}
	for _, f := range canary.Find(t, secrets, dir) {
		t.Errorf("%s: %s", f.Kind, f.Path)
	}
}

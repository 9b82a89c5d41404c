package build

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/redact"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/internal/canary"
	"github.com/trajectory-arena/arena/pipeline/reports"
)

// TestCanariesReachNoPage writes secrets of two hundred kinds into all that a page
// takes from traces and banks, and draws the pages as a corpus holds them.
func TestCanariesReachNoPage(t *testing.T) {
	t.Parallel()
	r := redact.New(redact.Options{})
	secrets := canary.All()
	for i, c := range secrets {
		set := &reports.Set{Funnel: []corpus.Stage{{Name: "read", In: 2, Out: 1, Failures: map[string]int64{c.Text: 1}}}}
		set.Agents.Agents = []reports.AgentShare{{Agent: c.Text, Attempts: 1, Kept: 1}}
		set.Judges.Judge = "gates " + c.Text
		set.Leak.Guard = &guard.Report{Injection: &guard.InjectionReport{}, Dropped: []guard.DroppedRow{{ID: "run " + c.Text, HeldOut: c.Text, Tier: guard.TierSpec, Evidence: "the text says " + c.Text}}}
		files, err := plots(set)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		for name, page := range files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(r.Text(string(page), redact.Counts{})), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, f := range canary.Find(t, secrets[i:i+1], dir) {
			t.Errorf("%s: %s", f.Kind, f.Path)
		}
	}
}

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/pipeline/recipe"
)

// TestATemplatedDayVerifies builds a day whose requests have one template: the build raises its
// threshold, and the commands that read the corpus use the raised one.
func TestATemplatedDayVerifies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	day := filepath.Join(dir, "day")
	out := filepath.Join(dir, "out")
	if err := os.CopyFS(day, os.DirFS(filepath.FromSlash(testDay))); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(filepath.Join(day, "problems.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	things := strings.Fields("lamp clock chair table shelf mirror carpet pillow kettle toaster teapot ladle whisk apron mug lantern tent hammock compass whistle")
	makers := strings.Fields("mori brelane kovado stezo daibra neozo faika rotra astora belvin corda drisko elvane hestia ivolen jorund")
	relatives := strings.Fields("aunt uncle nephew niece cousin neighbour colleague teacher dentist baker gardener plumber librarian pianist sailor")
	does := strings.Split("keeps seven sheep,turns ninety on Sunday,drives a yellow taxi,writes crime novels,films wild geese,sings in a choir,studies volcanoes abroad", ",")
	asks := []string{"Please find a %s by %s in shop %d.", "I want a %s by %s from shop %d.", "A %s by %s, please, sold by shop %d."}
	for i := range 600 {
		thing := things[i%20]
		maker := makers[(i*7+i/120)%16]
		shop := 11 + i/120
		fmt.Fprintf(file, `{"query":"%s My %s %s.","category":"Product","problem_id":"templated-%d","reward":{"product_id":"%d","title":["%[6]s %[7]s%[5]d"],"attributes":[{"brand":["%[7]s"]}]}}`+"\n",
			fmt.Sprintf(asks[i%3], thing, maker, shop), relatives[i%15], does[i%7], i, 1000+i*7, thing, maker)
	}
	if err = file.Close(); err != nil {
		t.Fatal(err)
	}
	must(t, cli.ExitOK, "build", day, "-o", out, "--set", "guard.shares.eval=0.3", "-q")
	var report struct {
		Guard struct{ Threshold float64 }
	}
	b, err := os.ReadFile(filepath.Join(out, "reports", "leak.json"))
	if err != nil || json.Unmarshal(b, &report) != nil || report.Guard.Threshold < 0.5 {
		t.Fatalf("the threshold is %v, which shows nothing: %v", report.Guard.Threshold, err)
	}
	must(t, cli.ExitOK, "verify", out)
	words := must(t, cli.ExitOK, "recipe", "sft", "--corpus", out, "-o", filepath.Join(dir, "stage"))
	if !strings.Contains(words, " 0 dropped") {
		t.Errorf("a recipe drops rows that the build kept:\n%s", words)
	}
	if _, threshold, err := recipe.Problems(corpus.Disk{}, out, nil); err != nil || threshold != report.Guard.Threshold {
		t.Errorf("rollouts have the threshold %v, the corpus %v: %v", threshold, report.Guard.Threshold, err)
	}
}

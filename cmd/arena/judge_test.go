package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/internal/model/modeltest"
)

// TestJudgeScripts runs the scripts of arena judge against a model server of the test. The name of
// the model selects the server's behaviour.
func TestJudgeScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{Files: scripts(t, "testdata/judge", "eval", "judge_asks_a_panel"), Condition: isLong, Setup: func(e *testscript.Env) error {
		s := modeltest.New(t, behave)
		e.Setenv("MODELS", s.BaseURL())
		e.Values["server"] = s
		for _, model := range []string{"well", "silent"} {
			panel := fmt.Sprintf("endpoints: [{name: local, base_url: %q, concurrency: 4}]\npanel: [{model: %s-a, role: primary}]\ntries: 1\n", s.BaseURL(), model)
			if err := os.WriteFile(filepath.Join(e.WorkDir, model+".yaml"), []byte(panel), 0o600); err != nil {
				return err
			}
		}
		return places(e)
	}, Cmds: map[string]func(*testscript.TestScript, bool, []string){"requests": checkRequests}})
}

func behave(c modeltest.Call) modeltest.Action {
	if strings.Contains(c.Text, "Give a verdict on each of the") {
		return behaveOnSteps(c)
	}
	grade := modeltest.Reply(modeltest.Grade([]float64{0.1, 0.3, 0.5, 0.7, 0.9}[len(c.Text)%5]))
	switch name, _, _ := strings.Cut(c.Model, "-"); name {
	case "well":
		return grade
	case "flaky": // every fifth request fails for good
		if len(c.Text)%5 == 0 {
			return modeltest.Status(http.StatusBadRequest)
		}
		return grade
	case "ends": // its key is good for some requests only, the first among them
		if len(c.Text)%5 == 2 {
			return modeltest.Status(http.StatusForbidden)
		}
		return grade
	case "locked":
		return modeltest.Status(http.StatusUnauthorized)
	case "silent":
		return modeltest.Reply("")
	default:
		return modeltest.Status(http.StatusNotFound)
	}
}

// behaveOnSteps returns verdicts that call every second step waste.
func behaveOnSteps(c modeltest.Call) modeltest.Action {
	verdicts := modeltest.Verdicts(func(step int) string { return []string{"needed", "waste"}[step%2] })
	switch name, _, _ := strings.Cut(c.Model, "-"); name {
	case "well":
		return verdicts
	case "unsure": // the verdicts of the last steps
		return modeltest.Verdicts(func(step int) string { return []string{"needed", "unclear"}[min(step/3, 1)] })
	case "flaky":
		if len(c.Text)%5 == 0 {
			return modeltest.Status(http.StatusBadRequest)
		}
		return verdicts
	default: // no verdicts for the steps
		return modeltest.Reply(modeltest.Grade(0.9))
	}
}

// checkRequests compares the number of questions so far with its argument. Requests without a
// model, such as one for metrics, do not count.
func checkRequests(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: requests N")
	}
	s, _ := ts.Value("server").(*modeltest.Server)
	got := 0
	for _, c := range s.Calls() {
		if c.Model != "" {
			got++
		}
	}
	if got != atoi(ts, args[0]) {
		ts.Fatalf("%d requests so far, want %s", got, args[0])
	}
}

func atoi(ts *testscript.TestScript, s string) (n int) {
	for _, r := range s {
		if r < '0' || r > '9' {
			ts.Fatalf("%q is no number", s)
		}
		n = 10*n + int(r-'0')
	}
	return n
}

// TestACardNamesTheJudgeOfItsDomain builds a corpus of another domain than the subnet's with a model as
// judge: report and card have the name of the judge that was told the domain's rubric.
func TestACardNamesTheJudgeOfItsDomain(t *testing.T) {
	t.Parallel()
	server := modeltest.New(t, modeltest.Sequence(modeltest.Reply(modeltest.Grade(0.1))))
	out := filepath.Join(t.TempDir(), "out")
	must(t, cli.ExitOK, "build", filepath.Join("..", "..", "testdata", "agents"), "-o", out, "-q", "--max-unscored", "1",
		"--judge", "llm", "--endpoint", server.BaseURL(), "--model", "m", "--ledger", filepath.Join(t.TempDir(), "ledger"))
	report, err := os.ReadFile(filepath.Join(out, "reports", "judges.json"))
	if err != nil {
		t.Fatal(err)
	}
	card, err := os.ReadFile(filepath.Join(out, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	name := gjson.GetBytes(report, "judge").Str
	if !strings.HasPrefix(name, "llm_v1_") || name == "llm_v1_15a50adf" || !strings.Contains(string(card), name) {
		t.Errorf("report and card name the judge %q", name)
	}
	if strings.Contains(string(card), "llm_v1_15a50adf") {
		t.Error("the card names the judge of the subnet's attempts")
	}
}

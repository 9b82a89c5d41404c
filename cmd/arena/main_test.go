package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/internal/longtest"
)

func TestMain(m *testing.M) {
	testscript.Main(onDay{m}, map[string]func(){
		"arena":        main,
		"model-server": modelServer,
	})
}

// The sample day, of which the tests have some runs where the tag long is not set.
var (
	wholeDay = filepath.Join("..", "..", "testdata", "day")
	testDay  = wholeDay
)

type onDay struct{ *testing.M }

func (m onDay) Run() int {
	defer func() { _ = os.RemoveAll(filepath.Dir(builtDay)) }() // its parent is a temporary folder
	return longtest.RunOnDay(m.M, &testDay)
}

// builtDay is where the corpus of the test day is, once a test has asked for it.
var builtDay = filepath.Join(os.TempDir(), fmt.Sprint("built-", os.Getpid()), "corpus")

// home is the folder of the package: the first test that asks may have left it.
var home, _ = os.Getwd()

var buildOnce = sync.OnceValue(func() error {
	day := testDay
	if !filepath.IsAbs(day) {
		day = filepath.Join(home, day)
	}
	args := []string{"build", day, "-o", builtDay, "-q"}
	if other := otherBuild(); other != "" {
		return exec.Command(other, args...).Run()
	}
	if code, _, stderr := arenaRun(args...); code != cli.ExitOK {
		return errors.New(stderr)
	}
	return nil
})

// buildTestDay copies the corpus of the test day, as arena build writes it, to dst.
func buildTestDay(t *testing.T, dst string) {
	t.Helper()
	if err := buildOnce(); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dst, os.DirFS(builtDay)); err != nil {
		t.Fatal(err)
	}
}

// TestScripts runs every command as its user would, one behaviour a file. Those
// that begin with the corpus of the sample day get a copy by "sample DIR": it is
// built once for all.
func TestScripts(t *testing.T) {
	sample := filepath.Join(t.TempDir(), "corpus")
	must(t, cli.ExitOK, "build", wholeDay, "-o", sample, "-q")
	files := scripts(t, "testdata/script", "build_jobs", "build_stdin", "dedup_lines", "export_jobs", "export_redact", "filter_explain", "filter_lines",
		"judge_gates", "judge_probe", "leak_lines", "log_format", "mix_two", "score_lines", "shop_call")
	testscript.Run(t, testscript.Params{Files: files, Condition: isLong, Setup: func(e *testscript.Env) error {
		if other := otherBuild(); other != "" {
			e.Setenv("PATH", filepath.Dir(other)+string(filepath.ListSeparator)+e.Getenv("PATH"))
		}
		return places(e)
	}, Cmds: map[string]func(*testscript.TestScript, bool, []string){
		"sample": func(ts *testscript.TestScript, _ bool, args []string) {
			ts.Check(os.CopyFS(ts.MkAbs(args[0]), os.DirFS(sample)))
		},
		"public-api": publicAPI,
	}})
}

// places sets the environment variables with which a script finds the repository and the sample
// day, or some runs of the day where the tag long is not set.
func places(e *testscript.Env) error {
	root, err := os.Getwd()
	day, bad := filepath.Abs(testDay)
	e.Setenv("REPO", root+"/../..")
	e.Setenv("DAY", day)
	return errors.Join(err, bad)
}

// isLong is the condition "long" of scripts: what follows "[!long] stop" runs with the
// tag long.
func isLong(condition string) (bool, error) {
	if condition != "long" {
		return false, fmt.Errorf("there is no condition %q", condition)
	}
	return longtest.Tests, nil
}

// publicAPI serves the sample race as ORO's public API has it, and for the rest the
// files of a folder; $API is its address.
func publicAPI(ts *testscript.TestScript, _ bool, args []string) {
	text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "contest", "race", "race.json"))
	ts.Check(err)
	race := gjson.ParseBytes(text)
	parts := map[string]gjson.Result{"": race.Get("detail"), "/seed-commitment": race.Get("seed_commitment"), "/validator-variance": race.Get("validator_variance")}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := strings.TrimPrefix(r.URL.Path, "/v1/public/")
		about, isRace := strings.CutPrefix(path, "races/"+race.Get("detail.race.race_id").Str)
		agent, isRuns := strings.CutSuffix(strings.TrimPrefix(path, "agent-versions/"), "/runs")
		switch {
		case isRuns:
			_, _ = io.WriteString(w, race.Get(`runs.#(agent_version_id=="`+agent+`")#`).Raw)
		case path == "races/history":
			_, _ = io.WriteString(w, `{"total":`+race.Get("history_total").Raw+`,"races":`+race.Get("history").Raw+`}`)
		case race.Get(`agent_versions.#(agent_version_id=="` + agent + `")`).Exists():
			_, _ = io.WriteString(w, race.Get(`agent_versions.#(agent_version_id=="`+agent+`")`).Raw)
		case isRace:
			_, _ = io.WriteString(w, parts[about].Raw)
		default:
			http.ServeFile(w, r, ts.MkAbs(filepath.Join(args[0], filepath.FromSlash(path)+".json")))
		}
	}))
	ts.Defer(web.Close)
	ts.Setenv("API", web.URL)
}

// scripts are the scripts in dir. Without the tag long they are the first of each
// subject, which is the first word of the name and most often a command, and every
// twelfth after it; but all where -run names some. With -short, as the race detector runs
// them, they are those of commands that do several things at once.
func scripts(t *testing.T, dir string, short ...string) []string {
	t.Helper()
	if !testing.Short() {
		short = []string{"*"}
	}
	var files []string
	each := longtest.Pick(1, 12)
	seen := map[string]int{}
	if testing.Short() || strings.Contains(flag.Lookup("test.run").Value.String(), "/") {
		each = 1
	}
	for _, name := range short {
		archives, err := filepath.Glob(filepath.Join(dir, name+".txtar"))
		if err != nil || len(archives) == 0 {
			t.Fatalf("no script %s, %v", name, err)
		}
		for _, file := range archives {
			subject, _, _ := strings.Cut(filepath.Base(file), "_")
			if seen[subject]%each == 0 {
				files = append(files, file)
			}
			seen[subject]++
		}
	}
	return files
}

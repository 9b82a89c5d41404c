package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/guard/rows"
	"github.com/trajectory-arena/arena/internal/longtest"
	"github.com/trajectory-arena/arena/report/attempt"
)

// TestPlantedCopiesAreFoundAndLoseTheTie adds copies of agents to days: verbatim, with other names,
// with all thinking reworded, and one agent of which a third are copies and the rest are attempts
// of many agents. Each copy starts after its original and has a run id that sorts before it. The
// pages report exactly these pairs as copies, and no full copy ranks before the agent that it
// copies. With the tag long it tests two days.
func TestPlantedCopiesAreFoundAndLoseTheTie(t *testing.T) {
	t.Parallel()
	days := []string{wholeDay}
	if longtest.Tests {
		days = append(days, "data/day")
	}
	for _, source := range days {
		t.Run(filepath.Base(filepath.Dir(source)), func(t *testing.T) {
			t.Parallel()
			if source != wholeDay {
				source = longtest.Shared(t, source)
			}
			day := t.TempDir()
			out := filepath.Join(t.TempDir(), "out")
			if err := os.CopyFS(day, os.DirFS(source)); err != nil {
				t.Fatal(err)
			}
			families := map[string]string{}
			if source != wholeDay {
				families = familiesOf(t, source)
			}
			planted := plantCopies(t, day)
			for pair := range planted {
				families[pair[0]] = families[pair[1]]
			}
			must(t, cli.ExitOK, "build", day, "-o", out, "-q")
			must(t, cli.ExitOK, "view", out, "-o", out+".site", "--traces", "0")
			copiesAreFound(t, out+".site", planted, families)
			if source == wholeDay {
				originalsRankFirst(t, out)
			}
		})
	}
}

// copied maps each kind of copy to the function that rewrites the thinking of an attempt.
var copied = map[string]func(string) string{
	"verbatim": nil,
	"renamed":  strings.NewReplacer("customer", "buyer", "words", "terms", "results", "hits", "pesos", "PHP").Replace,
	"reworded": func(s string) string { return strings.Map(turned, s) },
}

// turned replaces a lower-case letter by another one, and an upper-case letter by its lower case.
func turned(r rune) rune {
	if r >= 'a' && r <= 'z' {
		return 'a' + (r-'a'+13)%26
	}
	return unicode.ToLower(r)
}

// plantCopies copies a run of the day in each way and returns the pairs of hotkeys.
func plantCopies(t *testing.T, day string) map[[2]string]string {
	t.Helper()
	runs, err := filepath.Glob(filepath.Join(day, "traces", "run=*"))
	if err != nil {
		t.Fatal(err)
	}
	planted := map[[2]string]string{}
	for i, kind := range []string{"renamed", "reworded", "verbatim", "a third"} {
		run := map[string]string{}
		b, err := os.ReadFile(filepath.Join(runs[3*i], "run.json"))
		if err = errors.Join(err, json.Unmarshal(b, &run)); err != nil {
			t.Fatal(err)
		}
		id := fmt.Sprintf("00000000-0000-4000-8000-00000000000%d", i)
		hotkey := "0" + kind
		planted[[2]string{hotkey, run["miner_hotkey"]}] = kind
		run["eval_run_id"] = id
		run["miner_hotkey"] = hotkey
		run["agent_version_id"] = kind
		run["started_at"] = "2026-06-01T23:00:00Z"
		folder := filepath.Join(day, "traces", "run="+id)
		err = os.CopyFS(folder, os.DirFS(runs[3*i]))
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, "run.json"), []byte(inJSON(run)), 0o600)
		}
		if kind == "a third" {
			err = errors.Join(err, mixed(filepath.Join(folder, "output.jsonl.gz"), runs))
		}
		err = errors.Join(err,
			rewrite(filepath.Join(folder, "output.jsonl.gz"), func(line string) string {
				return retold(strings.ReplaceAll(line, "chatcmpl-", "chatcmpl-"+kind[:2]), copied[kind])
			}))
		if err != nil {
			t.Fatal(err)
		}
	}
	return planted
}

// mixed keeps every third attempt of a file and takes the others from all runs in turn, with the
// thinking reworded.
func mixed(file string, runs []string) error {
	others := make([][]string, len(runs))
	for i, run := range runs {
		if err := rewrite(filepath.Join(run, "output.jsonl.gz"), func(line string) string {
			others[i] = append(others[i], line)
			return line
		}); err != nil {
			return err
		}
	}
	lineIndex := -1
	return rewrite(file, func(line string) string {
		if lineIndex++; lineIndex%3 == 0 {
			return line
		}
		for index := range others {
			for _, other := range others[(lineIndex+index)%len(runs)] {
				if problemOf(other) == problemOf(line) {
					return retold(other, func(s string) string { return strings.Map(turned, s) })
				}
			}
		}
		return line
	})
}

func problemOf(line string) string {
	var record struct {
		Problem string `json:"problem_id"`
	}
	if json.Unmarshal([]byte(line), &record) != nil {
		return ""
	}
	return record.Problem
}

// retold rewrites an attempt's thinking and the model's replies, and no call.
func retold(line string, change func(string) string) string {
	var record any
	if change == nil || json.Unmarshal([]byte(line), &record) != nil {
		return line
	}
	return inJSON(reworded(record, "", change)) + "\n"
}

func reworded(v any, key string, change func(string) string) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = reworded(v[k], k, change)
		}
	case []any:
		for i := range v {
			v[i] = reworded(v[i], key, change)
		}
	case string:
		thinking, calls, both := strings.Cut(v, "</think>")
		switch {
		case key == "content" && both:
			return "<think>" + change(strings.TrimPrefix(thinking, "<think>")) + "</think>" + calls
		case key == "think" || key == "content":
			return change(v)
		}
	}
	return v
}

// familiesOf are the programs of the accounts of a day by its labels.
func familiesOf(t *testing.T, day string) map[string]string {
	t.Helper()
	runs := map[string]string{}
	families := map[string]string{}
	err := rows.Each(filepath.Join(day, "labels.jsonl"), func(r rows.Row) error {
		var label struct {
			Run    string `json:"eval_run_id"`
			Family string
		}
		err := json.Unmarshal([]byte(r.JSON), &label)
		runs[label.Run] = label.Family
		return err
	})
	for id, family := range runs {
		var run struct {
			Hotkey string `json:"miner_hotkey"`
		}
		b, failed := os.ReadFile(filepath.Join(day, "traces", "run="+id, "run.json"))
		err = errors.Join(err, failed, json.Unmarshal(b, &run))
		families[run.Hotkey] = family
	}
	if err != nil {
		t.Fatal(err)
	}
	return families
}

// copiesAreFound checks that the site reports each planted pair and no other pair of two different
// families. Two accounts that run the same program are copies, too.
func copiesAreFound(t *testing.T, site string, planted map[[2]string]string, families map[string]string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(site, "data", "0", "agents.js"))
	if err != nil {
		t.Fatal(err)
	}
	var kin struct {
		Pairs []struct {
			A, B   string
			Copied bool
			By     []*float64
		}
	}
	dataOf(t, strings.Replace(string(b), "0/agents\",", ",", 1), &kin)
	for _, p := range kin.Pairs {
		key := [2]string{p.A, p.B}
		kind, is := planted[key]
		sameFamily := families[p.A] != "" && families[p.A] == families[p.B]
		isMissed := is && !p.Copied
		isInvented := p.Copied && !is && !sameFamily
		if isMissed || isInvented {
			t.Errorf("%.12s and %.12s (%s): copied %t, by %s", p.A, p.B, kind, p.Copied, inJSON(p.By))
		} else if is {
			t.Logf("%s: %s", kind, inJSON(p.By))
		}
		delete(planted, key)
	}
	if len(planted) > 0 {
		t.Errorf("not found: %v", planted)
	}
}

func originalsRankFirst(t *testing.T, out string) {
	t.Helper()
	l, err := attempt.Read(corpus.Disk{}, out)
	if err != nil {
		t.Fatal(err)
	}
	ties := 0
	for i, line := range l.Lines {
		a := l.Argue(i)
		if a.Better < 0 {
			continue
		}
		switch "0verbatim" {
		case line.Attempt.AgentHotkey:
			ties++
			if !strings.HasPrefix(a.First, "the near duplicate's run began first, ") {
				t.Errorf("%s: %s", line.Attempt.TraceID, a.First)
			}
		case l.Lines[a.Better].Attempt.AgentHotkey:
			t.Errorf("%s is beaten by its copy", line.Attempt.TraceID)
		}
	}
	if ties == 0 {
		t.Error("no copy is a near-duplicate")
	}
	t.Logf("%d copies lose to their originals", ties)
}

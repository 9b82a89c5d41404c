package where_test

import (
	"errors"
	"fmt"
	"testing"

	"cel.dev/cel-go/cel"

	"github.com/trajectory-arena/arena/corpus/where"
)

var columns = []where.Column{
	{Name: "judge_score", Type: cel.DoubleType}, {Name: "n_steps", Type: cel.IntType}, {Name: "task_type", Type: cel.StringType},
	{Name: "success", Type: cel.BoolType}, {Name: "reasons", Type: cel.ListType(cel.StringType)},
}

func TestMatch(t *testing.T) {
	t.Parallel()
	row := map[string]any{"judge_score": 0.7, "n_steps": int64(12), "task_type": "shop", "success": true, "reasons": []string{"a", "b"}}
	unjudged := map[string]any{"judge_score": nil, "n_steps": int64(12), "task_type": "shop", "success": true}
	for _, c := range []struct {
		expr           string
		full, unscored bool
	}{
		{`judge_score >= 0.7 && n_steps <= 15 && task_type != "voucher"`, true, false},
		{`judge_score >= 1`, false, false},
		{`!(judge_score >= 1)`, true, false},
		{`success || judge_score > 0.9`, true, true},
		{`judge_score > 0.9 || success`, true, true},
		{`"a" in reasons`, true, false},
		{`task_type.startsWith("sh")`, true, true},
		{`n_steps == 12`, true, true},
		{`known.judge_score`, true, false},
		{`!known.judge_score && success`, false, true},
	} {
		e, err := where.Parse(c.expr, columns)
		if err != nil {
			t.Errorf("%s: %v", c.expr, err)
			continue
		}
		if got, err := e.Match(row); err != nil || got != c.full {
			t.Errorf("%s: %v %v", c.expr, got, err)
		}
		if got, err := e.Match(unjudged); err != nil || got != c.unscored {
			t.Errorf("%s without a judgement: %v %v", c.expr, got, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, expr := range []string{``, `judge_score`, `judge_score >= "high"`, `n_steps +`, `1 + 1`, `task_type > 3`, `size(task_type, 3) > 1`} {
		if _, err := where.Parse(expr, columns); err == nil {
			t.Errorf("%q was accepted", expr)
		}
	}
	for _, expr := range []string{`judge_scor >= 0.7`, `score >= 0.7`} {
		_, err := where.Parse(expr, columns)
		var u *where.Unknown
		if !errors.As(err, &u) || u.Nearest != "judge_score" {
			t.Errorf("%s: error %v", expr, err)
		}
	}
}

// FuzzParseNeverPanics holds that any expression is refused or can be evaluated.
func FuzzParseNeverPanics(f *testing.F) {
	f.Add(`judge_score >= 0.7`)
	f.Add(`[1,2].all(x, x > n_steps / 0)`)
	f.Fuzz(func(t *testing.T, expr string) {
		e, err := where.Parse(expr, columns)
		if err == nil {
			_, _ = e.Match(map[string]any{"n_steps": int64(1)})
		}
	})
}

// TestNamesAreColumnsThatAreRead checks which columns an expression reads: also those within a macro,
// and none that only a text names.
func TestNamesAreColumnsThatAreRead(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		`judge_score >= 0.7 && n_steps <= 15`:              "[judge_score n_steps]",
		`problem_id != "judge_score"`:                      "[problem_id]",
		`!known.model`:                                     "[model]",
		`checks.exists(c, c.name == "x") || success`:       "[checks success]",
		`[1, 2].exists(score, score == 2) && n_steps == 1`: "[n_steps]",
	} {
		e, err := where.Parse(source, where.Columns())
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(e.Names); got != want {
			t.Errorf("%s reads %s, want %s", source, got, want)
		}
	}
}

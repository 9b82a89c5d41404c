package where_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/corpus/where"
)

var columns = []where.Column{
	{Name: "judge_score", Type: reflect.TypeFor[float64]()}, {Name: "n_steps", Type: reflect.TypeFor[int64]()}, {Name: "task_type", Type: reflect.TypeFor[string]()},
	{Name: "success", Type: reflect.TypeFor[bool]()}, {Name: "reasons", Type: reflect.TypeFor[[]string]()},
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
	for _, expr := range []string{
		``, `judge_score`, `judge_score >= "high"`, `n_steps +`, `1 + 1`, `task_type > 3`, `size(task_type, 3) > 1`,
		`task_type == 3`, `1 in reasons`, `reasons > 1`, `reasons.exists(r, r)`, `reasons.exists(1, true)`, `reasons.exists(n_steps, true)`, `task_type.foo()`, `foo(task_type)`,
		`task_type.matches("(")`, `has(success)`, `n_steps == nil`, `any(reasons, # == "a")`, `reasons | count(true) > 1`, `1..9 == reasons`, `success ?? true`, `let x = 1; x > 0`,
		`$env.success`, `true; true`, strings.Repeat("(", 1<<17),
	} {
		if _, err := where.Parse(expr, columns); err == nil {
			t.Errorf("%q was accepted", expr)
		}
	}
	_, err := where.Parse(`judge_scor >= 0.7`, columns)
	var u *where.Unknown
	if !errors.As(err, &u) || u.Nearest != "judge_score" {
		t.Errorf("error %v", err)
	}
}

// TestLanguage evaluates every function and operator of the language on an attempt with all
// columns and on one without a verdict.
func TestLanguage(t *testing.T) {
	t.Parallel()
	score := 0.7
	full := &where.Line{
		Attempt: &rows.Attempt{TraceID: "run/a", NSteps: 12, TaskType: "shop"},
		Verdict: &rows.Verdict{
			Keep: true, Reasons: []string{"a", "b"}, Confidence: 0.8,
			Checks: []rows.CheckVerdict{{Check: "nonce_v3", Value: 2, Limit: 3}, {Check: "size", Keep: true, Value: 1.5}},
		},
		Outcome: &rows.Outcome{Success: true}, Judgement: &rows.Judgement{Score: &score},
	}
	bare := &where.Line{Attempt: full.Attempt, Outcome: full.Outcome}
	for _, c := range []struct {
		expr       string
		full, bare bool
	}{
		{`n_steps in [1, 12] && n_steps + 1 > 12 && n_steps * 2 == 24 && n_steps - 13 < 0 && n_steps % 5 == 2 && -n_steps < 0`, true, true},
		{`double(n_steps) / 2.0 == 6.0 && string(n_steps) == "12" && int(12.9) == 12`, true, true},
		{`task_type.startsWith("sh") && task_type.endsWith("op") && task_type.contains("ho") && task_type.matches("^s.+p$")`, true, true},
		{`size(task_type) == 4 && task_type.size() == 4 && task_type + "s" == "shops" && trace_id < "run/b"`, true, true},
		{`size(reasons) == 2 && reasons.size() == 2 && reasons[1] == "b" && !("c" in reasons)`, true, false},
		{`checks.exists(c, c.check == "nonce_v3" && !c.keep)`, true, false},
		{`checks.all(c, c.value > 1 && c.value < c.limit + 2.0)`, true, false},
		{`checks.exists_one(c, c.keep) && checks.filter(c, c.keep).size() == 1 && checks.map(c, c.check)[0] == "nonce_v3"`, true, false},
		{`checks.exists(c, reasons.all(r, r != c.check)) && has(checks[0].limit)`, true, false},
		{`success ? n_steps > 3 : keep`, true, true},
		{`(success ? n_steps : 0) > 3`, true, true},
		{`keep || !keep`, true, false},
		{`keep != true`, false, false},
		{`!(confidence == 0.8)`, false, false},
		{`keep ? true : true`, true, false},
		{`judge_multiplier > 0 || confidence > 0.5 || n_steps > 100`, true, false},
		{`n_steps > 100 && judge_multiplier > 0`, false, false},
		{`judge_multiplier > 0 && n_steps > 100`, false, false},
	} {
		e, err := where.Parse(c.expr, where.Columns())
		if err != nil {
			t.Errorf("%s: %v", c.expr, err)
			continue
		}
		if got, err := e.Match(full.Values()); err != nil || got != c.full {
			t.Errorf("%s: %v %v", c.expr, got, err)
		}
		if got, err := e.Match(bare.Values()); err != nil || got != c.bare {
			t.Errorf("%s without a verdict: %v %v", c.expr, got, err)
		}
	}
}

// TestMatchReportsNoAnswer evaluates expressions that have no answer though every column is
// known: one that reads past the end of a list, and one that would look at 9 to the power of 7
// elements.
func TestMatchReportsNoAnswer(t *testing.T) {
	t.Parallel()
	row := map[string]any{"n_steps": int64(1), "reasons": []string{"1", "2", "3", "4", "5", "6", "7", "8", "9"}}
	nested := "true"
	for i := range 7 {
		nested = fmt.Sprintf("reasons.filter(r%d, %s).size() > 0", i, nested)
	}
	for _, expr := range []string{`reasons[9] == "a"`, nested, strings.ReplaceAll(nested, "true", "false")} {
		e, err := where.Parse(expr, columns)
		if err != nil {
			t.Fatal(err)
		}
		if ok, err := e.Match(row); err == nil || ok || !strings.Contains(err.Error(), "no answer") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v %v", expr, ok, err)
		}
	}
}

// FuzzParseNeverPanics: whatever the expression, it is refused or it answers.
func FuzzParseNeverPanics(f *testing.F) {
	f.Add(`judge_score >= 0.7`)
	f.Add(`[1,2].all(x, x > n_steps / 0)`)
	f.Add(`reasons.exists(r, r.matches("a") && [[1]][0][0] % n_steps == 0) ? -1 < 2 : !success`)
	f.Fuzz(func(t *testing.T, expr string) {
		e, err := where.Parse(expr, columns)
		if err == nil {
			_, _ = e.Match(map[string]any{"n_steps": int64(1)})
		}
	})
}

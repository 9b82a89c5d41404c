package where

import (
	"maps"
	"path/filepath"
	"slices"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
)

// Columns are the names that expressions over a ledger may use. Values that an
// attempt does not have are unknown.
func Columns() []Column {
	return []Column{
		{"trace_id", String, "run/problem, or the record's sha256"},
		{"eval_run_id", String, "run of the attempt"},
		{"problem_id", String, "problem of the attempt"},
		{"task_type", String, "product, shop or voucher"},
		{"agent_version", String, "version of the agent"},
		{"agent_hotkey", String, "account of the agent's owner"},
		{"suite", String, "version of the problem suite"},
		{"status", String, "SUCCESS, FAILED or TIMED_OUT"},
		{"has_dialogue", Bool, "whether the attempt left a dialogue"},
		{"seconds", Float, "wall time of the attempt"},
		{"n_steps", Int, "turns of the model"},
		{"n_tool_calls", Int, "tool calls of the model"},
		{"n_tokens", Int, "tokens by the ledger's counter"},
		{"fate", String, "kept, dropped or failed"},
		{"reason", String, "first reason of a drop"},
		{"split", String, "train, eval or empty"},
		{"rank", Int, "place among the kept attempts at the problem, from 1"},
		{"keep", Bool, "whether the structural filter keeps it"},
		{"axis", String, "agentic, scripted or unknown"},
		{"confidence", Float, "of the axis, 0 to 1"},
		{"adaptivity", Float, "how far the calls of the agent's day depend on results, 0 to 1"},
		{"reasons", Strings, "every reject of the structural filter"},
		{"richness_v1", Float, "share of dispatches that the model named, 0 to 1"},
		{"richness_v2", Float, "share of dispatches with a valid nonce, 0 to 1"},
		{"success", Bool, "whether the attempt solved its problem"},
		{"rule", Float, "rule score, 0 to 1"},
		{"gt", Float, "share of exact products, 0 to 1"},
		{"format", Float, "format score, 0 to 1"},
		{"length", Float, "length score, 0 to 1"},
		{"judge", String, "name of the judge"},
		{"judge_outcome", String, "scored, refused, unparsed or failed"},
		{"judge_score", Float, "0.1, 0.3, 0.5, 0.7 or 0.9"},
		{"judge_multiplier", Float, "quality multiplier, 0.3 to 1"},
	}
}

// ParseOptional checks an expression over the ledger; nil where there is none.
func ParseOptional(source string) (*Expr, error) {
	if source == "" {
		return nil, nil
	}
	return Parse(source, Columns())
}

// Line is all that the ledger holds of one attempt; parts that it lacks are
// nil.
type Line struct {
	Attempt   *rows.Attempt
	Verdict   *rows.Verdict
	Outcome   *rows.Outcome
	Judgement *rows.Judgement
}

// Values are the columns of a line.
func (l Line) Values() map[string]any {
	out := map[string]any{}
	if a := l.Attempt; a != nil {
		out["trace_id"], out["eval_run_id"], out["problem_id"], out["task_type"] = a.TraceID, a.RunID, a.ProblemID, a.TaskType
		out["agent_version"], out["agent_hotkey"], out["suite"], out["status"] = a.AgentVersion, a.AgentHotkey, a.Suite, a.Status
		out["has_dialogue"], out["n_steps"], out["n_tool_calls"], out["n_tokens"] = a.HasDialogue, a.NSteps, a.NToolCalls, a.NTokens
		out["fate"], out["reason"], out["split"] = a.Fate, a.Reason, a.Split
		put(out, "seconds", a.Seconds)
		put(out, "rank", a.Rank)
	}
	if v := l.Verdict; v != nil {
		out["keep"], out["axis"], out["confidence"], out["reasons"] = v.Keep, v.Axis, v.Confidence, v.Reasons
		put(out, "adaptivity", v.Adaptivity)
		put(out, "richness_v1", v.RichnessV1)
		put(out, "richness_v2", v.RichnessV2)
	}
	if o := l.Outcome; o != nil {
		out["success"] = o.Success
		put(out, "rule", o.Rule)
		put(out, "gt", o.GT)
		put(out, "format", o.Format)
		put(out, "length", o.Length)
	}
	if j := l.Judgement; j != nil {
		out["judge"], out["judge_outcome"] = j.Judge, j.Outcome
		put(out, "judge_score", j.Score)
		put(out, "judge_multiplier", j.Multiplier)
	}
	return out
}

func put[T any](out map[string]any, name string, v *T) {
	if v != nil {
		out[name] = *v
	}
}

// Selection are the attempts of a ledger that an expression selects.
type Selection struct {
	sessions map[string]bool
	problems map[string]bool
}

// Keep reports whether a session was selected, or, where there is none, whether
// any attempt at the problem was.
func (s *Selection) Keep(session, problem string) bool {
	if session == "" {
		return s.problems[problem]
	}
	return s.sessions[session]
}

// Len is the number of selected attempts.
func (s *Selection) Len() int { return len(s.sessions) }

// Sessions are the selected attempts, sorted.
func (s *Selection) Sessions() []string { return slices.Sorted(maps.Keys(s.sessions)) }

// Select evaluates an expression over the ledger of a corpus. Nothing is
// judged or scored again.
func Select(fsys corpus.FS, dir string, e *Expr) (*Selection, error) {
	lines, order, err := readLedger(fsys, dir)
	if err != nil {
		return nil, err
	}
	s := &Selection{map[string]bool{}, map[string]bool{}}
	for _, id := range order {
		l := lines[id]
		ok, err := e.Match(l.Values())
		if err != nil {
			return nil, err
		}
		if ok {
			s.sessions[id], s.problems[l.Attempt.ProblemID] = true, true
		}
	}
	return s, nil
}

func readLedger(fsys corpus.FS, dir string) (map[string]*Line, []string, error) {
	lines, order := map[string]*Line{}, []string{}
	table := func(name string) string { return filepath.Join(dir, "tables", name+".parquet") }
	err := corpus.Rows(fsys, table("attempts"), func(a *rows.Attempt) error {
		if a.TraceID != "" && lines[a.TraceID] == nil {
			lines[a.TraceID], order = &Line{Attempt: a}, append(order, a.TraceID)
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	err = join(fsys, table("verdicts"), lines, func(v *rows.Verdict) string { return v.TraceID }, func(l *Line, v *rows.Verdict) { l.Verdict = v })
	if err != nil {
		return nil, nil, err
	}
	err = join(fsys, table("outcomes"), lines, func(o *rows.Outcome) string { return o.TraceID }, func(l *Line, o *rows.Outcome) { l.Outcome = o })
	if err != nil {
		return nil, nil, err
	}
	err = join(fsys, table("judgements"), lines, func(j *rows.Judgement) string { return j.TraceID }, func(l *Line, j *rows.Judgement) { l.Judgement = j })
	return lines, order, err
}

// join adds the rows of one table to the lines of their attempts; the first
// row of an attempt stays.
func join[T any](fsys corpus.FS, path string, lines map[string]*Line, id func(*T) string, add func(*Line, *T)) error {
	seen := map[string]bool{}
	return corpus.Rows(fsys, path, func(row *T) error {
		if l := lines[id(row)]; l != nil && !seen[id(row)] {
			seen[id(row)] = true
			add(l, row)
		}
		return nil
	})
}

package foreign

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/stats"
	"github.com/trajectory-arena/arena/internal/wrong"
)

// Files that verifiers writes: the rows of versions before 0.4, and the traces of later ones.
const (
	rowsFile   = "results.jsonl"
	tracesFile = "traces.jsonl"
)

// eachLine calls f with each line of a file, parsed as JSON. It ends at a line that is damaged or has
// more than maxSample bytes, and the error names that line.
func eachLine(path string, f func(gjson.Result)) (err error) {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer wrong.Close(&err, in.Close)
	for line, err := range arena.Lines(in, maxSample) {
		if err != nil {
			return err
		}
		v, err := parse(line.Text)
		f(v)
		if err != nil {
			return fmt.Errorf("line %d: %w", line.Number, err)
		}
	}
	return nil
}

// readBeside reads a JSON file with this name in the folder of path. It returns no value and no error
// if there is none.
func readBeside(path, name string) (gjson.Result, error) {
	text, err := os.ReadFile(filepath.Join(filepath.Dir(path), name))
	if errors.Is(err, fs.ErrNotExist) {
		return gjson.Result{}, nil
	}
	var v gjson.Result
	if err == nil {
		v, err = parse(text)
	}
	return v, wrong.Wrap(name, err)
}

// readVerifiersRows reads the evaluation in the file results.jsonl (path) of verifiers, and
// metadata.json in the same folder. The error is ErrUnknown if the latter is missing.
func readVerifiersRows(path string) (*Evaluation, error) {
	about, damage := readBeside(path, "metadata.json")
	if !about.Get("env_id").Exists() {
		return nil, ErrUnknown
	}
	e := &Evaluation{Harness: "verifiers", Task: about.Get("env_id").String(), Model: about.Get("model").String(), Scorer: "reward"}
	for _, name := range []string{"env_args", "sampling_args", "rollouts_per_example"} {
		e.setting(name, about.Get(name))
	}
	e.stated = about.Get("num_examples").Int() * about.Get("rollouts_per_example").Int()
	return e, errors.Join(damage, eachLine(path, e.addVerifiersRow))
}

func (e *Evaluation) addVerifiersRow(row gjson.Result) {
	prompt := row.Get("prompt")
	info := row.Get("info")
	if info.Type == gjson.String { // JSON in a string
		info = gjson.Parse(info.Str)
	}
	r := e.newRollout(row.Get("example_id").String(), lastRequest(prompt), joined(prompt, row.Get("completion")), info)
	r.Tokens.Prompt = count(row.Get("token_usage.input_tokens"))
	r.Tokens.Completion = count(row.Get("token_usage.output_tokens"))
	failure := row.Get("error")
	reward := row.Get("reward")
	switch {
	case failure.Exists() && failure.Type != gjson.Null:
		r.fail("error", textOf(failure))
	case reward.Type != gjson.Number:
		r.fail("no_score", "the row has no reward")
	default:
		r.scored(reward.Num, numbers(row.Get("metrics")))
		r.Stop = stop("", row.Get("stop_condition").String())
	}
	e.Rollouts = append(e.Rollouts, r)
}

// joined returns the messages of a prompt and of the model's completion as one JSON list. A prompt
// that is a string becomes a user message.
func joined(prompt, completion gjson.Result) gjson.Result {
	var all []json.RawMessage
	if prompt.Type == gjson.String {
		all = append(all, asjson.Bytes(map[string]string{"role": "user", "content": prompt.Str}))
	}
	for _, list := range []gjson.Result{prompt, completion} {
		for _, m := range members(list) {
			if m.IsObject() {
				all = append(all, raw(m))
			}
		}
	}
	return gjson.ParseBytes(asjson.Bytes(all))
}

// readVerifiersTraces reads the evaluation in the file traces.jsonl (path) of verifiers 0.4 and
// later, and its settings from configs/eval.json in the same folder if that exists.
func readVerifiersTraces(path string) (*Evaluation, error) {
	e := &Evaluation{Harness: "verifiers", Scorer: "reward"}
	config, damage := readBeside(path, "configs/eval.json")
	for _, name := range []string{"env", "taskset", "sampling", "harness"} {
		e.setting(name, config.Get(name))
	}
	known := true
	err := eachLine(path, func(episode gjson.Result) {
		known = known && episode.Get("traces").IsArray() && episode.Get("task").IsObject()
		e.Task = episode.Get("env.id").String()
		for _, trace := range members(episode.Get("traces")) {
			e.addVerifiersTrace(trace)
		}
	})
	if !known {
		return nil, ErrUnknown
	}
	return e, errors.Join(damage, err)
}

func (e *Evaluation) addVerifiersTrace(trace gjson.Result) {
	if trace.Get("agent.trainable").Type == gjson.False { // another agent than the evaluated one
		return
	}
	e.Model = trace.Get("agent.config.model").String()
	data := trace.Get("task.data")
	id := ""
	for _, path := range []string{"data.id", "data.example_id", "data.idx", "data.name", "key", "hash"} {
		id = cmp.Or(id, trace.Get("task."+path).String())
	}
	r := e.newRollout(id, lastRequest(data.Get("prompt")), branch(trace.Get("nodes")), data)
	var rewards float64
	known := false
	scores := numbers(trace.Get("metrics"))
	for name, reward := range members(trace.Get("rewards")) {
		score := reward.Get("score")
		if score.Type != gjson.Number {
			continue
		}
		known = true
		scores[name] = score.Num
		rewards += float64(score.Num * reward.Get("weight").Num)
	}
	switch {
	case trace.Get("ok").Type == gjson.False:
		r.fail("error", textOf(trace.Get("errors.@reverse.0")))
	case !known:
		r.fail("no_score", "the trace has no reward")
	default:
		r.scored(rewards, scores)
		r.Stop = stop("", trace.Get("stop_condition").String())
	}
	e.Rollouts = append(e.Rollouts, r)
}

// branch returns the messages from the root of a tree of messages to its last node, as a JSON list.
// nodes is the list of the tree's nodes, each with its message and the index of its parent.
func branch(nodes gjson.Result) gjson.Result {
	list := nodes.Array()
	var messages []json.RawMessage
	for i := int64(len(list)) - 1; i >= 0; {
		messages = append(messages, raw(list[i].Get("message")))
		parent := list[i].Get("parent")
		if parent.Type != gjson.Number || parent.Int() >= i {
			break
		}
		i = parent.Int()
	}
	slices.Reverse(messages)
	return gjson.ParseBytes(asjson.Bytes(messages))
}

// numbers returns those members of a JSON object that are finite numbers, by name.
func numbers(v gjson.Result) map[string]float64 {
	out := map[string]float64{}
	for name, member := range members(v) {
		if x := stats.FiniteOrNil(member.Num); member.Type == gjson.Number && x != nil {
			out[name] = *x
		}
	}
	return out
}

func count(v gjson.Result) *int64 {
	if v.Type != gjson.Number {
		return nil
	}
	return new(v.Int())
}

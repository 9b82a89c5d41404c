// Package foreign reads the results of evaluations by other harnesses: logs of inspect_ai, results of
// verifiers and results of tau2-bench. The files are untrusted: their sizes are bounded, and nothing in
// them is run.
package foreign

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/cursor"
	"github.com/trajectory-arena/arena/internal/slicesx"
	plaintext "github.com/trajectory-arena/arena/internal/text"
	"github.com/trajectory-arena/arena/student/rollout"
	"github.com/trajectory-arena/arena/traces"
)

// Evaluation is a finished evaluation by another harness.
type Evaluation struct {
	// Harness is the name of the program, Task the name of what it evaluated.
	Harness, Task string
	Model         string
	// Scorer is the name of the score that is the reward.
	Scorer string
	// Settings are the settings that the harness states, as JSON by name, without the model and the
	// seed.
	Settings map[string]json.RawMessage
	// Rollouts has all samples of a problem one after another, in the order of the file.
	Rollouts []Rollout

	// stated is the number of samples that the harness says the evaluation has, 0 if it says none.
	stated int64
}

// Rollout is one sample of a problem.
type Rollout struct {
	rollout.Result
	// Request is what the model was asked, Group the group of the problem: a group that the harness
	// states, or else the request.
	Request, Group string
	// Messages is the conversation as the harness wrote it, a JSON list.
	Messages json.RawMessage

	trial int64
}

// GroupKeys are the fields of a problem that name a group of problems.
var GroupKeys = []string{"group", "cluster", "template", "template_id"}

// ErrUnknown is in the chain of the error for a path that holds no results of a known harness.
var ErrUnknown = errors.New("no log of inspect_ai, and no results of verifiers or tau2-bench")

// ErrUnfinished is in the chain of the error for an evaluation that has not ended, or that failed.
var ErrUnfinished = errors.New("the evaluation is not finished")

// Limits of what is read: the bytes of a document and of one sample.
const (
	maxDocument = 1 << 30
	maxSample   = 64 << 20
)

// Read reads the results at path: a file, or the folder that verifiers writes.
func Read(path string) (*Evaluation, error) {
	e, err := read(path)
	if err == nil && int64(len(e.Rollouts)) < max(e.stated, 1) {
		err = fmt.Errorf("%w: it has %d samples, and states %d", ErrUnfinished, len(e.Rollouts), e.stated)
	}
	if err != nil {
		return nil, fmt.Errorf("read results %s: %w", path, err)
	}
	e.order()
	return e, nil
}

func read(path string) (*Evaluation, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, ErrUnknown
	}
	name := filepath.Base(path)
	switch {
	case info.IsDir() && isFile(path, "metadata.json") && isFile(path, rowsFile):
		return readVerifiersRows(filepath.Join(path, rowsFile))
	case info.IsDir() && isFile(path, tracesFile):
		return readVerifiersTraces(filepath.Join(path, tracesFile))
	case info.IsDir():
		return nil, ErrUnknown
	case filepath.Ext(name) == ".eval":
		return readInspectZip(path)
	case name == rowsFile:
		return readVerifiersRows(path)
	case name == tracesFile:
		return readVerifiersTraces(path)
	case filepath.Ext(name) == ".json":
		return readDocument(path)
	}
	return nil, ErrUnknown
}

func isFile(folder, name string) bool {
	info, err := os.Stat(filepath.Join(folder, name))
	return err == nil && info.Mode().IsRegular()
}

// readDocument reads a JSON document: a log of inspect_ai, or the results of tau2-bench. The error
// is ErrUnknown for any other document, and errDamaged for one of these that is cut.
func readDocument(path string) (*Evaluation, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	text, err := plaintext.ReadAll(f, maxDocument)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	doc, damage := parse(text)
	switch {
	case doc.Get("eval").IsObject() && doc.Get("samples").IsArray():
		return readInspectDocument(doc, damage)
	case doc.Get("simulations").IsArray() && doc.Get("info").IsObject():
		return readTau2(doc), damage
	}
	return nil, ErrUnknown
}

// errDamaged is the error for a text of which a part is missing, such as that of a cut file.
var errDamaged = errors.New("it is no whole JSON value")

// parse reads a JSON value. Words for numbers that JSON does not have, such as NaN, are null. With
// errDamaged it returns what is readable, by which a caller may recognise the format.
func parse(text []byte) (gjson.Result, error) {
	text, _ = traces.WithoutNotNumbers(text)
	v := gjson.ParseBytes(text)
	if !cursor.Valid(string(text)) {
		return v, errDamaged
	}
	return v, nil
}

// order sorts the samples by problem (in the order in which the problems first occur) and then by
// trial, and numbers the samples of each problem from 0.
func (e *Evaluation) order() {
	first := map[string]int{}
	for i, r := range e.Rollouts {
		if _, known := first[r.ProblemID]; !known {
			first[r.ProblemID] = i
		}
	}
	slicesx.SortStableFunc(e.Rollouts, func(a, b Rollout) int {
		if a.ProblemID != b.ProblemID {
			return first[a.ProblemID] - first[b.ProblemID]
		}
		return int(a.trial - b.trial)
	})
	for i := range e.Rollouts {
		r := &e.Rollouts[i]
		if i > 0 && e.Rollouts[i-1].ProblemID == r.ProblemID {
			r.Sample = e.Rollouts[i-1].Sample + 1
		}
	}
}

// setting adds a setting of the harness, unless v does not exist. The members of an object become
// settings NAME.KEY.
func (e *Evaluation) setting(name string, v gjson.Result) {
	if e.Settings == nil {
		e.Settings = map[string]json.RawMessage{}
	}
	switch {
	case !v.Exists():
	case v.IsObject():
		for key, member := range members(v) {
			e.Settings[name+"."+key] = raw(member)
		}
	default:
		e.Settings[name] = raw(v)
	}
}

// raw returns a value as JSON, a missing one as null.
func raw(v gjson.Result) json.RawMessage { return json.RawMessage(cmp.Or(v.Raw, "null")) }

// newRollout returns a rollout without a score, with what all harnesses record: the problem's id,
// the request and the messages. about has the fields of the problem that may name a group or a
// category.
func (e *Evaluation) newRollout(id, request string, messages, about gjson.Result) Rollout {
	r := Rollout{Request: request, Group: "request " + cmp.Or(request, id), Messages: raw(messages)}
	r.ProblemID = id
	r.Recommended = []string{}
	r.Score = json.RawMessage("null")
	r.Outcome = rollout.Infra
	r.Category = arena.Category(cmp.Or(about.Get("category").String(), e.Task, "all"))
	for _, key := range GroupKeys {
		if v := about.Get(key); v.Type == gjson.String || v.Type == gjson.Number {
			r.Group = key + " " + v.String()
			break
		}
	}
	for _, m := range members(messages) {
		if m.Get("role").Str == "assistant" {
			r.Turns++
		}
	}
	return r
}

// fail records why a rollout has no reward: reason is a code, words the text of the harness, cut to
// 500 bytes.
func (r *Rollout) fail(reason, words string) {
	const enough = 500
	r.Infra = &reason
	r.InfraWords = strings.ToValidUTF8(words[:min(len(words), enough)], "")
	r.Stop = rollout.StopInfra
}

// solvedFrom is the minimum reward of a sample that counts as solved for pass@k. It is 1, less the
// tolerance for rounding errors that tau2-bench uses.
const solvedFrom = 1 - 1e-6

// scored records the reward of a rollout, and whether it is solved. scores are further numbers by
// name.
func (r *Rollout) scored(reward float64, scores map[string]float64) {
	r.Outcome = rollout.Scored
	r.Success = new(reward >= solvedFrom)
	r.Reward = &reward
	if len(scores) > 0 {
		r.Score = asjson.Bytes(scores)
	}
}

// lastRequest returns a prompt that is a string. Of a prompt that is a list of messages, it returns
// the text of the last user message.
func lastRequest(prompt gjson.Result) (request string) {
	if prompt.Type == gjson.String {
		return prompt.Str
	}
	for _, m := range members(prompt) {
		if m.Get("role").Str == "user" {
			request = textOf(m.Get("content"))
		}
	}
	return request
}

// textOf returns all strings in a JSON value, one a line, down to eight nested levels. Members with
// the key "type" are left out.
func textOf(v gjson.Result) string {
	const maxDepth = 8
	return strings.Join(appendText(nil, v, maxDepth), "\n")
}

func appendText(lines []string, v gjson.Result, depth int) []string {
	if v.Type == gjson.String && v.Str != "" {
		return append(lines, v.Str)
	}
	if depth == 0 {
		return lines
	}
	for key, member := range members(v) {
		if key != "type" {
			lines = appendText(lines, member, depth-1)
		}
	}
	return lines
}

// members yields the members of an object by name, or the elements of a list with an empty name. It
// yields nothing of any other value.
func members(v gjson.Result) iter.Seq2[string, gjson.Result] {
	return func(yield func(string, gjson.Result) bool) {
		if !v.IsObject() && !v.IsArray() {
			return
		}
		v.ForEach(func(key, member gjson.Result) bool {
			return yield(key.Str, member)
		})
	}
}

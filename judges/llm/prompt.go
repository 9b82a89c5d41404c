package llm

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/template/parse"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/internal/model"
	plaintext "github.com/trajectory-arena/arena/internal/text"
	"github.com/trajectory-arena/arena/internal/wrong"
	"github.com/trajectory-arena/arena/judges/reply"
)

// prompt is the judge's instructions: a template file that defines "system"
// and "user", named by its hash.
type prompt struct{ sha256, system, user string }

// The fields of a prompt, as they are written in it.
const (
	fenceField = "{{.Fence}}"
	traceField = "{{.Trace}}"
	stepsField = "{{.Steps}}"
)

// readPrompt reads the template at path, the embedded one where path is empty.
func readPrompt(path string, embedded []byte) (prompt, error) {
	source := embedded
	if path != "" {
		var err error
		if source, err = os.ReadFile(path); err != nil {
			return prompt{}, fmt.Errorf("read prompt: %w", err)
		}
	}
	p, err := parsePrompt(string(source))
	if err != nil {
		return prompt{}, fmt.Errorf("read prompt %s: %w (a prompt holds text, comments, %s, %s and %s)", path, err, fenceField, traceField, stepsField)
	}
	return p, nil
}

// parsePrompt takes the parser of text/template without the rest of it, which
// calls methods by their names: with it the linker keeps every method of every
// type of the program.
func parsePrompt(source string) (p prompt, err error) {
	trees, err := parse.Parse("prompt", source, "", "")
	if err == nil {
		p.system, err = definition(trees, "system")
	}
	if err == nil {
		p.user, err = definition(trees, "user")
	}
	if err == nil && !strings.Contains(p.user, traceField) {
		err = fmt.Errorf(`"user" leaves out %s`, traceField)
	}
	p.sha256 = digest.SHA256([]byte(source))
	return p, err
}

// definition is one definition without comments: texts and fields.
func definition(trees map[string]*parse.Tree, name string) (string, error) {
	tree := trees[name]
	if tree == nil {
		return "", fmt.Errorf("%q is not defined", name)
	}
	for _, n := range tree.Root.Nodes {
		if n.Type() != parse.NodeText && !slices.Contains([]string{fenceField, traceField, stepsField}, n.String()) {
			place, what := tree.ErrorContext(n)
			return "", fmt.Errorf("%s: %q holds %s", place, name, what)
		}
	}
	return tree.Root.String(), nil
}

// messages puts a rendered trace of so many steps into the prompt.
func (p prompt) messages(trace string, steps int) []model.Message {
	fill := strings.NewReplacer(fenceField, p.fence(trace), traceField, trace, stepsField, strconv.Itoa(steps))
	return []model.Message{{Role: "system", Content: fill.Replace(p.system)}, {Role: "user", Content: fill.Replace(p.user)}}
}

// fence is the number on the delimiters: a hash over trace and prompt. A trace
// cannot hold the hash of itself, and the same trace gives the same one.
func (p prompt) fence(trace string) string {
	return digest.SHA256([]byte(p.sha256 + "\n" + trace))[:16]
}

// What stands in a trace must not look like the frame it is shown in: an agent
// could else write a tool result of its own into its thinking. So long texts
// are quoted line by line, and everything else is kept on its line.
const (
	quoteMark = "  > "
	cutMark   = " …[cut]"
)

// toNewline takes all signs that a reader may take for the end of a line.
var toNewline = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

func block(s string) string {
	return quoteMark + strings.ReplaceAll(toNewline.Replace(s), "\n", "\n"+quoteMark)
}

// line is the first n characters of s on one line.
func line(s string, n int) string { return strings.ReplaceAll(toNewline.Replace(cut(s, n)), "\n", " ") }

// cut ends s after n characters and says so.
func cut(s string, n int) string {
	if c := plaintext.Clip(s, n); len(c) < len(s) {
		return c + cutMark
	}
	return s
}

type question struct {
	*kind
	// ask names the question by all that its answer depends on.
	ask      string
	messages []model.Message
	// shown is the trace as it stands in the messages.
	shown  string
	bytes  int
	params map[string]any
	order  []int
	// verdicts is how many are asked for.
	verdicts int
}

// readReply reads a reply to the question. An answer that stands in the trace
// itself is the agent's, and is not counted.
func (q *question) readReply(text string) (answer, arena.JudgeOutcome) {
	a, outcome := q.read(text, q.verdicts)
	if outcome != arena.JudgeScored || q.each {
		return a, outcome
	}
	if reply.Echoes(text, q.shown) {
		return answer{}, arena.JudgeUnparsed
	}
	a.doubt = a.Doubt(q.shown)
	return a, outcome
}

func (j *Judge) questions(k *kind, t *arena.Trace, d *arena.Dialogue) ([][]question, error) {
	steps := len(shown(d))
	trace := k.render(t, d)
	messages := k.prompt.messages(trace, steps)
	size := 0
	for _, m := range messages {
		size += len(m.Content)
	}
	votes := make([][]question, j.cfg.Votes)
	for v := range votes {
		for s := range j.cfg.SelfConsistency {
			q := question{kind: k, messages: messages, shown: trace, bytes: size, order: j.panel.order(v), verdicts: 1}
			if k.each {
				q.verdicts = steps
			}
			q.params = j.params(v, s)
			var err error
			if q.ask, err = j.askOf(q); err != nil {
				return nil, err
			}
			votes[v] = append(votes[v], q)
		}
	}
	return votes, nil
}

// params are the request's parameters for a sample of a vote. A model's first is
// the answer at temperature 0, which a run with one sample has paid for; where it
// is asked more than once, a seed and a temperature make the others differ.
func (j *Judge) params(vote, sample int) map[string]any {
	p := map[string]any{"temperature": 0, "max_tokens": j.cfg.MaxTokens}
	if sample > 0 || vote > 0 && j.panel.repeats {
		p["temperature"], p["seed"] = j.cfg.SampleTemperature, vote*j.cfg.SelfConsistency+sample
	}
	return p
}

func (j *Judge) askOf(q question) (string, error) {
	type member struct {
		Model string
		Extra map[string]any
	}
	var order []member
	for _, m := range q.order {
		order = append(order, member{j.cfg.Panel[m].Model, j.cfg.endpoint(j.cfg.Panel[m]).ExtraBody})
	}
	b, err := json.Marshal([]any{q.messages, q.params, order})
	return digest.SHA256(b), wrong.Wrap("hash question", err)
}

func (j *Judge) to(q question, member int) model.Question {
	return model.Question{
		Model: j.cfg.Panel[member].Model, Messages: q.messages, Params: maps.Clone(q.params),
		Schema: q.schema, Name: q.name, Timeout: j.cfg.RequestTimeout,
		StillWanted: func() bool { return !j.panel.isAside(member) },
	}
}

package rollout

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/trajectory-arena/arena/shop"
	"github.com/trajectory-arena/arena/shop/python"
	"github.com/trajectory-arena/arena/student/chat"
	"github.com/trajectory-arena/arena/student/dialect"
	"github.com/trajectory-arena/arena/student/endpoint"
)

// play is a rollout under way.
type play struct {
	env      *Environment
	task     Task
	ctx      context.Context
	tools    *shop.Tools
	tape     *tape
	messages chat.Conversation
	// readable are messages whose calls some servers cannot read, in a form that
	// all can, by their place in messages.
	readable map[int][]byte
	result   *Result
	// steps are those of the trace so far, with the commas between them;
	// replyIDs are their replies' ids.
	steps    [][]byte
	replyIDs []string
	// last is the label of the last reply where it alone explains a failure.
	last Label
	// lost is set where a tool's request got no answer.
	lost *endpoint.Infra
	// inRow counts replies without a readable call.
	inRow int
	// made are the calls so far as text, in order, and known the same as a set.
	made                   []string
	known, named, returned map[string]bool
}

// heard is one reply with its body.
type heard struct {
	reply chat.Reply
	body  []byte
	past  bool
}

func (e *Environment) begin(ctx context.Context, t Task) (*play, error) {
	p := &play{
		env: e, task: t, ctx: ctx, known: map[string]bool{}, named: map[string]bool{}, returned: map[string]bool{},
		result: &Result{ProblemID: t.ID, Outcome: Scored, Recommended: []string{}, Category: t.Problem.Category},
	}
	server := e.Server
	if e.Tape {
		p.tape = newTape(server, t.Past)
		server = p.tape
	}
	var err error
	if p.tools, err = shop.NewTools(server, e.Rules, e.ToolNames); err != nil {
		return nil, err
	}
	return p, p.say(chat.Message{Role: "user", Content: t.Problem.Query})
}

func (p *play) say(m chat.Message) (err error) {
	p.messages, err = p.messages.Append(m)
	return err
}

// turn gets the next reply, from the past or from the model. fault is an
// answer that will never come; err ends the run.
func (p *play) turn(ctx context.Context, ask Asker) (h heard, fault, err error) {
	if n := p.result.Turns; n < len(p.task.Past) {
		h, err = again(p.task.Past[n])
		return h, nil, err
	}
	h.reply, h.body, err = ask.Ask(ctx, p.env.Template.Request(p.messages, p.task.Seed))
	var infra *endpoint.Infra
	if errors.As(err, &infra) && infra.Reason == refusedRequest && len(p.readable) > 0 {
		p.sayReadably()
		return p.turn(ctx, ask)
	}
	if errors.As(err, &infra) || errors.Is(err, endpoint.ErrOverflow) {
		return h, err, nil
	}
	return h, nil, err
}

// again is a turn that was played before.
func again(t Turn) (heard, error) {
	reply, err := chat.Parse(t.Reply)
	if err != nil {
		return heard{}, fmt.Errorf("play a kept turn again: %w", err)
	}
	return heard{reply: reply, body: t.Reply, past: true}, nil
}

// refusedRequest is how vLLM answers a request with a call whose arguments are no
// JSON: it reads them before it renders the conversation. The model wrote them,
// so the instrument has not failed.
const refusedRequest = "http_400"

// sayReadably puts readable messages in the place of those that a server refused.
func (p *play) sayReadably() {
	for i, m := range p.readable {
		p.messages[i] = m
	}
	clear(p.readable)
}

// fail ends the rollout without a reply.
func (p *play) fail(fault error) {
	var infra *endpoint.Infra
	if !errors.As(fault, &infra) {
		p.result.Stop, p.last = StopOverflow, LabelOverflow
		return
	}
	p.result.Outcome, p.result.Stop = Infra, StopInfra
	p.result.Infra = &infra.Reason
}

// hear takes a reply in: runs its calls, answers them, and says whether the
// rollout ends with it.
func (p *play) hear(h heard) Stop {
	p.result.Turns++
	p.count(h.reply.Usage)
	turn := dialect.Read(h.reply, p.env.Dialect)
	s := step{turn: turn, reply: h.reply, body: h.body}
	s.answers = p.run(turn.Calls)
	p.record(s)
	readable := slices.ContainsFunc(s.answers, func(a callAnswer) bool { return !a.malformed })
	p.last = lastReply(h.reply, turn, readable)
	switch {
	case len(turn.Calls) == 0 && h.reply.Finish == "length", !readable && h.reply.Finish == "length":
		return StopTruncated
	case len(turn.Calls) == 0:
		return StopNoToolCall
	case slices.ContainsFunc(s.answers, func(a callAnswer) bool { return a.terminates }):
		return StopTerminated
	}
	p.inRow++
	if readable {
		p.inRow = 0
	}
	if p.inRow == maxMalformed {
		return StopMalformed
	}
	if err := p.answer(h.reply, s); err != nil {
		return StopMalformed // a message that JSON cannot hold; Marshal never says so of strings
	}
	return ""
}

func (p *play) count(u *chat.Usage) {
	if u == nil {
		return
	}
	add := func(to **int64, n int64) {
		if *to == nil {
			*to = new(int64)
		}
		**to += n
	}
	add(&p.result.Tokens.Prompt, u.Prompt)
	add(&p.result.Tokens.Completion, u.Completion)
}

// callAnswer is a call with what came of it.
type callAnswer struct {
	call dialect.Call
	shop.Answer
	malformed  bool
	terminates bool
}

func (p *play) run(calls []dialect.Call) []callAnswer {
	answers := make([]callAnswer, 0, len(calls))
	for _, c := range calls {
		answers = append(answers, p.call(c))
	}
	return answers
}

func (p *play) call(c dialect.Call) callAnswer {
	if c.Malformed != "" {
		p.result.Malformed++
		text := python.String("Error: " + c.Malformed)
		return callAnswer{call: c, Answer: shop.Answer{ID: c.ID, Result: text, Raised: true}, malformed: true}
	}
	a := callAnswer{call: c, Answer: p.tools.Call(p.ctx, c.Name, c.Arguments)}
	a.ID = c.ID
	if r, lost := a.Unanswered(); lost {
		p.lost = &endpoint.Infra{Reason: "search_" + searchFault(r.Status), Detail: r.Path}
	}
	if !slices.Contains(p.env.ToolNames, c.Name) {
		p.result.Malformed++
		a.malformed = true
		return a
	}
	p.result.ToolCalls++
	if a.Raised {
		p.result.ToolErrors++
	}
	text := c.Name + "\n" + string(python.AppendCompact(nil, c.Arguments)) // whatever order the keys are in
	if p.known[text] {
		p.result.Repeated++
	}
	p.known[text] = true
	p.made = append(p.made, text)
	p.note(c, a.Result)
	a.terminates = c.Name == "terminate"
	return a
}

// searchFault is a word for how a search server did not answer.
func searchFault(status int) string {
	if status == 0 {
		return "unreachable"
	}
	return "http_" + strconv.Itoa(status)
}

// note keeps which ids the call names, which the tool returned, and what is
// recommended.
func (p *play) note(c dialect.Call, result python.Value) {
	switch c.Name {
	case "recommend_product":
		v, _ := c.Arguments.Get("product_ids")
		p.result.Recommended = idList(v)
		p.name(p.result.Recommended)
	case "view_product_information":
		v, _ := c.Arguments.Get("product_ids")
		p.name(idList(v))
	case "check_product_match":
		v, _ := c.Arguments.Get("product_id")
		p.name(idList(v))
	}
	// A check repeats the id it was asked about only where the product exists.
	collect(result, p.returned)
}

func (p *play) name(ids []string) {
	for _, id := range ids {
		p.named[id] = true
	}
}

// idList reads a comma list of ids by the scoring rule: stripped, without
// empties and repeats; what is no string holds none. Halves of surrogate pairs,
// which Python's text may hold, are replaced: results are UTF-8.
func idList(v python.Value) []string {
	ids := []string{}
	if v.Kind != python.Str {
		return ids
	}
	seen := map[string]bool{"": true}
	for part := range strings.SplitSeq(strings.ToValidUTF8(v.Text, "\ufffd"), ",") {
		if id := python.Strip(part); !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	return ids
}

// collect adds the product ids in a value, each in memory of its own: a found
// one is a part of the text of its whole product.
func collect(v python.Value, ids map[string]bool) {
	for _, e := range v.List {
		collect(e, ids)
	}
	for _, it := range v.Dict {
		if id := it.Value; it.Key == "product_id" && !ids[id.String()] {
			ids[strings.Clone(id.String())] = true
		}
		collect(it.Value, ids)
	}
}

// answer adds the reply and the answers to the conversation.
func (p *play) answer(r chat.Reply, s step) error {
	m := chat.Message{Role: "assistant", Content: r.Content, Reasoning: r.Reasoning}
	if !s.turn.Native {
		if err := p.say(m); err != nil {
			return err
		}
		answers := make([]shop.Answer, len(s.answers))
		for i, a := range s.answers {
			answers[i] = a.Answer
		}
		return p.say(chat.Message{Role: "user", Content: shop.Observation(answers)})
	}
	m.ToolCalls = slices.Clone(r.Calls)
	for i := range m.ToolCalls {
		m.ToolCalls[i].ID = s.answers[i].ID
	}
	if err := p.say(m); err != nil {
		return err
	}
	if err := p.keepReadable(m, s); err != nil {
		return err
	}
	for _, a := range s.answers {
		if err := p.say(chat.Message{Role: "tool", Content: toolText(a.Result), CallID: a.ID}); err != nil {
			return err
		}
	}
	return nil
}

// keepReadable keeps the message just said with its malformed arguments as one
// text in an object, for servers that refuse them as they are.
func (p *play) keepReadable(m chat.Message, s step) error {
	broken := false
	for i, a := range s.answers {
		if a.call.Malformed != "" {
			broken = true
			m.ToolCalls[i].Function.Arguments = python.Dumps(python.DictOf(item("malformed", python.String(m.ToolCalls[i].Function.Arguments))))
		}
	}
	if !broken {
		return nil
	}
	said, err := chat.Conversation{}.Append(m)
	if err != nil {
		return err
	}
	if p.readable == nil {
		p.readable = map[int][]byte{}
	}
	p.readable[len(p.messages)-1] = said[1]
	return nil
}

// toolText is a result as a tool message holds it: text as it is, anything
// else as JSON without blanks, the way corpora are rendered.
func toolText(v python.Value) string {
	if v.Kind == python.Str {
		return strings.ToValidUTF8(v.Text, "\ufffd")
	}
	b := newText()
	defer b.free()
	b.text = python.AppendTight(b.text, v)
	return string(b.text)
}

func (p *play) kept(h heard) Turn {
	t := Turn{Reply: h.body}
	if p.tape != nil {
		t.Answers = p.tape.take()
	}
	return t
}

// end settles the label and builds the trace.
func (p *play) end() (*Result, error) {
	r := p.result
	for id := range p.named {
		if !p.returned[id] {
			r.UnseenIDs++
		}
	}
	for _, id := range r.Recommended {
		if !p.env.Has(id) {
			r.HallucinatedIDs++
		}
	}
	if r.Outcome != Infra {
		l := p.label()
		r.Label = &l
	}
	var err error
	if r.Line, err = p.trace(); err != nil {
		return nil, err
	}
	r.Trace = ParseTrace(p.task.RunID, r.Line)
	return r, nil
}

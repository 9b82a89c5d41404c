package rollout

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/trajectory-arena/arena/internal/evaluation"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/shop"
	"github.com/trajectory-arena/arena/student/dialect"
)

type play struct {
	env      *Environment
	task     Task
	ctx      context.Context //nolint:containedctx // it lives for one rollout
	tools    *shop.Tools
	tape     *tape
	messages model.Conversation
	// told is what was said so far in the form of the public loops.
	told   []string
	result *Result
	// steps are those of the trace so far, with the commas between them;
	// replyIDs are their replies' ids.
	steps [][]byte
	// held is how many bytes steps are.
	held     int
	replyIDs []string
	// last is the label of the last reply where it alone explains a failure.
	last Label
	// lost is set where a tool's request got no answer.
	lost *model.Fault
	// inRow counts replies without a readable call.
	inRow int
	// made are the calls so far as text, in order, and known the same as a set.
	made                   []string
	known, named, returned map[string]bool
}

type received struct {
	reply model.Reply
	body  []byte
	past  bool
}

func (e *Environment) begin(ctx context.Context, t Task) *play {
	p := &play{
		env: e, task: t, ctx: ctx, known: map[string]bool{}, named: map[string]bool{}, returned: map[string]bool{},
		result: &Result{ProblemID: t.ID, Outcome: Scored, Recommended: []string{}, Category: t.Problem.Category},
	}
	server := e.Server
	if e.Tape {
		p.tape = &tape{server: server}
		for _, turn := range t.Past {
			p.tape.past = append(p.tape.past, turn.Answers...)
		}
		server = p.tape
	}
	p.tools = shop.NewTools(server, e.Rules, e.ToolNames)
	if e.Form == History {
		p.retell("<user>" + t.Problem.Query + "</user>")
	} else {
		p.say(model.Turn{Role: "user", Content: t.Problem.Query})
	}
	return p
}

// turn gets the next reply, from the past or from the model. fault is an
// answer that will never come; err ends the run.
func (p *play) turn(ctx context.Context, ask Asker) (h received, fault *model.Fault, err error) {
	if n := p.result.Turns; n < len(p.task.Past) {
		h = received{body: p.task.Past[n].Reply, past: true}
		if h.reply, err = model.ReadTurn(h.body); err != nil {
			err = fmt.Errorf("play a kept turn again: %w", err)
		}
		return h, nil, err
	}
	h, err = p.ask(ctx, ask)
	if errors.As(err, &fault) {
		err = nil
	}
	return h, fault, err
}

// ask asks for the next reply. Some servers refuse a prompt that fits and leaves
// less room than max_tokens as they refuse one that does not fit, with both sizes
// in one sum. Asked without max_tokens they give the room that there is, or show
// that there is none.
func (p *play) ask(ctx context.Context, ask Asker) (h received, err error) {
	h.reply, h.body, err = ask.Chat(ctx, p.env.Template.Request(p.messages, p.task.Seed))
	var lost *model.Fault
	if !errors.As(err, &lost) || !lost.Overflow || !model.MentionsReplyLimit(h.body) {
		return h, err
	}
	free := p.env.Template.WithoutLimit(p.messages, p.task.Seed)
	if free == nil {
		return h, err
	}
	reply, body, again := ask.Chat(ctx, free)
	if errors.As(again, &lost) && !lost.Overflow && (lost.Reason == "http_400" || lost.Reason == "http_422") {
		return h, err // a server that will not do without says nothing of the prompt
	}
	return received{reply: reply, body: body}, again
}

// fail ends a rollout for want of an answer.
func (p *play) fail(fault *model.Fault) (*Result, error) {
	if fault.Overflow {
		p.result.Stop, p.last = StopOverflow, LabelOverflow
		return p.end()
	}
	p.result.Outcome, p.result.Stop = Infra, StopInfra
	p.result.Infra, p.result.InfraWords = &fault.Reason, fault.Detail
	return p.end()
}

// take takes a reply in: runs its calls, answers them, and says whether the
// rollout ends with it.
func (p *play) take(h received) Stop {
	p.result.Turns++
	p.count(h.reply.Usage)
	turn := dialect.Read(h.reply, p.env.Dialect)
	s := step{turn: turn, body: h.body, answers: slicesx.Map(turn.Calls, p.call)}
	p.record(s)
	readable := slices.ContainsFunc(s.answers, func(a callAnswer) bool { return !a.malformed })
	p.last = lastReply(h.reply, turn, readable)
	switch {
	case !readable && p.cutByContext(h.reply):
		p.last = LabelOverflow
		return StopOverflow
	case len(turn.Calls) == 0 && p.env.NoCall == Continue:
		return p.goOn(h.reply, s, turn.Text != "" || turn.Think != "", StopNoToolCall)
	case !readable && h.reply.Finish == "length":
		return StopTruncated
	case len(turn.Calls) == 0:
		return StopNoToolCall
	case slices.ContainsFunc(s.answers, func(a callAnswer) bool { return a.terminates }):
		return StopTerminated
	}
	return p.goOn(h.reply, s, readable, StopMalformed)
}

// goOn answers a reply, but for the third in a row that holds nothing.
func (p *play) goOn(r model.Reply, s step, holds bool, stop Stop) Stop {
	if p.inRow++; holds {
		p.inRow = 0
	}
	if p.inRow == maxMalformed {
		return stop
	}
	p.answer(r, s)
	return ""
}

// cutByContext reports whether a reply ended where the context does: some servers cut
// it to the room that is left instead of refusing.
func (p *play) cutByContext(r model.Reply) bool {
	return r.Finish == "length" && p.env.Context > 0 && r.Usage != nil && r.Usage.Prompt+r.Usage.Completion >= p.env.Context
}

func (p *play) count(u *model.Usage) {
	if u == nil {
		p.result.Tokens.Uncounted++
		return
	}
	p.result.Cached += u.Cached
	p.result.Tokens.Add(evaluation.Tokens{Prompt: &u.Prompt, Completion: &u.Completion})
}

func (p *play) kept(h received) Turn {
	t := Turn{Reply: h.body}
	if p.tape != nil {
		t.Answers = p.tape.take()
	}
	return t
}

func (p *play) end() (*Result, error) {
	r := p.result
	for id := range p.named {
		if !p.returned[id] {
			r.UnseenIDs++
		}
	}
	r.HallucinatedIDs = slicesx.CountFunc(r.Recommended, func(id *string) bool { return !p.env.Has(*id) })
	if r.Outcome != Infra {
		r.Label = new(p.label())
	}
	r.Line = p.trace()
	return r, r.ReadTrace(p.task.RunID)
}

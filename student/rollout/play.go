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

// play is the state of a running rollout (an attempt of the student at a problem).
type play struct {
	env      *Environment
	task     Task
	ctx      context.Context //nolint:containedctx // it lives for one rollout
	tools    *shop.Tools
	tape     *tape
	messages model.Conversation
	// returned selects which fields of the model's replies messages has; some servers refuse
	// others.
	returned model.Returned
	// transcript has the parts of the user message in the form History.
	transcript []string
	result     *Result
	// steps are the encoded steps of the trace, each but the first preceded by a comma.
	// traceBytes is their total length.
	steps      [][]byte
	traceBytes int
	// replyIDs are the ids of the replies so far.
	replyIDs []string
	// lastLabel is the failure label of the last reply. It is empty if that reply has a readable
	// call and was not truncated.
	lastLabel Label
	// toolFault is the fault of a tool's request that was not answered, nil if there is none.
	toolFault *model.Fault
	// emptyReplies counts consecutive replies without content or without a readable call.
	emptyReplies int
	// prompt is the number of tokens of the last prompt. reasoned is the number of tokens of the
	// replies with reasoning, which a chat template may omit from later prompts.
	prompt, reasoned int64
	// callTexts are the calls so far as text, in order. seenCalls has the same texts as a set.
	callTexts []string
	seenCalls map[string]bool
	// namedIDs are the product ids in calls. returnedIDs are those in results.
	namedIDs, returnedIDs map[string]bool
}

// received is a reply of the model with its JSON body. past reports whether it is a stored reply
// from Task.Past.
type received struct {
	reply model.Reply
	body  []byte
	past  bool
}

func (e *Environment) newPlay(ctx context.Context, t Task) *play {
	p := &play{
		env:         e,
		task:        t,
		ctx:         ctx,
		seenCalls:   map[string]bool{},
		namedIDs:    map[string]bool{},
		returnedIDs: map[string]bool{},
		result: &Result{
			ProblemID:   t.ID,
			Outcome:     Scored,
			Recommended: []string{},
			Category:    t.Problem.Category,
		},
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
		p.appendTranscript("<user>" + t.Problem.Query + "</user>")
	} else {
		p.addMessage(model.Turn{Role: "user", Content: t.Problem.Query})
	}
	return p
}

// nextReply returns the next reply: a stored one while the task has any, then new ones from the
// model. A fault means that the model did not reply, and ends the rollout. An error ends the run.
func (p *play) nextReply(ctx context.Context, m Model) (h received, fault *model.Fault, err error) {
	if n := p.result.Turns; n < len(p.task.Past) {
		h = received{body: p.task.Past[n].Reply, past: true}
		h.reply, err = model.ReadTurn(h.body)
		if err != nil {
			return h, nil, fmt.Errorf("play a kept turn again: %w", err)
		}
		return h, nil, nil
	}
	h, err = p.askModel(ctx, m)
	if errors.As(err, &fault) {
		return h, fault, nil
	}
	return h, nil, err
}

// askModel returns the model's next reply. Some servers refuse a prompt with the words for a prompt
// that is too long, although only the reply of max_tokens would not fit. If a refusal mentions that
// field, askModel repeats the request without it. The server then uses the space that is left, or
// refuses again if there is none.
func (p *play) askModel(ctx context.Context, m Model) (h received, err error) {
	h, err = p.askReturning(ctx, m)
	fault, failed := errors.AsType[*model.Fault](err)
	if !failed || !p.isOverflow(fault) || !model.MentionsReplyLimit(h.body) {
		return h, err
	}
	request := p.env.Template.WithoutLimit(p.messages, p.task.Seed)
	if request == nil {
		return h, err
	}
	reply, body, retryErr := m.Chat(ctx, request)
	if fault, failed := errors.AsType[*model.Fault](retryErr); failed && !p.isOverflow(fault) {
		needsLimit := fault.Reason == "http_400" || fault.Reason == "http_422"
		if needsLimit { // this refusal says nothing about the prompt: return the first
			return h, err
		}
	}
	return received{reply: reply, body: body}, retryErr
}

// askReturning returns the model's next reply. If the server refuses the conversation, it repeats
// the request without the non-standard fields of earlier replies, which other servers need. Fields
// that a server was found to refuse are omitted from all later requests of the run.
func (p *play) askReturning(ctx context.Context, m Model) (h received, err error) {
	if known := p.env.refused(); known > p.returned {
		p.returnLess(p.messages.Returning(known), known)
	}
	h.reply, h.body, err = m.Chat(ctx, p.env.Template.Request(p.messages, p.task.Seed))
	for less := p.returned + 1; less <= model.OnlyStandard && p.isRefused(err); less++ {
		shorter := p.messages.Returning(less)
		if shorter.Equal(p.messages) {
			continue
		}
		reply, body, again := m.Chat(ctx, p.env.Template.Request(shorter, p.task.Seed))
		if p.isRefused(again) {
			continue
		}
		p.returnLess(shorter, less)
		if again == nil {
			p.env.Refuse(less)
		}
		return received{reply: reply, body: body}, again
	}
	return h, err
}

// returnLess replaces the conversation by messages, in which earlier replies have fewer fields
// because the server refused some. returned says which fields remain.
func (p *play) returnLess(messages model.Conversation, returned model.Returned) {
	p.messages = messages
	p.returned = returned
}

// isRefused reports whether err says that a server refused a request, for another reason than its
// length or a reply that the server could not parse.
func (p *play) isRefused(err error) bool {
	fault, failed := errors.AsType[*model.Fault](err)
	return failed && fault.Kind == model.Rejected && !p.isOverflow(fault) && !fault.RefusedOutput
}

// isOverflow reports whether a fault means that the prompt is longer than the model's context: the
// server says so, or it answered earlier turns and now mentions tokens, length or context.
func (p *play) isOverflow(f *model.Fault) bool { return f.Overflow || f.Length && p.result.Turns > 0 }

// fail ends a rollout whose last request was not answered, and returns its result. A context
// overflow and a reply that the server could not parse are failures of the model. Any other
// fault is an infrastructure error, and the rollout is not scored.
func (p *play) fail(fault *model.Fault) (*Result, error) {
	switch {
	case p.isOverflow(fault):
		p.result.Stop = StopOverflow
		p.lastLabel = LabelOverflow
		return p.finish()
	case fault.RefusedOutput:
		p.result.Stop = StopMalformed
		p.lastLabel = LabelMalformedCall
		return p.finish()
	}
	p.result.Outcome = Infra
	p.result.Stop = StopInfra
	p.result.Infra = &fault.Reason
	p.result.InfraWords = fault.Detail
	return p.finish()
}

// processReply executes the calls of a reply and adds reply and results to the conversation and the
// trace. It returns the reason why the rollout stops after the reply, "" if it continues.
func (p *play) processReply(h received) Stop {
	p.result.Turns++
	p.addUsage(h.reply.Usage)
	turn := dialect.Read(h.reply, p.env.Dialect)
	if p.result.UnparsedForm == "" {
		p.result.UnparsedForm = dialect.Unparsed(h.reply, turn)
	}
	s := step{
		turn:    turn,
		body:    h.body,
		answers: slicesx.Map(turn.Calls, p.call),
	}
	p.appendTrace(s)

	readable := slices.ContainsFunc(s.answers, func(a callAnswer) bool {
		return !a.malformed
	})
	terminates := slices.ContainsFunc(s.answers, func(a callAnswer) bool {
		return a.terminates
	})
	hasText := turn.Text != "" || turn.Think != ""
	p.lastLabel = replyLabel(h.reply, turn, readable)
	switch {
	case p.promptShrank(h.reply, turn), !readable && p.truncatedByContext(h.reply):
		p.lastLabel = LabelOverflow
		return StopOverflow
	case len(turn.Calls) == 0 && p.env.NoCall == Continue:
		return p.continueOrStop(h.reply, s, hasText, StopNoToolCall)
	case !readable && h.reply.Finish == "length":
		return StopTruncated
	case len(turn.Calls) == 0:
		return StopNoToolCall
	case terminates:
		return StopTerminated
	}
	return p.continueOrStop(h.reply, s, readable, StopMalformed)
}

// continueOrStop adds a reply and the results of its calls to the conversation and returns "", so
// that the rollout continues. hasContent says whether the reply is of use. After maxMalformed
// consecutive replies without use, it adds nothing and returns stop, so that the rollout ends.
func (p *play) continueOrStop(
	r model.Reply,
	s step,
	hasContent bool,
	stop Stop,
) Stop {
	p.emptyReplies++
	if hasContent {
		p.emptyReplies = 0
	}
	if p.emptyReplies == maxMalformed {
		return stop
	}
	p.respond(r, s)
	return ""
}

// truncatedByContext reports whether a reply was truncated because prompt and reply filled the
// model's context. Some servers truncate the reply instead of refusing the request. It returns
// false if the size of the context or the usage is unknown.
func (p *play) truncatedByContext(r model.Reply) bool {
	if r.Finish != "length" || p.env.Context <= 0 || r.Usage == nil {
		return false
	}
	return r.Usage.Prompt+r.Usage.Completion >= p.env.Context
}

// promptShrank reports whether the prompt of a reply has fewer tokens than the previous prompt,
// although the conversation grew: the server silently truncated the conversation. Chat templates
// may omit the reasoning of earlier replies, so the prompt may lack as many tokens as those replies
// have. It is false without token counts.
func (p *play) promptShrank(r model.Reply, t dialect.Turn) bool {
	if r.Usage == nil || r.Usage.Prompt == 0 {
		return false
	}
	shrank := r.Usage.Prompt < p.prompt-p.reasoned
	p.prompt = r.Usage.Prompt
	if t.Think != "" {
		p.reasoned += r.Usage.Completion
	}
	return shrank
}

func (p *play) addUsage(u *model.Usage) {
	if u == nil {
		p.result.Tokens.Uncounted++
		return
	}
	p.result.Cached += u.Cached
	p.result.Tokens.Add(evaluation.Tokens{
		Prompt:     &u.Prompt,
		Completion: &u.Completion,
	})
}

// newTurn returns what is stored of a reply so that a resumed rollout can replay it: the reply's
// JSON body, and the answers of the search server since the previous reply.
func (p *play) newTurn(h received) Turn {
	t := Turn{Reply: h.body}
	if p.tape != nil {
		t.Answers = p.tape.takeFresh()
	}
	return t
}

// finish sets the remaining fields of the result, and returns it: the counts of unknown product
// ids, the label of a failure, and the trace.
func (p *play) finish() (*Result, error) {
	r := p.result
	for id := range p.namedIDs {
		if !p.returnedIDs[id] {
			r.UnseenIDs++
		}
	}
	r.HallucinatedIDs = slicesx.CountFunc(r.Recommended, func(id *string) bool {
		return !p.env.Has(*id)
	})
	if r.Outcome != Infra {
		r.Label = new(p.failureLabel())
	}
	r.Line = p.traceLine()
	return r, r.ReadTrace(p.task.RunID)
}

// Package preflight asks a model server once before a run whether it will answer at
// all: whether it is there, knows key and model, takes the run's tools and sampling,
// and has room for its system prompt. What it refuses it would refuse every rollout.
package preflight

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/internal/webclient"
	"github.com/trajectory-arena/arena/student/telemetry"
)

// Question is what to request from which server.
type Question struct {
	// Base is the server's base URL, Key its bearer token, Words what its log or command line shows
	// of its settings.
	Base, Key, Words string
	// Model and Template are those of the run.
	Model    string
	Template *model.Template
	// Pool sends requests to this server only.
	Pool *model.Pool
	// Patience is the maximum time to wait for a server that cannot be reached or is still loading
	// its model.
	Patience time.Duration
	// Waiting is called once with the reason for waiting for the server.
	Waiting func(words string)
}

// Server is what a server replied.
type Server struct {
	telemetry.Identity
	// Streamed reports whether the server answers only in streams, CompletionLimit whether it takes
	// max_completion_tokens and not max_tokens.
	Streamed, CompletionLimit bool
	// Returned selects the fields of its replies that the server takes back.
	Returned model.Returned
}

// Refusal is a server that will answer no request of the run.
type Refusal struct {
	Endpoint string
	Fault    *model.Fault
	// Hint is what to do about it.
	Hint string
}

func (r *Refusal) Error() string {
	switch {
	case r.Fault.Status == 0:
		return fmt.Sprintf("%s gives no answer: %s", r.Endpoint, r.Fault.Detail)
	case r.Fault.Kind == model.Unreadable:
		return fmt.Sprintf("%s answers what is no chat completion: %s", r.Endpoint, r.Fault.Detail)
	}
	return fmt.Sprintf("%s refuses this run's requests (status %d): %s", r.Endpoint, r.Fault.Status, r.Fault.Detail)
}

// again is the pause between two tests of a server that is not ready yet.
const again = time.Second

// Ask sends requests until the server replies, refuses, or patience ends. The error is a
// *Refusal or that of ctx.
func Ask(ctx context.Context, q Question) (Server, error) {
	patient, end := context.WithTimeout(ctx, q.Patience)
	defer end()
	w, err := q.reply(ctx)
	for q.loads(err) && patient.Err() == nil {
		if q.Waiting != nil {
			q.Waiting(err.Error())
			q.Waiting = nil
		}
		if webclient.Sleep(patient, again) == nil {
			w, err = q.reply(ctx)
		}
	}
	s := Server{
		Identity: telemetry.Identity{Endpoint: model.PublicURL(q.Base)},
		Streamed: w.streamed, CompletionLimit: w.completionLimit, Returned: w.returned,
	}
	if ctx.Err() == nil && !q.loads(err) { // one that is away is not asked for more
		s.Identity = telemetry.Identify(ctx, q.Base, q.Key, q.Words)
		s.ToolsUnseen = w.toolsUnseen
	}
	if fault, is := errors.AsType[*model.Fault](err); is {
		return s, &Refusal{s.Endpoint, fault, q.hint(fault, s.Identity)}
	}
	return s, err
}

// loads reports whether a test failed (with err) only because the server is not ready yet: it
// cannot be reached or is still loading its model.
func (q Question) loads(err error) bool {
	fault, is := errors.AsType[*model.Fault](err)
	return is && fault.Waits()
}

// greetings are the messages with which a server is tested. If it refuses one, the next is tried,
// since the refusal may be about that message only. No other is tried after a refusal of the key or
// the model, after a timeout, or if the server cannot be reached.
var greetings = []string{"Hello.", "Good morning.", "What can you do?"}

func (q Question) reply(ctx context.Context) (way, error) {
	var w way
	var err error
	for _, greeting := range greetings {
		w, err = q.greet(ctx, greeting)
		if fault, is := errors.AsType[*model.Fault](err); !is || fault.Kind == model.Auth || fault.Kind == model.Missing || fault.Reason == "timeout" || fault.Unreachable() {
			break
		}
	}
	return w, err
}

// way is the form of requests that a server accepts: whether replies are streamed, whether
// max_completion_tokens (instead of max_tokens) limits a reply, and which fields of the model's
// earlier replies may be in a request.
type way struct {
	streamed, completionLimit bool
	returned                  model.Returned
	// toolsUnseen is Identity.ToolsUnseen.
	toolsUnseen bool
}

// template returns the run's request template t, changed to the form of requests w.
func (w way) template(t *model.Template) *model.Template {
	if w.streamed {
		t = t.Streaming()
	}
	if w.completionLimit {
		t = t.CompletionLimit()
	}
	return t
}

// greet sends greeting in a request for a single token, to find a form of request that the server
// accepts, and returns that form. If the server rejects the limit of one token, it tries the run's
// own limit, and then the name max_completion_tokens. If the server answers only in streams, it
// asks for a stream. The error is that of the last request.
func (q Question) greet(ctx context.Context, greeting string) (way, error) {
	conversation := model.Conversation{}.Append(model.Turn{
		Role:    "user",
		Content: greeting,
	})
	var reply model.Reply
	var last way
	var err error
	for _, try := range []struct {
		way      way
		word     string
		anyLimit bool
	}{
		{}, {word: "max_", anyLimit: true}, {way: way{completionLimit: true}, word: "max_"},
		{way: way{streamed: true}, word: "stream"}, {way: way{streamed: true, completionLimit: true}, word: "max_"},
	} {
		if try.word != "" && !refusedFor(err, try.word) {
			continue
		}
		last = try.way
		template := last.template(q.Template)
		body := template.SingleToken(conversation)
		if try.anyLimit {
			body = template.Request(conversation, 0)
		}
		if reply, _, err = q.Pool.Chat(ctx, body); err == nil {
			last.returned = q.takesBack(ctx, template, conversation, reply)
			last.toolsUnseen = q.hidesTools(ctx, template, conversation, reply)
			break
		}
	}
	return last, err
}

// takesBack tests which fields of a reply the server accepts in a later request. It sends a
// conversation with the server's own reply r and another message. If the reply has only fields in
// the format of OpenAI, it sends nothing.
func (q Question) takesBack(ctx context.Context, t *model.Template, c model.Conversation, r model.Reply) model.Returned {
	second := c.AppendReply(r, nil, model.AsItCame).Append(model.Turn{
		Role:    "user",
		Content: "Go on.",
	})
	if second.Equal(second.Returning(model.OnlyStandard)) {
		return model.AsItCame
	}
	for returned := model.AsItCame; returned <= model.OnlyStandard; returned++ {
		_, _, err := q.Pool.Chat(ctx, t.SingleToken(second.Returning(returned)))
		fault, refused := errors.AsType[*model.Fault](err)
		if err == nil || !refused || fault.Kind != model.Rejected {
			return returned
		}
	}
	return model.AsItCame // the refusal is not about the fields
}

// hidesTools reports whether the server does not show the tools to the model: the prompt with tools
// has as many tokens as the prompt without them, although the server counts more for a longer
// prompt. It returns false for a server that reports no such counts.
func (q Question) hidesTools(ctx context.Context, t *model.Template, c model.Conversation, r model.Reply) bool {
	bare := t.WithoutTools()
	if bare == nil || r.Usage == nil || r.Usage.Prompt == 0 {
		return false
	}
	tokens := func(c model.Conversation) int64 {
		reply, _, err := q.Pool.Chat(ctx, bare.SingleToken(c))
		if err != nil || reply.Usage == nil {
			return 0
		}
		return reply.Usage.Prompt
	}
	if tokens(c) != r.Usage.Prompt {
		return false
	}
	longer := tokens(model.Conversation{}.Append(model.Turn{
		Role:    "user",
		Content: strings.Join(greetings, " "),
	}))
	return longer > r.Usage.Prompt
}

func refusedFor(err error, name string) bool {
	fault, is := errors.AsType[*model.Fault](err)
	return is && fault.Kind == model.Rejected && !fault.Overflow && strings.Contains(strings.ToLower(fault.Detail), name)
}

var hints = []struct{ word, hint string }{
	{"--enable-auto-tool-choice", "start vLLM with --enable-auto-tool-choice --tool-call-parser NAME (hermes for Qwen), or have tools written into the prompt: --dialect hermes"},
	{"--jinja", "start llama-server with --jinja, or have tools written into the prompt: --dialect hermes"},
	{"logprob", "the server gives no log-probabilities, or fewer of them: leave out --keep, or lower --top-logprobs"},
	{"tool", "start the server with its tool parser (vLLM: --enable-auto-tool-choice --tool-call-parser NAME; SGLang: --tool-call-parser NAME; llama.cpp: --jinja), or have tools written into the prompt: --dialect hermes"},
	{"function", "have tools written into the prompt: --dialect hermes"},
	{"chat template", "give the server a template (vLLM and SGLang: --chat-template FILE): a base model has none"},
	{"system", "the model's template takes no system message: give the server another (vLLM and SGLang: --chat-template FILE)"},
	{"seed", "send none: --no-seed"},
}

func (q Question) hint(fault *model.Fault, id telemetry.Identity) string {
	switch {
	case fault.Kind == model.Auth:
		return "put the server's key into the environment (--api-key-env names its variable), or pay the account"
	case fault.Overflow:
		return "system prompt and tools alone do not fit: start the server with a longer context (vLLM: --max-model-len, SGLang: --context-length, llama.cpp: -c)"
	case fault.Kind == model.Missing && len(id.Models) > 0 && !slices.Contains(id.Models, q.Model):
		return "the server has no model " + q.Model + ": it serves " + strings.Join(id.Models, ", ") + "; name one with --model"
	case fault.Kind == model.Missing:
		return "is --endpoint the base URL, ending in /v1, and --model a name that the server knows?"
	case fault.Reason == "timeout":
		return "a slow server wants more time for each request: --timeout"
	case q.loads(fault):
		return "start the server, or wait longer: --wait-for-server"
	}
	detail := strings.ToLower(fault.Detail)
	for _, h := range hints {
		if strings.Contains(detail, h.word) {
			return h.hint
		}
	}
	return "the server must answer a chat completion with this run's tools and sampling; its own log may say more"
}

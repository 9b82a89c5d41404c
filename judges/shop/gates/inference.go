package gates

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/cursor"
)

// minTokens is the minimum number of tokens of a completion that counts as reasoning. The subnet's
// own judge has the same minimum.
const minTokens = 30

// bytesPerToken is the number of bytes of recorded text that count as one token if the reply does
// not state its token count. The whole project uses this rate if no tokenizer is configured.
const bytesPerToken = 4

// inferenceGate returns the result of the first gate, a test that passes if a model answered one
// chat completion with at least minTokens tokens. Embeddings and diagnostic records of the proxy
// log (the record of the agent's requests) do not count. If no reply states its token count, or
// there is no proxy log, the tokens are estimated from the length of the recorded text, and the
// detail says so.
func inferenceGate(t *arena.Trace, d *arena.Dialogue) finding {
	log := readLog(t)
	switch {
	case log.usageKnown && log.best.tokens >= minTokens:
		detail := fmt.Sprintf("a chat completion of %d tokens", log.best.tokens)
		return finding{
			passed: true,
			step:   log.best.step,
			quote:  log.best.quote,
			detail: detail,
		}
	case log.usageKnown:
		return missed(fmt.Sprintf("no chat completion reaches %d tokens, the largest has %d", minTokens, log.best.tokens))
	case log.answered == 0 && t.Source.HasProxyLog:
		return missed("the proxy log holds no answered chat completion")
	default:
		return estimateTokens(t, d)
	}
}

// completion is one reply of the model: its length in tokens, the number of its step as the
// dialogue shows it, and a passage of it that the judgement quotes as evidence of gate 1 (that a
// model was asked).
type completion struct {
	tokens int
	step   int
	quote  string
}

// proxyLog sums up the answered chat completions in the proxy log of an attempt.
type proxyLog struct {
	// answered is the number of answered chat completions read.
	answered int
	// usageKnown is set if at least one of them states its token count.
	usageKnown bool
	// best is the longest completion read. Reading ends after a step with one of at least
	// minTokens.
	best completion
}

func readLog(t *arena.Trace) proxyLog {
	var log proxyLog
	for i := range t.Steps {
		for k := range t.Steps[i].Proxy {
			if call := &t.Steps[i].Proxy[k]; isCompletion(call) {
				log.add(call.Response, t.Steps[i].Number)
			}
		}
		if log.best.tokens >= minTokens {
			return log
		}
	}
	return log
}

// isCompletion reports whether a call of the proxy log is a chat completion that was answered with
// a 2xx status. Diagnostic entries of the log do not count.
func isCompletion(c *arena.ProxyCall) bool {
	return !c.Attempt && c.Status >= 200 && c.Status < 300 && strings.Contains(c.Path, "chat/completions")
}

func (l *proxyLog) add(response arena.Raw, step int) {
	l.answered++
	tokens, quote, ok := parseUsage(response)
	if !ok {
		return
	}
	if !l.usageKnown || tokens > l.best.tokens {
		l.best = completion{tokens: tokens, step: step, quote: quote}
	}
	l.usageKnown = true
}

// usagePattern matches the key completion_tokens and its number in a reply that was cut off. The
// quotes of the key must not be escaped: escaped ones are in text that the model wrote, the others
// are the server's.
var usagePattern = regexp.MustCompile(`(?:^|[^\\])("completion_tokens"[ :]*(-?[0-9][0-9.eE+-]*))`)

// parseUsage parses the number of tokens under completion_tokens in a reply, limited to 0 to
// maxUsage, and returns it with the key and value as a quote. The reply may be complete, cut off,
// or a string that contains JSON. ok is false if the reply does not state the number.
func parseUsage(reply arena.Raw) (tokens int, quote string, ok bool) {
	text := reply.Text()
	if n := gjson.Get(text, "usage.completion_tokens"); n.Type == gjson.Number {
		text = text[:n.Index+len(n.Raw)]
	} else if cursor.Valid(text) {
		return 0, "", false
	}
	i := strings.LastIndex(text, `"completion_tokens"`)
	if i < 0 {
		return 0, "", false
	}
	match := usagePattern.FindStringSubmatch(text[max(i-1, 0):])
	if match == nil {
		return 0, "", false
	}
	n, _ := strconv.ParseFloat(match[2], 64)
	return int(min(max(n, 0), maxUsage)), match[1], true
}

// maxUsage is the maximum token count that is read from a reply. A larger number is an error and is
// reduced to it.
const maxUsage = 1e9

// estimateTokens returns the result of the first gate (did a model write enough tokens?) for an
// attempt without any stated token count. It estimates the tokens of the turn in which the model
// wrote the most text. Turns that the source attributes to a program do not count.
func estimateTokens(t *arena.Trace, d *arena.Dialogue) finding {
	var best completion
	for i := range d.Turns {
		turn := &d.Turns[i]
		if turn.Step < 0 || turn.Step >= len(t.Steps) {
			continue
		}
		step := &t.Steps[turn.Step]
		if step.LLMCalls != nil && *step.LLMCalls == 0 {
			continue
		}
		size, text := turnSize(turn)
		tokens := (size + bytesPerToken - 1) / bytesPerToken
		if tokens > best.tokens {
			best = completion{tokens: tokens, step: step.Number, quote: clip(text)}
		}
	}
	detail := fmt.Sprintf("no reply's usage is known; read from the recorded content's length, about %d tokens", best.tokens)
	if best.tokens < minTokens {
		return missed(detail)
	}
	return finding{
		passed:    true,
		step:      best.step,
		quote:     best.quote,
		detail:    detail,
		estimated: true,
	}
}

// turnSize returns the number of bytes that the model wrote in one turn, and a text to quote from
// it: the longer of thinking and answer, or the arguments of a call if both are empty.
func turnSize(turn *arena.Turn) (size int, longest string) {
	size = len(turn.Think) + len(turn.Text)
	longest = turn.Think
	if len(turn.Text) > len(longest) {
		longest = turn.Text
	}
	for k := range turn.Calls {
		size += len(turn.Calls[k].Name) + len(turn.Calls[k].Arguments)
		if longest == "" {
			longest = string(turn.Calls[k].Arguments)
		}
	}
	return size, longest
}

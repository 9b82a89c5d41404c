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

// minTokens is the subnet's floor for a completion that can hold reasoning.
const minTokens = 30

// bytesPerToken turns recorded text into tokens where no usage is known, the
// project's counter until a tokenizer is given.
const bytesPerToken = 4

// inferenceGate passes on one answered chat completion of minTokens or more.
// Diagnostic attempt records are no evidence, nor are embeddings. Where
// replies were answered but none tells its usage, or the source keeps no proxy
// log at all, the length of the recorded text stands in and the detail says so.
func inferenceGate(t *arena.Trace, d *arena.Dialogue) finding {
	log := readLog(t)
	switch {
	case log.usageKnown && log.best.tokens >= minTokens:
		return finding{passed: true, step: log.best.step, quote: log.best.quote,
			detail: fmt.Sprintf("a chat completion of %d tokens", log.best.tokens)}
	case log.usageKnown:
		return missed(fmt.Sprintf("no chat completion reaches %d tokens, the largest has %d", minTokens, log.best.tokens))
	case log.answered == 0 && t.Source.HasProxyLog:
		return missed("the proxy log holds no answered chat completion")
	default:
		return recordedLength(t, d)
	}
}

type completion struct {
	tokens int
	step   int
	quote  string
}

type proxyLog struct {
	answered   int
	usageKnown bool
	best       completion
}

func readLog(t *arena.Trace) proxyLog {
	var log proxyLog
	for i := range t.Steps {
		for k := range t.Steps[i].Proxy {
			call := &t.Steps[i].Proxy[k]
			if call.Attempt || call.Status < 200 || call.Status >= 300 || !strings.Contains(call.Path, "chat/completions") {
				continue
			}
			log.answered++
			tokens, quote, known := usage(call.Response)
			if known && (!log.usageKnown || tokens > log.best.tokens) {
				log.best = completion{tokens: tokens, step: t.Steps[i].Number, quote: quote}
			}
			log.usageKnown = log.usageKnown || known
		}
		if log.best.tokens >= minTokens {
			return log
		}
	}
	return log
}

// usageForm is the key of a reply that tells its length, with its value. Inside the
// model's own text the quotes are escaped, so an unescaped key is the server's.
var usageForm = regexp.MustCompile(`(?:^|[^\\])("completion_tokens"[ :]*(-?[0-9][0-9.eE+-]*))`)

// usage reads completion_tokens from a reply that may be whole, cut off, or
// kept as a string of JSON.
func usage(reply arena.Raw) (tokens int, quote string, known bool) {
	text := reply.Text()
	if n := gjson.Get(text, "usage.completion_tokens"); n.Type == gjson.Number {
		text = text[:n.Index+len(n.Raw)]
	} else if cursor.Valid(text) {
		return 0, "", false
	}
	at := strings.LastIndex(text, `"completion_tokens"`)
	last := usageForm.FindStringSubmatch(text[max(at-1, 0):])
	if at < 0 || last == nil {
		return 0, "", false
	}
	n, _ := strconv.ParseFloat(last[2], 64)
	return int(min(max(n, 0), maxUsage)), last[1], true
}

// maxUsage bounds the tokens of a reply: more is noise.
const maxUsage = 1e9

// recordedLength stands in for usage: the longest text the model is recorded
// to have written in one step. Steps that the source says a program made are
// left out.
func recordedLength(t *arena.Trace, d *arena.Dialogue) finding {
	var best completion
	for i := range d.Turns {
		turn := &d.Turns[i]
		if turn.Step < 0 || turn.Step >= len(t.Steps) || t.Steps[turn.Step].LLMCalls != nil && *t.Steps[turn.Step].LLMCalls == 0 {
			continue
		}
		size, text := turnSize(turn)
		if tokens := (size + bytesPerToken - 1) / bytesPerToken; tokens > best.tokens {
			best = completion{tokens: tokens, step: t.Steps[turn.Step].Number, quote: clip(text)}
		}
	}
	how := fmt.Sprintf("no reply's usage is known; read from the recorded content's length, about %d tokens", best.tokens)
	if best.tokens < minTokens {
		return missed(how)
	}
	return finding{passed: true, step: best.step, quote: best.quote, detail: how, estimated: true}
}

// turnSize is the size in bytes of what the model wrote in one turn and the
// longest piece of it.
func turnSize(turn *arena.Turn) (size int, longest string) {
	size, longest = len(turn.Think)+len(turn.Text), turn.Think
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

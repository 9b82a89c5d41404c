package rollout

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/internal/python"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/shop"
	"github.com/trajectory-arena/arena/student/dialect"
)

// callAnswer is a tool call of the model with its result. malformed reports whether the call could
// not be read or its tool does not exist, terminates whether the call ends the rollout.
type callAnswer struct {
	call dialect.Call
	shop.Answer
	malformed  bool
	terminates bool
}

// call executes a tool call, adds it to the counts in p.result, and returns the call with its
// result. A call that cannot be read is not executed, and its result is an error text. If the
// search server does not answer, p.toolFault is set.
func (p *play) call(c dialect.Call) callAnswer {
	if c.Malformed != "" {
		p.result.MalformedCalls++
		text := python.String("Error: " + c.Malformed)
		return callAnswer{
			call:      c,
			Answer:    shop.Answer{ID: c.ID, Result: text, Raised: true},
			malformed: true,
		}
	}
	a := callAnswer{
		call:   c,
		Answer: p.tools.Call(p.ctx, c.Name, c.Arguments),
	}
	a.ID = c.ID
	if r, failed := a.Unanswered(); failed {
		p.toolFault = &model.Fault{
			Kind:   model.Network,
			Reason: "search_unreachable",
			Detail: r.Path,
		}
		if r.Status != 0 {
			p.toolFault.Reason = "search_http_" + strconv.Itoa(r.Status)
		}
	}
	if !slices.Contains(p.env.ToolNames, c.Name) {
		p.result.MalformedCalls++
		a.malformed = true
		return a
	}
	p.result.ToolCalls++
	if a.Raised {
		p.result.ToolErrors++
	}
	text := c.Name + "\n" + string(python.Compact(c.Arguments)) // independent of the order of keys
	if p.seenCalls[text] {
		p.result.RepeatedCalls++
	}
	p.seenCalls[text] = true
	p.callTexts = append(p.callTexts, text)
	p.recordIDs(c, a.Result)
	a.terminates = c.Name == "terminate"
	return a
}

// idFields maps each tool that takes product ids to the name of its argument with the ids.
var idFields = map[string]string{
	"recommend_product":        "product_ids",
	"view_product_information": "product_ids",
	"check_product_match":      "product_id",
}

// recordIDs adds the product ids in a call to p.namedIDs and those in its result to p.returnedIDs.
// The ids of a recommendation replace p.result.Recommended.
func (p *play) recordIDs(c dialect.Call, result python.Value) {
	if field, ok := idFields[c.Name]; ok {
		v, _ := c.Arguments.Get(field)
		ids := idList(v)
		for _, id := range ids {
			p.namedIDs[id] = true
		}
		if c.Name == "recommend_product" {
			p.result.Recommended = ids
		}
	}
	// A result repeats the id of the call only if the product exists.
	collectProductIDs(result, p.returnedIDs)
}

// idList splits a string of comma-separated ids. It returns an empty list if v is not a string.
// Halves of surrogate pairs, which Python strings can contain, are replaced, since results are
// UTF-8.
func idList(v python.Value) []string {
	if v.Kind != python.Str {
		return []string{}
	}
	return python.IDs(strings.ToValidUTF8(v.Text, "\ufffd"))
}

// collectProductIDs adds the values of the key product_id at any depth of a tool result to ids. It
// copies each id, since a substring would keep the complete text of the result in memory.
func collectProductIDs(v python.Value, ids map[string]bool) {
	for _, e := range v.List {
		collectProductIDs(e, ids)
	}
	for _, it := range v.Dict {
		if id := it.Value; it.Key == "product_id" && !ids[id.String()] {
			ids[strings.Clone(id.String())] = true
		}
		collectProductIDs(it.Value, ids)
	}
}

func (p *play) addMessage(m model.Turn) { p.messages = p.messages.Append(m) }

// appendTranscript appends parts to the transcript of the conversation. As in both public agent
// loops, the conversation then consists of the system prompt and one message with the complete
// transcript.
func (p *play) appendTranscript(parts ...string) {
	p.transcript = append(p.transcript, parts...)
	p.messages = model.Conversation{}
	content := "# Dialogue Records History\n" + strings.Join(p.transcript, "\n\n")
	p.addMessage(model.Turn{Role: "user", Content: content})
}

const reminder = "No tool was called. Call a tool, or terminate when you are done."

// respond adds reply r and the results of its calls, which s has, to the conversation. A reply in
// which the model made no call is followed by a reminder to call a tool. In the prompt form
// History, the conversation is one message with all parts so far, and there is no reminder.
func (p *play) respond(r model.Reply, s step) {
	if p.env.Form == History {
		p.appendTranscript(s.taggedParts(s.observation())...)
		return
	}
	if p.env.Dialect.OfText() {
		p.addMessage(model.Turn{Role: "assistant", Content: wholeText(r)})
		p.addMessage(model.Turn{Role: "user", Content: cmp.Or(s.resultsText(), reminder)})
		return
	}
	if !s.turn.Native {
		p.messages = p.messages.AppendReply(r, nil, p.returned)
		p.addMessage(model.Turn{
			Role:    "user",
			Content: cmp.Or(s.observation(), reminder),
		})
		return
	}
	sent := slices.Clone(r.Calls)
	for i, a := range s.answers {
		sent[i].ID = a.ID
		if a.call.Malformed != "" { // vLLM refuses conversations with arguments that are no object
			text := python.String(sent[i].Function.Arguments)
			sent[i].Function.Arguments = python.Dumps(python.DictOf(item("malformed", text)))
		} else if len(a.call.Arguments.Dict) == 0 { // an empty text is refused, too
			sent[i].Function.Arguments = "{}"
		}
	}
	p.messages = p.messages.AppendReply(r, sent, p.returned)
	for _, a := range s.answers {
		p.addMessage(model.Turn{
			Role:    "tool",
			Content: toolText(a.Result),
			CallID:  a.ID,
		})
	}
}

// wholeText returns a reply as one text with its reasoning, in the form of the export profile
// "text". If the server separated the reasoning from the text, the two are joined again.
func wholeText(r model.Reply) string {
	if r.Reasoning == "" {
		return r.Content
	}
	parts := []chat.Message{{
		Role:      chat.Assistant,
		Reasoning: strings.Trim(r.Reasoning, "\n"),
		Content:   strings.TrimLeft(r.Content, "\n"),
	}}
	return chat.Text(parts, nil)[0].Content
}

// resultsText returns the results of a step's calls as text, in the form of the export profile
// "text". It returns "" if the step has no calls.
func (s step) resultsText() string {
	return chat.ResultsText(slicesx.Map(s.answers, func(a callAnswer) chat.Message {
		return chat.Message{Role: chat.Tool, Content: toolText(a.Result)}
	}))
}

// observation returns the results of a step's calls as text in <obs> tags, as the subnet's agents
// send it to the model, "" if the step has no calls.
func (s step) observation() string {
	if len(s.answers) == 0 {
		return ""
	}
	answers := slicesx.Map(s.answers, func(a callAnswer) shop.Answer {
		return a.Answer
	})
	return shop.Observation(answers)
}

// toolText returns a result as the content of a tool message: a string unchanged, any other value
// as JSON without spaces and with null for NaN, as in the rows of corpora.
func toolText(v python.Value) string {
	if v.Kind == python.Str {
		return strings.ToValidUTF8(v.Text, "\ufffd")
	}
	b := newScratch()
	defer b.free()
	b.buf = python.AppendTight(b.buf, python.Finite(v))
	return string(b.buf)
}

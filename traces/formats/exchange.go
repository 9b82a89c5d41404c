package formats

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// exchange is the format of a request to a model and the response, which may be missing.
var exchange = Format{
	Name:     "exchange",
	Retained: "tools, model, reward, ending",
	Writers:  "OpenAI Responses API, Anthropic Messages, logs of proxies (request, response), NeMo-Gym rollouts",
	matches:  isExchange,
	read:     readExchange,
}

func isExchange(doc object) bool {
	request := requestOf(doc)
	if !isRequest(request) {
		return false
	}
	return doc["response"].IsObject() || request["input"].IsArray() || hasAnthropicPart(request["messages"])
}

func readExchange(r *reader, doc object) {
	a := r.begin("")
	request := requestOf(doc)
	response := doc.object("response")
	a.Tools = toolDefinitions(request.first("tools"))
	a.Model = response.id("model")
	if a.Model == "" {
		a.Model = request.id("model")
	}
	a.ProblemID = doc.id("problem_id", "task_id", "id", "_ng_task_index")
	a.Trial = doc.id("_ng_rollout_index")
	a.RunID = doc.id("eval_run_id")
	a.Declared = doc.number("reward", "score")

	if text := r.content(request.first("instructions", "system")).text; text != "" {
		r.addText(systemRole, text)
	}
	if text := r.text(request["input"]); text != "" {
		r.addText(userRole, text)
	}
	r.readItems(request["input"])
	r.readMessages(request["messages"])
	r.readItems(response["output"])
	r.each(response["choices"], func(v gjson.Result) {
		r.readMessage(members(v.Get("message")))
	})
	if rolesByName[response["role"].Str] == agentRole {
		r.readMessage(response)
	}
	r.setError(r.responseError(response))
	r.addUnreadKeys(doc, "instructions", "input", "system", "eval_run_id", "request", "response", "responses_create_params",
		"messages", "tools", "reward", "score")
}

// responseError returns the error in a model's response, or the reason why the response is
// incomplete. It returns nil for a complete response.
func (r *reader) responseError(response object) *arena.AttemptError {
	reason := r.text(response.object("incomplete_details")["reason"])
	if failure := response.object("error"); len(failure) > 0 {
		reason = cmp.Or(r.text(failure["message"]), reason, "error")
	}
	if reason == "" {
		return nil
	}
	return &arena.AttemptError{Message: reason}
}

// requestOf returns the request to the model in a document: the object under
// responses_create_params or request, or the document itself if it has neither.
func requestOf(doc object) object {
	for _, name := range []string{"responses_create_params", "request"} {
		if o := doc.object(name); len(o) > 0 {
			return o
		}
	}
	return doc
}

// maxAnthropicParts is the maximum number of message parts that hasAnthropicPart examines. Lists
// of Anthropic's API nearly always have a part of such a type in their first messages.
const maxAnthropicParts = 200

// hasAnthropicPart reports whether one of the first maxAnthropicParts parts of messages has a
// type that only Anthropic's API has, such as tool_use.
func hasAnthropicPart(list gjson.Result) bool {
	found := false
	remaining := maxAnthropicParts
	unpack(list).ForEach(func(_, m gjson.Result) bool {
		m.Get("content").ForEach(func(_, part gjson.Result) bool {
			switch part.Get("type").Str {
			case "tool_use", "tool_result", "thinking", "redacted_thinking":
				found = true
			}
			remaining--
			return !found && remaining > 0
		})
		return !found && remaining > 0
	})
	return found
}

// isRequest reports whether an object is a request to a model: it has a list of messages, or an
// input of the Responses API.
func isRequest(request object) bool {
	input := request["input"]
	if isMessageList(request["messages"]) || input.Type == gjson.String || input.Raw == "[]" {
		return true
	}
	item := input.Get("0")
	return input.IsArray() && (item.Get("role").Exists() || item.Get("type").Exists())
}

// readItems reads a list of items of the Responses API. Successive items that the model wrote
// (reasoning, text, calls) become one step, because they are from one response.
func (r *reader) readItems(list gjson.Result) {
	var turn *arena.Step
	flush := func() {
		if turn != nil {
			r.addStep(*turn)
		}
		turn = nil
	}
	r.each(list, func(v gjson.Result) {
		if v.IsArray() { // the items of one step
			flush()
			r.readItems(v)
			return
		}
		item := members(v)
		step, startsTurn, ok := r.modelItem(item)
		if !ok {
			flush()
			r.readOtherItem(item)
			return
		}
		if startsTurn && !isReasoningOnly(turn) {
			flush()
		}
		isHidden := item["type"].Str == "reasoning" && step.Reasoning == ""
		if !isHidden {
			turn = mergeStep(turn, step)
		}
	})
	flush()
}

// isReasoningOnly reports whether the step turn has neither text nor calls yet, so that the
// model's text may be added to it. It is true for nil.
func isReasoningOnly(turn *arena.Step) bool {
	return turn == nil || turn.Content == "" && len(turn.Calls) == 0
}

// modelItem converts an item of the Responses API to a step. ok is false if the model did not
// write the item. startsTurn is set for reasoning and text, which start a new step if the
// current one already has text or calls.
func (r *reader) modelItem(item object) (step arena.Step, startsTurn, ok bool) {
	kind := item["type"].Str
	switch {
	case kind == "function_call", kind == "custom_tool_call":
		step.Calls = []arena.ToolCall{{
			ID:        item.id("call_id", "id"),
			Name:      item.id("name"),
			Arguments: arena.Raw(item.first("arguments", "input").Raw),
		}}
		return step, false, true
	case kind == "reasoning":
		summary := r.content(item["summary"]).text
		step.Reasoning = cmp.Or(r.content(item["content"]).text, summary)
		if step.Reasoning == "" && item["encrypted_content"].Type == gjson.String {
			r.addLoss(lostReasoning)
		}
		return step, true, true
	case rolesByName[item["role"].Str] == agentRole && (kind == "" || kind == "message"):
		c := r.content(item["content"])
		step = c.step()
		step.Reasoning = cmp.Or(step.Reasoning, r.text(item["reasoning_content"]))
		step.Calls = append(step.Calls, r.calls(item["tool_calls"])...)
		return step, true, true
	}
	return step, false, false
}

// mergeStep adds the text, reasoning and calls of s to turn and returns turn, or s if turn is
// nil. It keeps the text of turn if both have one.
func mergeStep(turn *arena.Step, s arena.Step) *arena.Step {
	if turn == nil {
		return &s
	}
	turn.Content = cmp.Or(turn.Content, s.Content)
	turn.Reasoning = strings.Trim(turn.Reasoning+"\n"+s.Reasoning, "\n")
	turn.Calls = append(turn.Calls, s.Calls...)
	return turn
}

// readOtherItem reads an item of the Responses API that the model did not write: a tool result
// or a message of another role. It records any other item as a loss.
func (r *reader) readOtherItem(item object) {
	kind := item["type"].Str
	switch {
	case kind == "function_call_output", kind == "custom_tool_call_output":
		r.addResult(item.id("call_id"), r.result(item["output"]))
	case item["role"].Exists():
		r.readMessage(item)
	default: // a search or another call that the provider made itself
		r.addLoss(lostProviderItem)
	}
}

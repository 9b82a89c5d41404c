package cold

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// exchange is a request to a model, with its response where there is one.
var exchange = Format{
	Name: "exchange", Kept: "tools, model, reward, ending",
	Writers: "OpenAI Responses API, Anthropic Messages, logs of proxies (request, response), NeMo-Gym rollouts",
	is: func(top object) bool {
		in, out := asked(top), top["response"]
		return isRequest(in) && (out.IsObject() || in["input"].IsArray() || ofAnthropic(in["messages"]))
	},
	read: func(r *reader, top object) {
		a := r.begin("")
		in, out := asked(top), top.within("response")
		a.Tools, a.Model = Tools(in.first("tools")), cmp.Or(out.id("model"), in.id("model"))
		a.ProblemID, a.Trial = top.id("problem_id", "task_id", "id", "_ng_task_index"), top.id("_ng_rollout_index")
		a.RunID, a.Declared = top.id("eval_run_id"), top.number("reward", "score")
		if text := r.content(in.first("instructions", "system")).step.Content; text != "" {
			r.tell(System, text)
		}
		if text := r.text(in["input"]); text != "" {
			r.tell(User, text)
		}
		r.items(in["input"])
		r.messages(in["messages"])
		r.items(out["output"])
		r.each(out["choices"], func(v gjson.Result) { r.message(fields(v.Get("message"))) })
		if roles[out["role"].Str] == Agent {
			r.message(out)
		}
		why := r.text(out.within("incomplete_details")["reason"])
		if failed := out.within("error"); len(failed) > 0 {
			why = cmp.Or(r.text(failed["message"]), why, "error")
		}
		if why != "" {
			r.fails(&arena.AttemptError{Message: why})
		}
		r.unread(top, "instructions", "input", "system", "eval_run_id")
	},
}

// asked is the request of an exchange: under the name that its writer has for it,
// or the document itself.
func asked(top object) object {
	for _, name := range []string{"responses_create_params", "request"} {
		if o := top.within(name); len(o) > 0 {
			return o
		}
	}
	return top
}

// ofAnthropic reports whether a list of messages has parts that only Anthropic's
// have. Most that have any have one in their first messages.
func ofAnthropic(list gjson.Result) (found bool) {
	looks := 200
	Unpacked(list).ForEach(func(_, m gjson.Result) bool {
		m.Get("content").ForEach(func(_, part gjson.Result) bool {
			switch part.Get("type").Str {
			case "tool_use", "tool_result", "thinking", "redacted_thinking":
				found = true
			}
			looks--
			return !found && looks > 0
		})
		return !found && looks > 0
	})
	return found
}

func isRequest(in object) bool {
	list := in["input"]
	item := list.Get("0")
	return messageList(in["messages"]) || list.Type == gjson.String || list.Raw == "[]" || list.IsArray() && (item.Get("role").Exists() || item.Get("type").Exists())
}

// items reads a list of items of the Responses API: reasoning, messages and calls
// that follow each other are one turn, as the model made them in one response.
func (r *reader) items(list gjson.Result) {
	var turn *arena.Step
	end := func() {
		if turn != nil {
			r.say(message{role: Agent, step: *turn})
		}
		turn = nil
	}
	r.each(list, func(v gjson.Result) {
		if v.IsArray() { // the items of one step
			end()
			r.items(v)
			return
		}
		item := fields(v)
		if s, begins, ok := r.ownItem(item, turn); ok {
			if begins {
				end()
			}
			if hidden := item["type"].Str == "reasoning" && s.Reasoning == ""; !hidden {
				turn = joined(turn, s)
			}
			return
		}
		end()
		r.otherItem(item)
	})
	end()
}

// ownItem reads an item that the model made; begins tells that it belongs to a new
// turn.
func (r *reader) ownItem(item object, turn *arena.Step) (s arena.Step, begins, ok bool) {
	kind := item["type"].Str
	switch {
	case kind == "function_call", kind == "custom_tool_call":
		s.Calls = []arena.ToolCall{{ID: item.id("call_id", "id"), Name: item.id("name"), Arguments: arena.Raw(item.first("arguments", "input").Raw)}}
		return s, false, true
	case kind == "reasoning":
		s.Reasoning = cmp.Or(r.content(item["content"]).step.Content, r.content(item["summary"]).step.Content)
		r.lose(lostReasoning, s.Reasoning == "" && item["encrypted_content"].Type == gjson.String)
		return s, turn != nil && (turn.Content != "" || len(turn.Calls) > 0), true
	case roles[item["role"].Str] == Agent && (kind == "" || kind == "message"):
		s = r.content(item["content"]).step
		s.Reasoning = cmp.Or(s.Reasoning, r.text(item["reasoning_content"]))
		s.Calls = append(s.Calls, r.calls(item["tool_calls"])...)
		return s, turn != nil && (turn.Content != "" || len(turn.Calls) > 0), true
	}
	return s, false, false
}

func joined(turn *arena.Step, s arena.Step) *arena.Step {
	if turn == nil {
		return &s
	}
	turn.Content = cmp.Or(turn.Content, s.Content)
	turn.Reasoning = strings.Trim(turn.Reasoning+"\n"+s.Reasoning, "\n")
	turn.Calls = append(turn.Calls, s.Calls...)
	return turn
}

func (r *reader) otherItem(item object) {
	switch kind := item["type"].Str; {
	case kind == "function_call_output", kind == "custom_tool_call_output":
		r.answer(item.id("call_id"), r.result(item["output"]))
	case item["role"].Exists():
		r.message(item)
	default: // a search or another call that the provider made itself
		r.lose(lostProviderItem, true)
	}
}

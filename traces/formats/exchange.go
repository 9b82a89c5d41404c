package formats

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// exchange is the format of a request to a model and the response. Either may be missing, as in the
// files of batches.
var exchange = Format{
	Name:     "exchange",
	Retained: "tools, model, reward, ending",
	Writers: "OpenAI Responses API and its items, Anthropic Messages, Gemini's contents, Bedrock, batches of these, " +
		"logs of proxies (request, response, body), NeMo-Gym rollouts",
	matches: isExchange,
	read:    readExchange,
}

func isExchange(doc *value) bool {
	request := requestOf(doc)
	hasRequest := isRequest(request)
	hasBatchID := doc.first("custom_id", "key").isPresent()
	if isResponse(responseOf(doc)) && (hasRequest || hasBatchID) {
		return true
	}
	if !hasRequest {
		return false
	}
	list := request.first("messages")
	return hasBatchID || doc.get("response").isObject() || request.get("input").isArray() ||
		request.get("contents").isArray() || hasAnthropicPart(list) || hasItem(list)
}

// requestOf returns the request to the model in a document, or the document itself if it has no
// member that is one.
func requestOf(doc *value) *value {
	for _, name := range []string{"responses_create_params", "request", "params", "body"} {
		request := doc.object(name)
		if body := request.object("body"); isRequest(body) {
			return body
		}
		if isRequest(request) {
			return request
		}
	}
	return doc
}

// responseOf returns the response of the model in a document. If no member is one, it returns the
// object under the key response, or the document itself if that is missing or empty.
func responseOf(doc *value) *value {
	response := doc.object("response")
	candidates := []*value{response.object("body"), response, doc.object("result").object("message")}
	for _, candidate := range candidates {
		if isResponse(candidate) {
			return candidate
		}
	}
	if !response.isEmpty() {
		return response
	}
	return doc
}

// isRequest reports whether an object is a request to a model: it has a list of messages, contents
// of Gemini's API, or an input of the Responses API, which is a string or a list.
func isRequest(request *value) bool {
	input := request.get("input")
	isItem := input.peek("0.role").Exists() || input.peek("0.type").Exists()
	switch {
	case hasMessages(request.get("messages")), request.peek("contents.0.parts").IsArray():
		return true
	case input.isArray():
		return isItem || isEmptyValue(input.json)
	}
	return input.isString()
}

// hasMessages reports whether v is a list whose first element has a role, or the type of an item of
// the Responses API.
func hasMessages(v *value) bool { return v.isMessageList() || isItemKind(v.peek("0.type").Str) }

// isResponse reports whether an object is the response of a model in one of four APIs: a message of
// Anthropic's, output items, choices with a message, or Gemini's candidates.
func isResponse(response *value) bool {
	isMessage := rolesByName[response.get("role").json.Str] == agentRole && response.get("content").isArray()
	hasItems := response.get("output").isArray() && response.peek("output.0.type").Exists()
	return isMessage || hasItems || response.peek("choices.0.message").IsObject() ||
		response.peek("candidates.0.content").IsObject()
}

func readExchange(r *reader, doc *value) {
	a := r.begin("")
	request := requestOf(doc)
	response := responseOf(doc)
	a.Tools = toolDefinitions(request.first("tools"))
	a.Model = firstIDText(response.first("model", "modelVersion"), request.get("model"))
	a.ProblemID = doc.id("problem_id", "task_id", "custom_id", "key", "id", "_ng_task_index")
	a.Trial = doc.id("_ng_rollout_index")
	a.RunID = doc.id("eval_run_id")
	a.Declared = doc.number("reward", "score")

	r.readRequest(request)
	r.readResponse(response)
	r.setError(r.responseError(response))
	// A response repeats parameters of the request.
	for _, m := range response.open() {
		if response != request && m.json.Raw == request.get(m.name).json.Raw {
			m.raw()
		}
	}
}

func (r *reader) readRequest(request *value) {
	system := request.first("instructions", "system", "systemInstruction", "system_instruction")
	if parts := system.get("parts"); parts.exists() {
		system = parts
	}
	if text := r.content(system).text; text != "" {
		r.addText(systemRole, text)
	}
	if text := r.textOf(request, "input"); text != "" {
		r.addText(userRole, text)
	}
	r.readItems(request.get("input"))
	if messages := request.get("messages"); hasItem(messages) {
		r.readItems(messages)
	} else {
		r.readMessages(messages)
	}
	r.each(request.get("contents"), func(v *value) {
		before := len(r.attempt().messages)
		r.readMessage(v)
		if added := r.attempt().messages[before:]; !v.has("role") {
			added[0].role = userRole
		}
	})
}

func (r *reader) readResponse(response *value) {
	r.readItems(response.get("output"))
	r.readFirst(response.get("choices"), "message")
	r.readFirst(response.get("candidates"), "content")
	if message := response.object("output").get("message"); message.isObject() { // of Bedrock
		r.readMessage(message)
	}
	if rolesByName[response.string("role")] == agentRole {
		r.readMessage(response)
	}
}

// readFirst reads the message under the key name in the first element of list, which has
// alternative replies of the model. Other elements are recorded as a loss. A message of unknown
// role becomes the agent's.
func (r *reader) readFirst(list *value, name string) {
	isFirst := true
	r.each(list, func(v *value) {
		if !isFirst {
			r.addLoss(lostBranches)
			v.raw()
			return
		}
		isFirst = false
		before := len(r.attempt().messages)
		r.readMessage(v.get(name))
		if added := r.attempt().messages[before:]; added[0].role == otherRole {
			added[0].role = agentRole
		}
	})
}

// responseError returns the error in a model's response. If the response is incomplete, the reason
// for that is the message of the error. It returns nil for a complete response.
func (r *reader) responseError(response *value) *arena.AttemptError {
	reason := r.textOf(response.object("incomplete_details"), "reason")
	if failure := response.object("error"); !failure.isEmpty() {
		reason = cmp.Or(r.textOf(failure, "message"), reason, "error")
	}
	if reason == "" {
		return nil
	}
	return &arena.AttemptError{Message: reason}
}

// maxDetectionParts is the maximum number of messages or parts of messages that are examined to
// recognise an API. A part that identifies the API nearly always occurs earlier.
const maxDetectionParts = 200

// hasAnthropicPart reports whether one of the first maxDetectionParts parts in a list of messages
// has a type that only Anthropic's API has, such as tool_use or thinking.
func hasAnthropicPart(list *value) bool {
	found := false
	remaining := maxDetectionParts
	list.unpack().json.ForEach(func(_, m gjson.Result) bool {
		m.Get("content").ForEach(func(_, part gjson.Result) bool {
			kind := part.Get("type").Str
			found = strings.HasSuffix(kind, "tool_use") || strings.HasSuffix(kind, "tool_result") ||
				kind == "thinking" || kind == "redacted_thinking"
			remaining--
			return !found && remaining > 0
		})
		return !found && remaining > 0
	})
	return found
}

// hasItem reports whether one of the first maxDetectionParts elements of a list is an item of the
// Responses API that is no message.
func hasItem(list *value) bool {
	found := false
	remaining := maxDetectionParts
	list.unpack().json.ForEach(func(_, m gjson.Result) bool {
		found = !m.Get("role").Exists() && isItemKind(m.Get("type").Str)
		remaining--
		return !found && remaining > 0
	})
	return found
}

func isItemKind(kind string) bool {
	return kind == "reasoning" || kind == listsTools || isCallItem(kind) || isOutputItem(kind)
}

// listsTools is the kind of an item that lists the tools of a server and has nothing that the model wrote.
const listsTools = "mcp_list_tools"

// isCallItem reports whether kind is the type of an item of the Responses API that is a call,
// whether the client or the provider runs it.
func isCallItem(kind string) bool { return strings.HasSuffix(kind, "_call") }

// isOutputItem reports whether kind is the type of an item of the Responses API that is the result
// of a call that the client ran.
func isOutputItem(kind string) bool { return strings.HasSuffix(kind, "_output") }

// readItems reads a list of items of the Responses API. Successive items that the model wrote
// (reasoning, text, calls) become one step, because they are from one response.
func (r *reader) readItems(list *value) {
	t := itemTurn{r: r}
	r.each(list, func(v *value) {
		if v.isArray() { // the items of one step
			t.flush()
			r.readItems(v)
			return
		}
		t.read(v)
	})
	t.flush()
}

// itemTurn joins successive items of the Responses API that the model wrote (reasoning, text,
// calls) to steps, and adds these to the attempt.
type itemTurn struct {
	r *reader
	// step is the step that is being joined, nil if there is none.
	step *arena.Step
}

func (t *itemTurn) flush() {
	if t.step != nil {
		t.r.addStep(*t.step)
	}
	t.step = nil
}

func (t *itemTurn) read(item *value) {
	kind := item.string("type")
	isMessage := kind == "" || kind == "message"
	switch {
	case kind == "reasoning":
		if s := t.r.reasoningItem(item); s.Reasoning != "" {
			t.add(s)
		}
	case isCallItem(kind):
		if t.step == nil {
			t.step = &arena.Step{}
		}
		t.step.Calls = append(t.step.Calls, t.r.callItem(item, kind))
	case isMessage && rolesByName[item.string("role")] == agentRole:
		c := t.r.content(item.get("content"))
		s := c.step()
		s.Reasoning = cmp.Or(s.Reasoning, t.r.textOf(item, "reasoning_content"))
		s.Calls = append(s.Calls, t.r.calls(item.get("tool_calls"))...)
		readMask(item, &s)
		t.add(s)
	case isOutputItem(kind):
		t.flush()
		t.r.addResult(item.id("call_id", "id"), t.r.itemResult(item.first("output", "tools")))
	case item.has("role"):
		t.flush()
		t.r.readMessage(item)
	case kind == listsTools:
	default:
		t.flush()
		t.r.attempt().hasUnreadPart = true
	}
}

// add joins s, a step with reasoning or a text, to the current step. If the current step already
// has text or calls, add first adds it to the attempt, and s begins a new step.
func (t *itemTurn) add(s arena.Step) {
	if t.step != nil && (t.step.Content != "" || len(t.step.Calls) > 0) {
		t.flush()
	}
	if t.step != nil {
		s.Reasoning = strings.Trim(t.step.Reasoning+"\n"+s.Reasoning, "\n")
	}
	t.step = &s
}

func (r *reader) reasoningItem(item *value) arena.Step {
	summary := r.content(item.get("summary")).text
	text := cmp.Or(r.content(item.get("content")).text, summary)
	if encrypted := item.get("encrypted_content"); encrypted.isString() {
		encrypted.raw()
		if text == "" {
			r.addLoss(lostReasoning)
		}
	}
	return arena.Step{Reasoning: text}
}

// callItem converts an item that is a call; kind is its type. A call without a name is named after
// its type without "_call", such as web_search. If the provider ran the tool, the item has the
// result too.
func (r *reader) callItem(item *value, kind string) arena.ToolCall {
	call := arena.ToolCall{
		ID:        item.id("call_id", "id"),
		Name:      item.id("name"),
		Arguments: itemArguments(item, kind),
	}
	if call.Name == "" {
		call.Name = strings.TrimSuffix(kind, "_call")
	}
	if kind == "image_generation_call" {
		r.attempt().hasNonText = true
	}
	output := item.first("output", "outputs", "results", "result")
	if failure := item.get("error"); failure.isPresent() && !output.isPresent() {
		r.addLoss(lostResultError)
		output = failure
	}
	if output.isPresent() {
		call.Result = r.itemResult(output)
	}
	return call
}

// itemResult converts the result in an item to JSON. A screenshot or other media sets hasNonText of
// the attempt.
func (r *reader) itemResult(output *value) arena.Raw {
	kind := output.peek("type").Str
	if isMediaKind(kind) || kind == "computer_screenshot" {
		r.attempt().hasNonText = true
	}
	return r.result(output)
}

// itemFields are the members of a call item that are never arguments of the tool.
var itemFields = []string{
	"id", "type", "status", "call_id", "name", "output", "outputs", "results", "result", "error",
	"server_label", "container_id", "namespace", "caller",
}

// itemArguments returns the arguments of a call item as JSON; kind is its type. An item for a tool
// of the provider has none of the usual members for arguments; its arguments are then an object of
// all members that are not in itemFields.
func itemArguments(item *value, kind string) arena.Raw {
	if kind == "custom_tool_call" {
		return textArguments(item.get("input"))
	}
	if v := item.first("arguments", "input", "action", "operation"); v.isPresent() {
		return v.raw()
	}
	var fields []string
	for _, m := range item.open() {
		if !slices.Contains(itemFields, m.name) {
			fields = append(fields, string(arena.Quote(m.name)+":"+m.raw()))
		}
	}
	return arena.Raw("{" + strings.Join(fields, ",") + "}")
}

package export

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/cursor"
	"github.com/trajectory-arena/arena/internal/slicesx"
	plaintext "github.com/trajectory-arena/arena/internal/text"
)

// The reasons for which only sharegpt cannot contain a row.
const (
	reasonNoSystem    = "no_system_prompt" // the reader would replace an empty system prompt by the template's
	reasonEmptyResult = "empty_result"     // the reader rejects turns without text
)

// convertShareGPT converts an attempt to a row of ShareGPT turns. A turn with calls consists of
// reasoning and the calls as JSON, so other text of the turn is moved into the reasoning.
// Several calls, and several results, become JSON lists. The error is a *chat.Unfit if a turn
// is masked, a user message follows a result, a single result is empty, or there is no system
// prompt.
func convertShareGPT(r *row) ([]rows.ShareGPT, error) {
	if err := r.checkMask(); err != nil {
		return nil, err
	}
	out := rows.ShareGPT{
		Tools:          jsonList(r.sft.Tools),
		AttemptColumns: attemptColumns(r.sft),
		Origin:         r.sft.Origin,
	}
	add := func(start, value string) {
		out.Conversations = append(out.Conversations, rows.ShareGPTTurn{
			From:  start,
			Value: value,
		})
	}
	ms := chat.Unescape(r.messages)
	for i := 0; i < len(ms); i++ {
		switch m := &ms[i]; m.Role {
		case chat.System:
			out.System = m.Content
		case chat.User:
			if ms[max(0, i-1)].Role == chat.Tool { // the reader takes either between turns of the model
				return nil, &chat.Unfit{Reason: chat.ReasonOrder}
			}
			add("human", m.Content)
		case chat.Assistant:
			add(assistantValue(m))
		default:
			n := chat.CountResults(ms[i:])
			value, err := resultsValue(ms[i : i+n])
			if err != nil {
				return nil, err
			}
			if value == "" {
				return nil, &chat.Unfit{Reason: reasonEmptyResult}
			}
			add("observation", value)
			i += n - 1
		}
	}
	if out.System == "" {
		return nil, &chat.Unfit{Reason: reasonNoSystem}
	}
	return []rows.ShareGPT{out}, nil
}

// assistantValue returns the two fields of an assistant message's ShareGPT turn: from, which is
// function_call if the message has calls and gpt otherwise, and value, its text.
func assistantValue(m *chat.Message) (start, value string) {
	if len(m.Calls) == 0 {
		return "gpt", thinkBlock(m.Reasoning) + m.Content
	}
	reasoning := plaintext.Join(m.Reasoning, "\n\n", m.Content)
	calls := slicesx.Map(m.Calls, func(c chat.Call) string {
		return chat.CallText(c.Function)
	})
	if len(calls) == 1 {
		return "function_call", thinkBlock(reasoning) + calls[0]
	}
	return "function_call", thinkBlock(reasoning) + jsonList(calls)
}

// thinkBlock returns reasoning in <think> tags, or "" if there is no reasoning.
func thinkBlock(reasoning string) string {
	if reasoning == "" {
		return ""
	}
	return "<think>\n" + reasoning + "\n</think>\n\n"
}

// resultsValue returns the results of one turn's calls as a text: a single result unchanged,
// several as a JSON list.
func resultsValue(results []chat.Message) (string, error) {
	if len(results) == 1 {
		return results[0].Content, nil
	}
	items := make([]string, len(results))
	for i, m := range results {
		if isListItem(m.Content) {
			items[i] = m.Content
			continue
		}
		var err error
		items[i], err = chat.Marshal(m.Content)
		if err != nil {
			return "", err
		}
	}
	return jsonList(items), nil
}

// isListItem reports whether a tool's result can be an element of a JSON list as it is, and is then
// read back unchanged. It returns false for a JSON string, which would lose its quotes, and for a
// value with spaces around it.
func isListItem(result string) bool {
	return cursor.Valid(result) && result[0] != '"' && strings.TrimSpace(result) == result
}

// splitTools returns the elements of a JSON list of tool definitions as they are written there.
func splitTools(list string) []string {
	var out []string
	for _, t := range gjson.Parse(list).ForEach {
		out = append(out, t.Raw)
	}
	return out
}

// writeDatasetInfo writes dataset_info.json for LLaMA-Factory, with an entry for each split that
// has rows. An entry names a folder, because LLaMA-Factory does not support file patterns.
func (j *job) writeDatasetInfo() error {
	info := map[string]any{}
	for _, split := range j.splits() {
		info["sharegpt_"+split] = map[string]any{
			"file_name":  "data/" + j.profile.Name + "/" + split,
			"formatting": "sharegpt",
			"columns": map[string]string{
				"messages": "conversations",
				"system":   "system",
				"tools":    "tools",
			},
			"tags": map[string]string{
				"role_tag":        "from",
				"content_tag":     "value",
				"user_tag":        "human",
				"assistant_tag":   "gpt",
				"observation_tag": "observation",
				"function_tag":    "function_call",
				"system_tag":      "system",
			},
		}
	}
	content := append(asjson.Indented(info, "  "), '\n')
	return j.writeFiles(map[string][]byte{"dataset_info.json": content})
}

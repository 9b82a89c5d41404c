package export

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/cursor"
)

// The reasons for which a row has no place in sharegpt alone: its reader puts a
// template's own prompt where the system prompt is empty, and a turn without
// text is what it was not told of.
const (
	reasonNoSystem    = "no_system_prompt" // the system prompt is empty, which a template would replace
	reasonEmptyResult = "empty_result"     // a turn has no text, which the reader was not told of
)

// shareGPT writes turns of from and value. A turn with calls has a single
// value, thinking and then JSON, so text beside the calls moves into the
// thinking. Several calls, and the results that answer them, are JSON lists.
func shareGPT(r *row) ([]rows.ShareGPT, error) {
	out := rows.ShareGPT{Tools: jsonList(r.sft.Tools), AttemptColumns: columns(r.sft), Origin: r.sft.Origin}
	ms := chat.Unescape(r.messages)
	for i := 0; i < len(ms); i++ {
		switch m := &ms[i]; m.Role {
		case chat.System:
			out.System = m.Content
		case chat.User:
			if ms[max(0, i-1)].Role == chat.Tool { // its reader takes one of the two between the model's turns
				return nil, &chat.Unfit{Reason: chat.ReasonOrder}
			}
			out.Conversations = append(out.Conversations, rows.ShareGPTTurn{From: "human", Value: m.Content})
		case chat.Assistant:
			out.Conversations = append(out.Conversations, spoken(m))
		default:
			n := chat.CountResults(ms[i:])
			value, err := observation(ms[i : i+n])
			if err != nil {
				return nil, err
			}
			if value == "" {
				return nil, &chat.Unfit{Reason: reasonEmptyResult}
			}
			out.Conversations = append(out.Conversations, rows.ShareGPTTurn{From: "observation", Value: value})
			i += n - 1
		}
	}
	if out.System == "" {
		return nil, &chat.Unfit{Reason: reasonNoSystem}
	}
	return []rows.ShareGPT{out}, nil
}

func spoken(m *chat.Message) rows.ShareGPTTurn {
	if len(m.Calls) == 0 {
		return rows.ShareGPTTurn{From: "gpt", Value: thought(m.Reasoning) + m.Content}
	}
	calls := make([]string, len(m.Calls))
	for i, c := range m.Calls {
		calls[i] = chat.CallText(c.Function)
	}
	value := calls[0]
	if len(calls) > 1 {
		value = jsonList(calls)
	}
	said := m.Reasoning
	if said != "" && m.Content != "" {
		said += "\n\n"
	}
	return rows.ShareGPTTurn{From: "function_call", Value: thought(said+m.Content) + value}
}

func thought(s string) string {
	if s == "" {
		return ""
	}
	return "<think>\n" + s + "\n</think>\n\n"
}

func observation(results []chat.Message) (string, error) {
	if len(results) == 1 {
		return results[0].Content, nil
	}
	items := make([]string, len(results))
	for i, m := range results {
		items[i] = m.Content
		if !standsAlone(m.Content) {
			var err error
			if items[i], err = chat.Marshal(m.Content); err != nil {
				return "", err
			}
		}
	}
	return jsonList(items), nil
}

// standsAlone reports whether a result can be an element of a JSON list as it is,
// and be read back as it was: a JSON string would lose its quotes, a value with
// space around it the space.
func standsAlone(result string) bool {
	return cursor.Valid(result) && result[0] != '"' && strings.TrimSpace(result) == result
}

// toolList splits a JSON list of definitions into its items, verbatim.
func toolList(list string) []string {
	var out []string
	for _, t := range gjson.Parse(list).ForEach {
		out = append(out, t.Raw)
	}
	return out
}

// datasetInfo is LLaMA-Factory's dataset_info.json: an entry for each split
// that has rows. file_name is a folder, for a pattern is not understood.
func (j *job) datasetInfo() error {
	info := map[string]any{}
	for _, split := range j.splits() {
		info["sharegpt_"+split] = map[string]any{
			"file_name":  "data/" + j.profile.Name + "/" + split,
			"formatting": "sharegpt",
			"columns":    map[string]string{"messages": "conversations", "system": "system", "tools": "tools"},
			"tags": map[string]string{"role_tag": "from", "content_tag": "value", "user_tag": "human", "assistant_tag": "gpt",
				"observation_tag": "observation", "function_tag": "function_call", "system_tag": "system"},
		}
	}
	return j.files(map[string][]byte{"dataset_info.json": append(asjson.Indented(info, "  "), '\n')})
}

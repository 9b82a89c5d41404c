package traces

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/traces/convert"
)

// claudeLine writes a line of a session: its id, the id of its parent, and its message.
func claudeLine(id, parent, message, more string) string {
	parentID := "null"
	if parent != "" {
		parentID = fmt.Sprintf("%q", parent)
	}
	return fmt.Sprintf(`{"uuid":%q,"parentUuid":%s,"isSidechain":false,"sessionId":"s","type":"x","timestamp":"t-%s"%s,"message":%s}`, id, parentID, strings.TrimSuffix(id, "-again"), more, message)
}

func claudeUser(text string) string { return fmt.Sprintf(`{"role":"user","content":%q}`, text) }

func claudeReply(id, text string) string {
	return fmt.Sprintf(`{"id":%q,"role":"assistant","model":"m","content":[{"type":"text","text":%q}]}`, id, text)
}

func claudeCall(id, call string) string {
	return fmt.Sprintf(`{"id":%q,"role":"assistant","model":"m","content":[{"type":"tool_use","id":%q,"name":"f","input":{}}]}`, id, call)
}

func claudeResult(call, text string) string {
	return fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":%q}]}`, call, text)
}

// TestClaudeSessionsAreTrees holds that the last branch of a session is read, and that a session
// that was cleared or compacted is several conversations.
func TestClaudeSessionsAreTrees(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lines []string
		// want are the texts of each conversation, lost the losses that it names.
		want []string
		lost []string
	}{
		"a question is taken back": {
			lines: []string{
				claudeLine("1", "", claudeUser("hello"), ""), claudeLine("2", "1", claudeReply("m1", "hi"), ""),
				claudeLine("3", "2", claudeUser("taken back"), ""), claudeLine("4", "3", claudeReply("m2", "also taken back"), ""),
				claudeLine("5", "2", claudeUser("stays"), ""), claudeLine("6", "5", claudeReply("m3", "fine"), ""),
			},
			want: []string{"hello|hi|stays|fine"}, lost: []string{"other_branches"},
		},
		"the session is cleared": {
			lines: []string{
				claudeLine("1", "", claudeUser("hello"), ""), claudeLine("2", "1", claudeReply("m1", "hi"), ""),
				claudeLine("3", "", claudeUser("<command-name>/clear</command-name>"), ""),
				claudeLine("4", "3", claudeUser("other"), ""), claudeLine("5", "4", claudeReply("m2", "fine"), ""),
			},
			want: []string{"hello|hi", "other|fine"}, lost: []string{"", "client_command"},
		},
		"the session is compacted": {
			lines: []string{
				claudeLine("1", "", claudeUser("hello"), ""), claudeLine("2", "1", claudeReply("m1", "hi"), ""),
				`{"uuid":"3","parentUuid":null,"logicalParentUuid":"2","sessionId":"s","isSidechain":false,"type":"system","subtype":"compact_boundary"}`,
				claudeLine("4", "3", claudeUser("summary"), `,"isCompactSummary":true`), claudeLine("5", "4", claudeReply("m2", "fine"), ""),
			},
			want: []string{"hello|hi", "summary|fine"}, lost: []string{"", "context_replaced"},
		},
		"the program writes an error": {
			lines: []string{
				claudeLine("1", "", claudeUser("hello"), ""),
				claudeLine("2", "1", `{"id":"x","role":"assistant","model":"<synthetic>","content":[{"type":"text","text":"API Error"}]}`, ""),
				claudeLine("3", "2", claudeUser("again"), ""), claudeLine("4", "3", claudeReply("m1", "fine"), ""),
			},
			want: []string{"hello|again|fine"}, lost: []string{"synthetic_reply"},
		},
		"lines are written twice": {
			lines: []string{
				claudeLine("1", "", claudeUser("hello"), ""), claudeLine("2", "1", claudeReply("m1", "hi"), ""),
				claudeLine("1-again", "", claudeUser("hello"), ""), claudeLine("2-again", "1-again", claudeReply("m1", "hi"), ""),
				claudeLine("3", "2-again", claudeUser("next"), ""), claudeLine("4", "3", claudeReply("m2", "fine"), ""),
			},
			want: []string{"hello|hi|next|fine"}, lost: []string{"repeated_lines"},
		},
		"no line names its parent": {
			lines: []string{
				claudeLine("1", "", claudeUser("hello"), ""), claudeLine("2", "", claudeCall("m1", "c1"), ""), claudeLine("3", "", claudeResult("c1", "first"), ""),
				claudeLine("4", "", claudeReply("m2", "fine"), ""), claudeLine("5", "", claudeUser("next"), ""),
			},
			want: []string{"hello|f|first|fine", "next"}, lost: []string{"", ""},
		},
		"a result is hidden from the user": {
			lines: []string{
				claudeLine("1", "", claudeUser("hello"), ""), claudeLine("2", "1", claudeCall("m3", "c1"), ""),
				claudeLine("3", "2", claudeResult("c1", "first"), `,"isMeta":true`), claudeLine("4", "3", claudeReply("m2", "fine"), ""),
			},
			want: []string{"hello|f|first|fine"}, lost: []string{""},
		},
		"the program keeps its requests": {
			lines: []string{
				claudeLine("1", "", claudeUser("hello"), ""),
				`{"sessionId":"s","type":"api-request-blob","hash":"x","message":` + claudeUser("hello, with a reminder") + `}`,
				claudeLine("2", "1", claudeReply("m1", "hi"), ""),
			},
			want: []string{"hello|hi"}, lost: []string{"program_events"},
		},
		"two calls in one reply": {
			lines: []string{
				claudeLine("1", "", claudeUser("hello"), ""),
				claudeLine("2", "1", claudeCall("m1", "c1"), ""), claudeLine("3", "2", claudeCall("m1", "c2"), ""),
				claudeLine("4", "2", claudeResult("c1", "first"), ""), claudeLine("5", "3", claudeResult("c2", "second"), ""),
				claudeLine("6", "5", claudeReply("m2", "fine"), ""),
			},
			want: []string{"hello|f f|first|second|fine"}, lost: []string{""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, lost := conversationsOf(t, strings.Join(c.lines, "\n")+"\n")
			if fmt.Sprint(got) != fmt.Sprint(c.want) || fmt.Sprint(lost) != fmt.Sprint(c.lost) {
				t.Errorf("read %q, lost %q\nwant %q, lost %q", got, lost, c.want, c.lost)
			}
		})
	}
}

// conversationsOf returns the texts of each attempt that is read of a session, and what each names
// as lost.
func conversationsOf(t *testing.T, session string) (conversations, lost []string) {
	t.Helper()
	attempts, faults := readTextWith(t, "session.jsonl", session, named())
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	for _, trace := range attempts {
		row, _, err := convert.Write(trace, convert.OpenAI)
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, m := range gjson.GetBytes(row, "messages").Array() {
			text := m.Get("content").String()
			for _, name := range m.Get("tool_calls.#.function.name").Array() {
				text = strings.TrimSpace(text + " " + name.String())
			}
			texts = append(texts, text)
		}
		conversations = append(conversations, strings.Join(texts, "|"))
		lost = append(lost, strings.Join(trace.Lost, "|"))
	}
	return conversations, lost
}

package rollout

import (
	"fmt"
	"testing"

	"github.com/trajectory-arena/arena"
)

// counted is a reply with a call and the server's count of prompt tokens.
func counted(content string, prompt, completion int) []byte {
	return fmt.Appendf(nil, `{"id":"r","choices":[{"message":{"content":%q,"tool_calls":[{"id":"c","function":{"name":"find_product","arguments":"{\"q\":\"lamp %d\"}"}}]}}],"usage":{"prompt_tokens":%d,"completion_tokens":%d}}`, content, prompt, prompt, completion)
}

// TestPromptThatShrinks checks that a drop of the prompt's token count is reported: a server that
// truncates the conversation silently has one. A template that leaves out earlier reasoning has
// one, too, by at most that reasoning.
func TestPromptThatShrinks(t *testing.T) {
	t.Parallel()
	const think = "<think>Hm.</think>"
	for _, c := range []struct {
		name    string
		replies [][]byte
		want    Stop
	}{
		{"cut", [][]byte{counted("", 2400, 20), counted("", 4040, 20), counted("", 2051, 20)}, StopOverflow},
		{"cut, with reasoning", [][]byte{counted(think, 2400, 20), counted(think, 4040, 20), counted("", 2051, 20)}, StopOverflow},
		{"grows", [][]byte{counted("", 100, 20), counted("", 160, 20), counted("", 220, 20)}, StopMaxSteps},
		{"reasoning left out", [][]byte{counted(think, 100, 500), counted(think, 700, 500), counted("", 260, 20)}, StopMaxSteps},
		{"not counted", [][]byte{counted("", 100, 20), completion("", calls("find_product", `{"q":"a"}`)), counted("", 300, 20)}, StopMaxSteps},
	} {
		env := environment(t)
		env.MaxSteps = 3
		r, err := env.Play(t.Context(), Task{Problem: &arena.Problem{Query: "a lamp"}, ID: "p", RunID: "r"}, &parrot{c.replies}, func(Turn) error { return nil })
		if err != nil || r.Stop != c.want {
			t.Errorf("%s: stop %q, want %q: %v", c.name, r.Stop, c.want, err)
		}
	}
}

func TestUnparsedFormIsKept(t *testing.T) {
	t.Parallel()
	replies := [][]byte{completion("[TOOL_CALLS]find_product[ARGS]{\"q\":\"lamp\"}"), completion("", calls("terminate", "{}"))}
	r, err := environment(t).Play(t.Context(), Task{Problem: &arena.Problem{Query: "a lamp"}, ID: "p", RunID: "r"}, &parrot{replies}, func(Turn) error { return nil })
	if err != nil || r.UnparsedForm != "mistral" {
		t.Errorf("form %q, %v", r.UnparsedForm, err)
	}
}

package export

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/rows"
)

func messages(contents ...string) []rows.Msg {
	out := make([]rows.Msg, len(contents))
	for i, c := range contents {
		out[i] = rows.Msg{Role: []string{chat.Assistant, chat.User}[i%2], Content: c}
	}
	return out
}

const (
	find  = "<tool_call>\nfind mug\n</tool_call>"
	view  = "<tool_call>\nview 1\n</tool_call>"
	other = "<tool_call>\nview 2\n</tool_call>"
)

func TestFindForkReturnsFirstOtherAction(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		chosen, rejected []rows.Msg
		fork             int
		reason           string
	}{
		"at once":                {messages(find), messages(view), 0, ""},
		"after a common history": {messages("<think>\na\n</think>\n\n"+find, "[1]", view, "[]", "bye"), messages("<think>\nb\n</think>\n\n"+find, "[1]", other, "[]"), 2, ""},
		"in words alone":         {messages(find, "[1]", "take 1"), messages(find, "[1]", "take 2"), 2, ""},
		"a call against words":   {messages(find, "[1]", view), messages(find, "[1]", "take 2"), 2, ""},
		"other results":          {messages(find, "[1]", view), messages(find, "[2]", other), 0, "no_fork"},
		"one is longer":          {messages(find, "[1]", view), messages(find, "[1]"), 0, "no_fork"},
		"equal":                  {messages(find, "[1]", view), messages(find, "[1]", view), 0, "no_fork"},
		"a repeated search":      {messages(find, "[1]", find), messages(find, "[1]", view), 0, "fork_repeats_call"},
		"nothing":                {nil, nil, 0, "no_fork"},
	} {
		p := rows.Pref{Prompt: []rows.Msg{{Role: chat.User, Content: "buy"}}, Chosen: tt.chosen, Rejected: tt.rejected, Reason: "outcome", ChosenSession: "a", RejectedSession: "b"}
		pairs, err := convertPrefTurns(&row{pref: &p})
		if tt.reason != "" {
			var unfit *chat.Unfit
			if !errors.As(err, &unfit) || unfit.Reason != tt.reason {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := p
		want.Prompt = append(want.Prompt[:1:1], tt.chosen[:tt.fork]...)
		want.Chosen = tt.chosen[tt.fork : tt.fork+1]
		want.Rejected = tt.rejected[tt.fork : tt.fork+1]
		want.ChosenTokens, want.RejectedTokens = turnTokens(want.Chosen), turnTokens(want.Rejected)
		if diff := cmp.Diff([]rows.Pref{want}, pairs); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		labelled, err := convertKTOTurns(&row{pref: &p})
		if err != nil || len(labelled) != 2 || !labelled[0].Label || labelled[1].Label || labelled[1].SessionID != "b" || len(labelled[1].Completion) != 1 {
			t.Errorf("%s: %+v, %v", name, labelled, err)
		}
	}
}

// TestConversionsDoNotChangeThePair checks that the rows of a pair, which the profiles of an export
// share, are not changed.
func TestConversionsDoNotChangeThePair(t *testing.T) {
	t.Parallel()
	prompt := make([]rows.Msg, 1, 8)
	p := rows.Pref{Prompt: prompt, Chosen: messages(find, "[1]", view), Rejected: messages(find, "[1]", other)}
	if _, err := convertPrefTurns(&row{pref: &p}); err != nil {
		t.Fatal(err)
	}
	if prompt[:2][1] != (rows.Msg{}) || len(p.Chosen) != 3 {
		t.Error("the pair was written over")
	}
}

// TestLoadUsesPathsInTheFolder checks that the loading code of each profile has no placeholder
// CORPUS, which it would not define.
func TestLoadUsesPathsInTheFolder(t *testing.T) {
	t.Parallel()
	for _, p := range All() {
		if strings.Contains(p.Load, "CORPUS") {
			t.Errorf("%s: %s", p.Name, p.Load)
		}
	}
}

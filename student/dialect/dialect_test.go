package dialect

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/internal/python"
)

// turnText formats a turn as one line: native or text, thinking, text, calls.
func turnText(t Turn) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%t think=%q text=%q", t.Native, t.Think, t.Text)
	for _, c := range t.Calls {
		if c.Malformed != "" {
			fmt.Fprintf(&b, " !%s", c.Malformed)
			continue
		}
		fmt.Fprintf(&b, " %s%s", c.Name, python.Dumps(c.Arguments))
	}
	return b.String()
}

func TestRead(t *testing.T) {
	t.Parallel()
	native := func(name, arguments string) model.Reply {
		return model.Reply{Content: "Let me look.", Reasoning: "Hm.", Calls: []model.Call{{ID: "c1", Function: model.Function{Name: name, Arguments: arguments}}}}
	}
	text := func(s string) model.Reply { return model.Reply{Content: s} }
	oro := `<tool_call>[{"name":"a","parameters":{"x":1}},{"name":"b","parameters":{}}]</tool_call>`
	hermes := `<tool_call>{"name":"a","arguments":{"x":1}}</tool_call>`
	cases := []struct {
		name  string
		d     Dialect
		reply model.Reply
		want  string
	}{
		{"native", Auto, native("a", `{"x": 1}`), `true think="Hm." text="Let me look." a{"x": 1}`},
		{"native, unreadable", Native, native("a", `{"x": `), `true think="Hm." text="Let me look." !Expecting value: line 1 column 7 (char 6)`},
		{"native, no object", Auto, native("a", `[1]`), `true think="Hm." text="Let me look." !arguments must be a JSON object, not list`},
		{"native, empty", Auto, native("a", ``), `true think="Hm." text="Let me look." a{}`},
		{"native, null", Auto, native("a", `null`), `true think="Hm." text="Let me look." a{}`},
		{"oro, no arguments", Auto, text(`<tool_call>[{"name":"a"}]</tool_call>`), `false think="" text="" a{}`},
		{"hermes, empty arguments", Auto, text(`<tool_call>{"name":"a","arguments":""}</tool_call>`), `false think="" text="" a{}`},
		{"arguments next to the name", Auto, text(`<tool_call>{"name":"a","q":1}</tool_call>`), `false think="" text="" !a call needs parameters or arguments`},
		{"native unwanted", Oro, native("a", `{}`), `false think="Hm." text="Let me look."`},
		{"oro", Auto, text("<think>T</think>\n" + oro + "<response>Hi</response>"), `false think="T" text="Hi" a{"x": 1} b{}`},
		{"oro fixed", Oro, text(oro), `false think="" text="" a{"x": 1} b{}`},
		{"oro where hermes is fixed", Hermes, text(oro), `false think="" text="" !a tool_call holds one call, not a list`},
		{"hermes twice", Auto, text(hermes + "\n" + hermes), `false think="" text="" a{"x": 1} a{"x": 1}`},
		{"hermes where oro is fixed", Oro, text(hermes), `false think="" text="" !a call needs parameters`},
		{"text where native is fixed", Native, text(oro), fmt.Sprintf(`false think="" text=%q`, oro)},
		{"arguments as text", Auto, text(`<tool_call>{"name":"a","arguments":"{}"}</tool_call>`), `false think="" text="" !arguments must be a JSON object, not str`},
		{"no name", Auto, text(`<tool_call>{"arguments":{}}</tool_call>`), `false think="" text="" !a call needs a name`},
		{"broken", Auto, text(`<tool_call>{name: a}</tool_call>`), `false think="" text="" !Expecting property name enclosed in double quotes: line 1 column 2 (char 1)`},
		{"trailing comma", Auto, text(`<tool_call>[{"name":"a","parameters":{}},]</tool_call>`), `false think="" text="" !Expecting value: line 1 column 31 (char 30)`},
		{"unclosed", Auto, text(`<tool_call>{"name":"a"`), `false think="" text="" !the tool_call tag is never closed`},
		{"empty list", Auto, text(`<tool_call>[]</tool_call>`), `false think="" text="" !a tool_call holds one call, not a list`},
		{"a call in a thought", Auto, text("<think>" + oro + "</think>so"), fmt.Sprintf(`false think=%q text="so"`, oro)},
		{"thought opened by the template", Auto, text("Hm.</think>" + hermes), `false think="Hm." text="" a{"x": 1}`},
		{"thought never closed", Auto, text("<think>Hm. " + hermes), fmt.Sprintf(`false think=%q text=""`, "Hm. "+hermes)},
		{"a call in the second thought", Auto, text("<think>T</think>One.<think>U " + oro + "</think>Two."), fmt.Sprintf(`false think=%q text="One.Two."`, "T\n\nU "+oro)},
		{"the second thought never closed", Auto, text(hermes + "<think>Hm. " + oro), fmt.Sprintf(`false think=%q text="" a{"x": 1}`, "Hm. "+oro)},
		{"prose", Auto, text("The Action: word in a line."), `false think="" text="The Action: word in a line."`},
		{"nothing", Auto, text(""), `false think="" text=""`},
	}
	for _, c := range cases {
		if got := turnText(Read(c.reply, c.d)); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// FuzzReadNeverBreaks checks that any reply can be read, and that the arguments of every call that
// is not malformed are an object.
func FuzzReadNeverBreaks(f *testing.F) {
	for _, s := range []string{`<tool_call>[{"name":"a","parameters":{}}]</tool_call>`, "Action: a\nAction Input: {}", "<think>x", "</think><tool_call>{}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, d := range All() {
			for _, c := range Read(model.Reply{Content: s}, d).Calls {
				if c.Malformed == "" && c.Arguments.Kind != python.Dict {
					t.Fatalf("%q: a call without an object", s)
				}
			}
		}
	})
}

// TestAReplyOfTooManyCallsIsMalformed checks native calls and calls in text.
func TestAReplyOfTooManyCallsIsMalformed(t *testing.T) {
	t.Parallel()
	const one = `<tool_call>{"name":"terminate","arguments":{}}</tool_call>`
	native := model.Call{ID: "c", Type: "function", Function: model.Function{Name: "terminate", Arguments: "{}"}}
	for n, want := range map[int]int{256: 256, 257: 1} {
		for _, r := range []model.Reply{{Calls: slices.Repeat([]model.Call{native}, n)}, {Content: strings.Repeat(one, n)}} {
			turn := Read(r, Auto)
			if len(turn.Calls) != want || (turn.Calls[0].Malformed != "") != (want == 1) || turn.Native != (want > 1 && len(r.Calls) > 0) {
				t.Errorf("%d calls: read as %d, the first malformed by %q", n, len(turn.Calls), turn.Calls[0].Malformed)
			}
		}
	}
}

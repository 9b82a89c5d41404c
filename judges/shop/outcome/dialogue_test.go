package outcome_test

import (
	"strings"
	"testing"
	"time"
)

// TestFormat scores one step of an unsolved problem. want is the format score, or the error that
// leaves the attempt without one.
func TestFormat(t *testing.T) {
	t.Parallel()
	message := func(m string) string { return `{"completion":{"message":` + m + `},` + stamp + `}` }
	calls := func(c string) string { return message(`{"think":"t","tool_call":` + c + `}`) }
	texts := func(think, response string) string {
		return message(`{"think":"` + think + `","response":"` + response + `"}`)
	}
	for name, c := range map[string]struct{ step, want string }{
		"think and call":               {turnOf(end), "1"},
		"think and response":           {texts("t", "r"), "1"},
		"think alone":                  {texts("t", ""), "0"},
		"no think":                     {texts("", "r"), "0"},
		"no call in the list":          {calls(`[]`), "0"},
		"a blank think is a think":     {texts(" ", "r"), "1"},
		"a tag in the think":           {texts("a <response> b", "r"), "0"},
		"a closing tag in the think":   {texts("a </tool_call> b", "r"), "0"},
		"a whole part in the response": {texts("t", "<tool_call>[]</tool_call>"), "0"},
		"a think that repeats itself":  {texts("<think>t</think>", "r"), "0"},
		"another tag is text":          {texts("<obs> <b> think>", "</ think>"), "1"},
		"an opening tag in a call":     {calls(`[{"name":"f","parameters":{"q":"<think>"}}]`), "0"},
		"an opening tag in a result":   {calls(`[{"name":"f","parameters":{},"result":{"<response>":1}}]`), "0"},
		"a closing tag in a call is escaped by the rendering": {calls(`[{"name":"f","parameters":{"q":"</think>"}}]`), "1"},
		"a tag written in escapes":                            {calls(`[{"name":"f","parameters":{"q":"\u003cthin\u006b>"}}]`), "0"},
		"escapes without a tag":                               {calls(`[{"name":"f","parameters":{"q":"\u003cthin\u006b"}}]`), "1"},
		"a call without parameters":                           {calls(`[{"name":"f"}]`), "0"},
		"parameters that are JSON in a string":                {calls(`[{"name":"f","parameters":"{}"}]`), "0"},
		"a name that is no string":                            {calls(`[{"name":1,"parameters":{}}]`), "0"},
		"an empty name is a string":                           {calls(`[{"name":"","parameters":{}}]`), "1"},
		"no time stamp":                                       {strings.Replace(turnOf(end), `"timestamp":5`, ``, 1), "0.5"},
		"no extra_info":                                       {strings.Replace(turnOf(end), `,`+stamp, ``, 1), "0.5"},
		"a time stamp in a string":                            {strings.Replace(turnOf(end), `5}`, `"5"}`, 1), "0.5"},
		"a time stamp of zero":                                {strings.Replace(turnOf(end), `5}`, `0}`, 1), "0.5"},
		"a time stamp before 1970":                            {strings.Replace(turnOf(end), `5}`, `-5}`, 1), "0.5"},
		"a time stamp of true is 1":                           {strings.Replace(turnOf(end), `5}`, `true}`, 1), "1"},
		"a time stamp of false is 0":                          {strings.Replace(turnOf(end), `5}`, `false}`, 1), "0.5"},
		"extra_info of null cannot be read":                   {strings.Replace(turnOf(end), stamp, `"extra_info":null`, 1), "0"},
		"extra_info in a list cannot be read":                 {strings.Replace(turnOf(end), stamp, `"extra_info":[5]`, 1), "0"},
		"a message of null is empty":                          {message(`null`), "0"},
		"an empty message":                                    {message(`{}`), "0"},
		"unknown fields do not matter":                        {message(`{"think":"t","response":"r","mood":["<think>"]}`), "1"},
		"a think of another type":                             {message(`{"think":5,"response":"r"}`), `step 1: message field "think" is not a string`},
		"a response of null":                                  {message(`{"think":"t","response":null}`), `step 1: message field "response" is not a string`},
		"calls of null":                                       {calls(`null`), `step 1: message field "tool_call" is not a list`},
		"calls in an object":                                  {calls(`{}`), `step 1: message field "tool_call" is not a list`},
		"a call of null":                                      {calls(`[null]`), `step 1: message field "tool_call" holds an entry that is no object`},
		"observations of another type":                        {message(`{"think":"t","obs":"o"}`), `step 1: message field "obs" is not a list`},
		"a last step without a completion":                    {`{` + stamp + `}`, `last step: it has no completion.message`},
		"a last step that is null":                            {`null`, `last step: it has no completion.message`},
		"a last message of words":                             {message(`"words"`), "0"},
		"a last message of words on a tool_call":              {message(`"a tool_call b"`), `last step: its message is no object`},
		"a last message of a number":                          {message(`7`), `last step: cannot look into a number`},
		"a last call without a name":                          {calls(`[{"parameters":{}}]`), `last step: a tool call has no name`},
	} {
		got := scoreOf(t, `{"query":"q","reward":{"product_id":"7"}}`, bell, c.step)
		if _, format, ok := strings.Cut(got, `"format":`); ok {
			got = strings.TrimSuffix(format, "}")
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestALongNumberIsReadInTime checks that a time stamp of millions of digits, which Python refuses
// to read, takes time linear in its length.
func TestALongNumberIsReadInTime(t *testing.T) {
	t.Parallel()
	done := make(chan string)
	go func() {
		long := strings.Replace(turnOf(end), `5}`, strings.Repeat("7", 1<<23)+`}`, 1)
		done <- scoreOf(t, `{"query":"q","reward":{"product_id":"7"}}`, bell, long)
	}()
	select {
	case got := <-done:
		if want := `{"length":1,"format":1}`; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	case <-time.After(time.Minute):
		t.Error("not read within a minute")
	}
}

// TestDialogues is about several steps: what counts of them, and which
// recommendation is the last.
func TestDialogues(t *testing.T) {
	t.Parallel()
	const gold = `"product":1,"gt":1,"rule":1,"title":0,"price":0,"service":0,"sku & attrs":0}`
	unreadable := `{"completion":5}`
	plain := turnOf(`{"name":"f","parameters":{}}`)
	for name, c := range map[string]struct {
		steps []string
		want  string
	}{
		"no step":                               {nil, `{"length":0,"format":0}`},
		"ended in four steps":                   {[]string{plain, plain, turnOf(recommend("7")), turnOf(end)}, `{"length":0.25,"format":1,` + gold},
		"ended, but not last":                   {[]string{turnOf(end), turnOf(recommend("7"))}, `{"length":0,"format":1,` + gold},
		"ended among other calls":               {[]string{turnOf(recommend("7"), end, recommend("7"))}, `{"length":1,"format":1,` + gold},
		"an unreadable step adds nothing":       {[]string{unreadable, turnOf(recommend("7"), end)}, `{"length":0.5,"format":0.5,` + gold},
		"the last recommendation counts":        {[]string{turnOf(recommend("8")), turnOf(recommend("7"))}, `{"length":0,"format":1,` + gold},
		"also when it is worse":                 {[]string{turnOf(recommend("7")), turnOf(recommend("404"))}, `{"length":0,"format":1}`},
		"also when it names nothing":            {[]string{turnOf(recommend("7")), turnOf(`{"name":"recommend_product","parameters":{}}`)}, `{"length":0,"format":1}`},
		"also when it is no string":             {[]string{turnOf(recommend("7")), turnOf(`{"name":"recommend_product","parameters":{"product_ids":["7"]}}`)}, `{"length":0,"format":1}`},
		"but not when it cannot be read":        {[]string{turnOf(recommend("7")), turnOf(`{"name":"recommend_product"}`), plain}, `{"length":0,"format":0.6666666666666666,` + gold},
		"which hides the rest of its step":      {[]string{turnOf(`{"name":"recommend_product"}`, recommend("7")), plain}, `{"length":0,"format":0.5}`},
		"as does a call without a name":         {[]string{turnOf(`{"parameters":{}}`, recommend("7")), plain}, `{"length":0,"format":0.5}`},
		"ids are stripped as Python strips":     {[]string{turnOf(recommend(` \u001f\u00a0,, 7\u2028 ,8`))}, `{"length":0,"format":1,` + gold},
		"the first id of a product task counts": {[]string{turnOf(recommend("404,7"))}, `{"length":0,"format":1}`},
	} {
		if got := scoreOf(t, `{"query":"q","reward":{"product_id":"7"}}`, bell, c.steps...); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, c.want)
		}
	}
}

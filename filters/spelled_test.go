package filters_test

import (
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters"
)

// foreignDialects write a search or an opening in forms that are no
// dialect of calls.Mended; NAME and the argument VALUE are filled in.
var foreignDialects = map[string]string{
	"python":                     "# next\nhits = NAME(KEY='VALUE', page=1)\nprint(hits)",
	"python without key":         "```python\nNAME(\"VALUE\")\n```",
	"list of functions":          "<think>so</think>[NAME(KEY=\"VALUE\")]",
	"labels in another tongue":   "思考：好\n行动：NAME\n参数：{\"KEY\": \"VALUE\"}",
	"stars around labels":        "**Aktion:** `NAME`\n**Eingabe:** {\"KEY\": \"VALUE\"}",
	"keys and values in tags":    "<tool_call>NAME\n<arg_key>KEY</arg_key>\n<arg_value>VALUE</arg_value>\n</tool_call>",
	"parameters in tags":         "<tool_call>\n<function=NAME>\n<parameter=KEY>\nVALUE\n</parameter>\n</function>\n</tool_call>",
	"attributes":                 "<invoke name=\"NAME\"><parameter name=\"KEY\">VALUE</parameter></invoke>",
	"tool as tag":                "<NAME><KEY>VALUE</KEY></NAME>",
	"special tokens":             "<|tool_call_begin|>functions.NAME:0<|tool_call_argument_begin|>{\"KEY\":\"VALUE\"}<|tool_call_end|>",
	"channel":                    "<|channel|>commentary to=functions.NAME <|constrain|>json<|message|>{\"KEY\":\"VALUE\"}<|call|>",
	"fence after a token":        "<｜tool▁sep｜>NAME\n```json\n{\"KEY\":\"VALUE\"}\n```<｜tool▁call▁end｜>",
	"code with variables":        "for x in wanted:\n    hits += NAME(KEY=x)",
	"code that joins":            "NAME(KEY=\",\".join(x[\"KEY\"] for x in wanted))",
	"yaml":                       "tool: NAME\nKEY: VALUE",
	"thinking, then ReAct":       "<think>so</think>\nAction: NAME\nAction Input: {\"KEY\": \"VALUE\"}",
	"other keys":                 "{\"thought\": \"so\", \"tool\": \"NAME\", \"args\": {\"KEY\": \"VALUE\"}}",
	"arguments next to the name": "{\"action\": \"NAME\", \"KEY\": \"VALUE\", \"thought\": \"so\"}",
}

// TestForeignDialects checks that a reply names a call by the tool's name and the values that are
// sent, with any characters between them.
func TestForeignDialects(t *testing.T) {
	t.Parallel()
	for dialect, form := range foreignDialects {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			r := &recorder{w: newWorld(7), limit: 2000, now: start}
			r.task = r.w.task(1)
			spelledOut(r, form)
			links := linksOf(t, r.trace("foreign"))
			read := "named"
			if strings.HasPrefix(dialect, "code") {
				read = "undecided" // only running it shows its arguments
			}
			if links[read] != 2 {
				t.Errorf("%v of 2 dispatches are %s", links[read], read)
			}
		})
	}
}

// TestProseNamesNoCall holds that a text which mentions a tool and products names no call.
func TestProseNamesNoCall(t *testing.T) {
	t.Parallel()
	r := &recorder{w: newWorld(7), limit: 2000, now: start}
	r.task = r.w.task(1)
	spelledOut(r, "I would use NAME here and look at VALUE, I think. The KEY matters.")
	if n := linksOf(t, r.trace("prose"))["named"]; n != 0 {
		t.Errorf("%v dispatches are named", n)
	}
}

// spelledOut plays a search and an opening whose calls have the given form.
func spelledOut(r *recorder, form string) {
	search := find("linen goblet rustic")
	delete(search.args, "page")
	products := ids(find0(r, search))
	for _, c := range []call{search, view(products[:2]...)} {
		for key, value := range c.args {
			r.say(strings.NewReplacer("NAME", c.name, "KEY", key, "VALUE", value.(string)).Replace(form))
		}
		r.run("", []call{c})
	}
}

// linksOf counts the dispatches of an attempt by their links.
func linksOf(t *testing.T, tr *arena.Trace) map[string]float64 {
	t.Helper()
	f, err := filters.New(filters.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	d := filters.Normalise(tr)
	s, _ := f.Check(tr, &d)
	links := map[string]float64{}
	for _, feature := range s.Features {
		links[feature.Name] = feature.Value
	}
	return links
}

// FuzzForeignDialectsNameWhatWasSent holds for any text around the call that a reply names at most
// the requests that were sent.
func FuzzForeignDialectsNameWhatWasSent(f *testing.F) {
	for _, form := range foreignDialects {
		f.Add(form)
	}
	f.Add("NAME(KEY=<<<<KEY=<KEY=\"KEY='\\")
	f.Add("NAME<KEY<KEY<KEY")
	f.Fuzz(func(t *testing.T, form string) {
		r := &recorder{w: newWorld(7), limit: 2000, now: start}
		r.task = r.w.task(1)
		spelledOut(r, form)
		links := linksOf(t, r.trace("foreign"))
		if n := links["named"] + links["named_loosely"] + links["derived"]; n > 2 {
			t.Errorf("%v of 2 dispatches are named by %q", n, form)
		}
	})
}

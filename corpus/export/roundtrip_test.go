package export_test

import (
	"cmp"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/export"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/internal/longtest"
)

// talkOf returns the talk that every profile must contain for a dialogue.
func talkOf(t *testing.T, request string, d *arena.Dialogue) Talk {
	t.Helper()
	valid := func(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
	out := Talk{System: harness().System, Turns: []Turn{{User: valid(request)}}}
	for _, turn := range d.Turns {
		reply := Turn{Think: valid(turn.Think), Text: valid(turn.Text)}
		for _, c := range turn.Calls {
			result := string(c.Result)
			if c.Result.Kind() == arena.String {
				ok(t, json.Unmarshal([]byte(c.Result), &result))
			}
			reply.Calls = append(reply.Calls, Call{Name: c.Name, Arguments: canonical(t, valid(string(c.Arguments))), Result: valid(result)})
		}
		out.Turns = append(out.Turns, reply)
	}
	return out
}

// upToEach returns the talk that ends at each turn of the model, without the thinking of earlier
// turns and without later results: the rows of sft_turns.
func upToEach(full Talk) (out []Talk) {
	for i, turn := range full.Turns {
		if turn.User != "" {
			continue
		}
		part := Talk{System: full.System, Turns: slices.Clone(full.Turns[:i+1])}
		for k := range part.Turns[:i] {
			part.Turns[k].Think = ""
		}
		last := &part.Turns[i]
		last.Calls = slices.Clone(last.Calls)
		for k := range last.Calls {
			last.Calls[k].Result = ""
		}
		out = append(out, part)
	}
	return out
}

// toolsIn returns what each row of a file shows of the tools, as text; nil if its profile shows none.
func toolsIn(t *testing.T, f *corpus.FileEntry, path string) (tools []string) {
	t.Helper()
	first := func(ms []rows.Msg) { tools = append(tools, ms[0].Content) }
	inLines := func(key string) {
		for _, line := range readLines(t, path) {
			tools = append(tools, line.Get(key).Raw)
		}
	}
	switch {
	case f.Profile == corpus.ProfileHFJSON:
		for _, r := range readRows[rows.SFT](t, path) {
			tools = append(tools, strings.Join(r.Tools, ","))
		}
	case f.Profile == "sft_weighted":
		for _, r := range readRows[rows.Weighted](t, path) {
			tools = append(tools, strings.Join(r.Tools, ","))
		}
	case f.Profile == "text":
		for _, r := range readRows[rows.Text](t, path) {
			first(r.Messages)
		}
	case f.Profile == "verl-sft":
		for _, r := range readRows[rows.VerlSFT](t, path) {
			first(r.Messages)
		}
	case f.Profile == "sharegpt":
		for _, r := range readRows[rows.ShareGPT](t, path) {
			tools = append(tools, r.Tools)
		}
	case f.Profile == "prompts":
		for _, r := range readRows[rows.Prompts](t, path) {
			first(r.Prompt)
		}
	case f.Profile == corpus.ProfileVerlRL:
		for _, r := range readRows[rows.RL](t, path) {
			tools = append(tools, r.Tools)
		}
	case f.Profile == corpus.ProfilePref:
		for _, r := range readRows[rows.Pref](t, path) {
			first(r.Prompt)
		}
	case f.Profile == corpus.ProfileKTO:
		for _, r := range readRows[rows.KTO](t, path) {
			first(r.Prompt)
		}
	case f.Profile == "axes":
		for _, r := range readRows[rows.Axes](t, path) {
			first(r.Prompt)
		}
	case strings.HasSuffix(f.Path, ".arrow"):
		for _, messages := range arrowRows(t, path) {
			first(messages)
		}
	case f.Profile == "openai-jsonl":
		inLines("tools")
	case f.Path == "atif/train.jsonl":
		inLines("agent.tool_definitions")
	case f.Path == "env/train.jsonl":
		inLines("responses_create_params.tools")
	}
	return tools
}

// withoutTools maps each profile whose files have no definitions of tools to the reason.
var withoutTools = map[string]string{
	"sts": "a session for a viewer, which shows the messages and has no place for definitions",
}

// TestEveryProfileShowsTheSameTools holds the definitions in the rows of every profile, byte for
// byte, against those of env/tools.json, which an environment shows. The format of env/train.jsonl
// has the parameters of a definition alone.
func TestEveryProfileShowsTheSameTools(t *testing.T) {
	t.Parallel()
	dir := exported(t, corpusOf(t, []arena.Dialogue{conversation("{}", `"x"`), conversation("{}", `"y"`)}), 2)
	tools := readLines(t, filepath.Join(dir, "env", "tools.json"))[0]
	if tools.Get("#").Int() != 1 || tools.Get("0").Raw != string(harness().Tools[0]) {
		t.Fatalf("env/tools.json is %s", tools.Raw)
	}
	settings, err := os.ReadFile(filepath.Join(dir, "env", "verl_tools.yaml"))
	if want := "tools:\n- class_name: verl_env.ShopTool\n  config:\n    type: native\n    name: find\n"; err != nil || string(settings) != want {
		t.Errorf("env/verl_tools.yaml, %v, has %s", err, settings)
	}
	m, err := corpus.ReadManifest(corpus.Disk{}, dir)
	ok(t, err)
	seen := map[string]bool{}
	for _, f := range m.Files {
		for i, tool := range toolsIn(t, &f, filepath.Join(dir, filepath.FromSlash(f.Path))) {
			want := tools.Get("0").Raw
			if f.Profile == "env" {
				want = tools.Get("0.function.parameters").Raw
			}
			if !strings.Contains(tool, want) {
				t.Errorf("%s, row %d shows %.300s", f.Path, i, tool)
			}
			seen[cmp.Or(f.Config, strings.Split(f.Path, "/")[0])] = true
		}
	}
	for _, p := range export.All() {
		if seen[p.Name] == (withoutTools[p.Name] != "") {
			t.Errorf("%s: tools read: %v, expected none because: %q", p.Name, seen[p.Name], withoutTools[p.Name])
		}
	}
}

// showStrangeTools prints the arguments of the methods of TRL, then the form in which verl shows
// each tool. Where verl is not installed, substitutes treat a definition as its classes do.
const showStrangeTools = `
import inspect, json, sys, types

class Stand:
    def __init__(self, **fields):
        for name, value in fields.items():
            setattr(self, name, types.SimpleNamespace(**value) if name == "function" else value)

class Tool:
    def __init__(self, config, tool_schema):
        self.config = config
        self.tool_schema = tool_schema or self.get_openai_tool_schema()

try:
    import verl.tools.schemas
except ImportError:
    for name in ("verl", "verl.experimental", "verl.experimental.agent_loop", "verl.experimental.agent_loop.tool_agent_loop", "verl.tools",
                 "verl.tools.base_tool", "verl.tools.schemas"):
        sys.modules[name] = types.ModuleType(name)
    sys.modules["verl.experimental.agent_loop.tool_agent_loop"].__dict__.update(ToolAgentLoop=object, register=lambda name: lambda loop: loop)
    sys.modules["verl.tools.base_tool"].BaseTool = Tool
    sys.modules["verl.tools.schemas"].__dict__.update(OpenAIFunctionToolSchema=Stand, ToolResponse=None)
sys.path.insert(0, sys.argv[1])
from trl_env import ShopEnv
from verl_env import ShopTool

with open(sys.argv[1] + "/tools.json") as file:
    tools = json.load(file)
for tool in tools:
    print(inspect.signature(getattr(ShopEnv, tool["function"]["name"])))
    shown = ShopTool({"name": tool["function"]["name"]}, None).tool_schema
    print(json.dumps(shown.model_dump(exclude_unset=True)) == json.dumps(tool), shown.function.parameters)
ShopEnv._call = lambda self, tool, arguments: (tool, arguments)
given = dict.fromkeys(tools[-1]["function"]["parameters"]["properties"], 1)
print(getattr(ShopEnv(), tools[-1]["function"]["name"])(**given) == (tools[-1]["function"]["name"], given), len(given))
`

// TestEnvironmentsTakeAnyDefinition shows definitions as servers of MCP write them, which trainers
// refuse or cut, by the classes for TRL and verl.
func TestEnvironmentsTakeAnyDefinition(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	env := filepath.Join(exported(t, corpusOf(t, []arena.Dialogue{conversation("{}", `"x"`)}), 1), "env")
	oddTools, err := os.ReadFile("testdata/strange_tools.json")
	ok(t, err)
	ok(t, os.WriteFile(filepath.Join(env, "tools.json"), oddTools, 0o600))
	output, err := exec.CommandContext(t.Context(), python, "-c", showStrangeTools, env).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v", output, err)
	}
	const want = `(self, /)
True {'type': 'object', 'properties': {}, 'required': []}
(self, /)
True {'type': 'object', 'properties': {}, 'required': []}
(self, /, *, any: str, none: Optional[str] = None, text: Optional[str] = None, flag: Optional[bool] = None, page: Optional[int] = 1, ` +
		`list: Optional[list] = None, either: Optional[float] = None, both: Optional[str] = None, name: Optional[str] = None, ` +
		`tool: Optional[str] = None, given: Optional[str] = None)
True {'type': 'object', 'properties': {'any': {'type': 'string'}, 'none': {'type': 'string'}, 'text': {'type': 'string'}, 'flag': {'type': 'boolean'}, ` +
		`'page': {'type': 'integer'}, 'list': {'type': 'array'}, 'either': {'type': 'number'}, 'both': {'type': 'string'}, 'of-room': {'type': 'string'}, ` +
		`'class': {'type': 'string'}, 'self': {'type': 'string'}, 'name': {'type': 'string'}, 'tool': {'type': 'string'}, ` +
		`'given': {'type': 'string'}}, 'required': ['any']}
True 14
`
	if diff := gocmp.Diff(want, string(output)); diff != "" {
		t.Error(diff)
	}
}

// TestMissingProgramsHaveInstallHints runs each program that needs a package in Python without any:
// it names the package, and prints no traceback.
func TestMissingProgramsHaveInstallHints(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	programs, err := filepath.Glob("../../recipes/*.py")
	ok(t, err)
	needing := []string{"../../deploy/ray_build.py", "assets/preflight.py"}
	for _, program := range programs {
		text, err := os.ReadFile(program)
		ok(t, err)
		if strings.Contains(string(text), "\nimport installed ") {
			needing = append(needing, program)
		}
	}
	if len(needing) < 10 {
		t.Errorf("only %v need a package", needing)
	}
	for _, program := range needing {
		output, err := exec.CommandContext(t.Context(), python, "-S", program).CombinedOutput()
		if err == nil || strings.Contains(string(output), "Traceback") || !strings.Contains(string(output), " -m pip install ") {
			t.Errorf("%s: %v, %s", program, err, output)
		}
	}
}

// TestAttemptProfilesRoundTrip exports dialogues made of difficult values in every profile that
// holds attempts, and reads them back by the rules of that profile's readers.
func TestAttemptProfilesRoundTrip(t *testing.T) {
	t.Parallel()
	r := nastyRows()
	got := readExport(t, exported(t, r.corpus(t), 4))
	var full, turns, shared []Talk
	for i, d := range r.dialogues {
		w := talkOf(t, r.requests[i], &d)
		full = append(full, w)
		turns = append(turns, upToEach(w)...)
		if fitsShareGPT(w) {
			shared = append(shared, inThinking(w))
		}
	}
	for profile, want := range map[string][]Talk{
		"hf-json": full, "text": full, "verl-sft": full, "arrow": full, "atif": full, "openai-jsonl": full, "openai-jsonl-zst": full,
		"sharegpt": shared, "sft_turns": turns,
	} {
		compare(t, profile, want, got[profile])
	}
	// sessions are named by a hash, so that their order has no meaning
	byText := func(a, b Talk) int { return strings.Compare(a.Turns[0].User, b.Turns[0].User) }
	compare(t, "sts", slices.SortedFunc(slices.Values(full), byText), slices.SortedFunc(slices.Values(got["sts"]), byText))
}

func compare(t *testing.T, profile string, want, got []Talk) {
	t.Helper()
	if len(want) != len(got) {
		t.Errorf("%s: got %d rows, want %d", profile, len(got), len(want))
		return
	}
	for i := range want {
		if diff := gocmp.Diff(want[i], got[i]); diff != "" {
			t.Errorf("%s, row %d: %.600s", profile, i, diff)
		}
	}
}

// nastyRows has each value in every place, and a seeded mixture of them, which without
// the tag long is half as large.
func nastyRows() *requested {
	var r requested
	dice := rand.New(rand.NewPCG(7, 7))
	any := func() string { return nasty[dice.IntN(len(nasty))] }
	for i := range longtest.Pick(4, 2) * len(nasty) {
		result := nasty[i%len(nasty)]
		second := any()
		third := any()
		reply := text(any())
		if i >= len(nasty) {
			result = any()
		}
		call := func(id, result string) arena.Call {
			return arena.Call{ID: id, Name: "find", Arguments: arena.Raw(`{"any":` + valid(any()) + `,"":` + valid(any()) + `}`), Result: arena.Raw(result)}
		}
		r.add("request "+string(rune('A'+i))+reply, arena.Dialogue{Turns: []arena.Turn{
			{Think: "think " + reply, Calls: []arena.Call{call("a", result)}},
			{Think: "two", Text: "aloud " + reply, Calls: []arena.Call{call("b", `"b"`), call("c", plain(second)), call("d", plain(third))}},
			{Text: "done " + reply},
		}})
	}
	large := arena.Raw(`"` + strings.Repeat("long \u2028", longtest.Pick(10<<20, 2<<20)/8) + `"`)
	r.add("megabytes", arena.Dialogue{Turns: []arena.Turn{{Calls: []arena.Call{{ID: "a", Name: "find", Arguments: `{}`, Result: large}}}, {Text: "done"}}})
	return &r
}

// plain replaces a value that contains the tag which ends a result: in a list of results, no reader
// of the text form could separate such values.
func plain(value string) string {
	if strings.Contains(value, "tool_response") {
		return `"plain"`
	}
	return value
}

// valid returns a value as a call can hold it: arguments that are not valid UTF-8 are read with
// U+FFFD before the call is built.
func valid(value string) string { return strings.ToValidUTF8(value, "\uFFFD") }

// text is a value as words, without the tag that a model's own text may not
// hold.
func text(value string) string {
	value = plain(value)
	if s := gjson.Parse(value); s.Type == gjson.String {
		return "x" + s.String() + "x"
	}
	return value
}

// TestProblemAndPairProfilesRoundTrip does the same for the profiles
// that hold no attempts.
func TestProblemAndPairProfilesRoundTrip(t *testing.T) {
	t.Parallel()
	r := nastyRows()
	source := r.corpus(t)
	out := exported(t, source, 2)
	shard := func(dir, config string) string {
		return filepath.Join(dir, "data", config, "train-00000-of-00001.parquet")
	}
	if diff := gocmp.Diff(readRows[rows.Pref](t, shard(source, "pref")), readRows[rows.Pref](t, shard(out, "pref"))); diff != "" {
		t.Error(diff)
	}
	if diff := gocmp.Diff(readRows[rows.KTO](t, shard(source, "kto")), readRows[rows.KTO](t, shard(out, "kto"))); diff != "" {
		t.Error(diff)
	}
	problems := readRows[rows.RL](t, shard(source, "rl"))
	if diff := gocmp.Diff(problems, readRows[rows.RL](t, shard(out, "verl-rl"))); diff != "" {
		t.Error(diff)
	}
	for i, p := range readRows[rows.Prompts](t, shard(out, "prompts")) {
		request := strings.ToValidUTF8(r.requests[i], "\uFFFD")
		if p.Prompt[len(p.Prompt)-1].Content != request || p.Truth != problems[i].RewardModel.Truth || !strings.Contains(p.Prompt[0].Content, `"name":"find"`) {
			t.Errorf("prompt %d: %+v", i, p)
		}
	}
}

package traces

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/longtest"
)

func TestEnvelopeIsReadCompletely(t *testing.T) {
	t.Parallel()
	got := one(t, line("p-1"))
	want := &arena.Trace{
		ID: "stdin/p-1", RunID: "stdin", ProblemID: "p-1",
		Source:       arena.Source{FileSHA256: got.Source.FileSHA256, Line: 1, Shape: "envelope", HasProxyLog: true},
		RecordSHA256: got.RecordSHA256, Bytes: len(line("p-1")),
		Status: arena.StatusSuccess, Seconds: 3.25, InferenceTotal: 2, InferenceFailures: 1,
		Query: `A kettle, "steel".`, HasDialogue: true, Lost: []string{"unread:dialogue.extra_info.execution_time"},
		Steps: []arena.Step{
			{
				Number: 1, Think: "look", Response: "one moment", Reasoning: "kettles", Typed: true,
				Content:   "<think>look</think>\n<tool_call>[]</tool_call>",
				Timestamp: "1780000000123",
				Calls: []arena.ToolCall{{
					ID: "c1", Name: "find_product", Arguments: `{"q": "kettle", "page": 1}`, Result: `[{"product_id": "77", "price": 12.5}]`,
				}},
				Proxy: []arena.ProxyCall{
					{
						Method: "POST", Path: "/inference/chat/completions", AtMS: 1780000000100, DurationMS: 81.5, Status: 200,
						Body: `{"model": "m"}`, Response: `{"choices": [{"message": {"content": "look"}}]}`, Length: -1,
					},
					{
						Attempt: true, Method: "GET", Path: "/search/find_product", AtMS: 1780000000110, DurationMS: 7,
						Params: `{"q": "kettle"}`, Truncated: true, Length: 2411, ItemIDs: []string{"77"}, Nonce: "valid",
					},
				},
			},
			{
				Number: 2, Typed: true, Timestamp: "1780000001000", Proxy: []arena.ProxyCall{},
				Calls: []arena.ToolCall{{ID: "c2", Name: "terminate", Arguments: "{}", Result: "null"}},
			},
		},
	}
	for i := range got.Steps {
		if !json.Valid([]byte(got.Steps[i].Raw)) || got.Steps[i].Raw[0] != '{' {
			t.Errorf("step %d: raw %q", i, got.Steps[i].Raw)
		}
		got.Steps[i].Raw = ""
	}
	diff(t, want, got)
}

// ids returns the ids of traces.
func ids(traces []*arena.Trace) (list []string) {
	for _, t := range traces {
		list = append(list, t.ID)
	}
	return list
}

const dialogueText = `[{"completion":{"content":"hi","message":{"response":"hi"}},"extra_info":{"step":1,"query":"A mug.","timestamp":5}}]`

func TestDialogueFilesAreNamedByRunAndPath(t *testing.T) {
	t.Parallel()
	meta := `{"eval_run_id":"R","agent_version_id":"V","miner_hotkey":"H","suite_version":"v3","started_at":"2026-01-02T03:04:05Z"}`
	withID := strings.Replace(dialogueText, `"step"`, `"problem_id":"inside","step"`, 1)
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"path rule":        {map[string]string{"traces/run=r1/p1.json": dialogueText}, "r1/p1"},
		"compressed":       {map[string]string{"traces/run=r1/p1.json.gz": packed(t, dialogueText)}, "r1/p1"},
		"run.json first":   {map[string]string{"traces/run=r1/p1.json": dialogueText, "traces/run=r1/run.json": meta}, "R/p1"},
		"run.json alone":   {map[string]string{"x/p1.json": dialogueText, "x/run.json": meta}, "R/p1"},
		"inside first":     {map[string]string{"traces/run=r1/p1.json": withID}, "r1/inside"},
		"no dialogue":      {map[string]string{"traces/run=r1/p1.json": "null"}, "r1/p1"},
		"empty dialogue":   {map[string]string{"traces/run=r1/p1.json": "[]\n"}, "r1/p1"},
		"over lines":       {map[string]string{"traces/run=r1/p1.json": strings.ReplaceAll(dialogueText, ",", ",\n")}, "r1/p1"},
		"lone envelope":    {map[string]string{"traces/run=r1/p1.json": `{"status":"FAILED","dialogue":null}`}, "r1/p1"},
		"envelope's steps": {map[string]string{"traces/run=r1/x.jsonl": `{"status":"SUCCESS","dialogue":` + withID + `}`}, "r1/inside"},
		"several in lines": {map[string]string{"traces/run=r1/p1.jsonl": withID + "\n" + withID}, "r1/inside r1/inside"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			day := t.TempDir()
			for file, text := range c.files {
				write(t, filepath.Join(day, file), text)
			}
			traces, faults, _ := readAll(t, day, Defaults())
			if got := strings.Join(ids(traces), " "); got != c.want || len(faults) > 0 {
				t.Fatalf("ids %q and faults %+v, want %q", got, faults, c.want)
			}
			if agent := traces[0].Agent; c.files["x/run.json"] != "" && agent != (arena.Agent{VersionID: "V", Hotkey: "H", Suite: "v3", StartedAt: "2026-01-02T03:04:05Z"}) {
				t.Errorf("agent %+v", agent)
			}
			if wantDialogue := name != "no dialogue" && name != "lone envelope"; traces[0].HasDialogue != wantDialogue {
				t.Errorf("has dialogue: %v", !wantDialogue)
			}
		})
	}
}

func TestWithoutAProblemTheRecordNamesTheTrace(t *testing.T) {
	t.Parallel()
	traces, _ := readText(t, "plain.json", dialogueText+"\n")
	if got := traces[0]; got.ID != got.RecordSHA256 || got.RecordSHA256 != got.Source.FileSHA256 || got.Source.Line != 0 {
		t.Errorf("trace %s of record %s in file %+v", got.ID, got.RecordSHA256, got.Source)
	}
}

func TestShapesAreRecognisedByContent(t *testing.T) {
	t.Parallel()
	const messages = `[{"role":"user","content":"A mug."},{"role":"assistant","content":"Here."}]`
	rows := `[` + "\n" + `{"messages":` + messages + `},` + "\n" + `{"messages":` + messages + `}` + "\n]\n"
	for name, c := range map[string]struct {
		text  string
		shape arena.Shape
		n     int
	}{
		"bare messages":        {messages, "openai", 1},
		"bare messages, lines": {messages + "\n" + messages + "\n", "openai", 2},
		"list of conversation": {"[" + messages + "," + messages + "]", "openai", 2},
		"rows in a list":       {rows, "openai", 2},
		"list on one line":     {strings.ReplaceAll(rows, "\n", ""), "openai", 2},
		"object over lines":    {"{\n\"messages\":\n" + messages + "\n}\n", "openai", 1},
		"objects over lines":   {"{\n\"messages\":\n" + messages + "\n}\n{\n\"messages\":\n" + messages + "\n}", "openai", 2},
		"turns":                {`{"conversations":[{"from":"human","value":"A mug."},{"from":"gpt","value":"Here."}]}`, "sharegpt", 1},
		"bare turns":           {`[{"from":"human","value":"A mug."},{"from":"gpt","value":"Here."}]`, "sharegpt", 1},
		"document":             {`{"schema_version":"ATIF-v1.0","session_id":"s","agent":{},"steps":[{"source":"user","message":"A mug."},{"source":"agent","message":"Here."}]}`, "atif", 1},
		"envelope over lines":  {sampleEnvelope, "envelope", 1},
		"zstd":                 {squeezed(t, messages), "openai", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			traces, faults := readText(t, "no-ending", c.text)
			if len(traces) != c.n || len(faults) > 0 {
				t.Fatalf("got %d traces and %+v, want %d", len(traces), faults, c.n)
			}
			for _, got := range traces {
				if got.Source.Shape != c.shape || !strings.HasPrefix(got.Query, "A ") || len(got.Steps) < 1 {
					t.Errorf("shape %s, query %q, %d steps", got.Source.Shape, got.Query, len(got.Steps))
				}
			}
		})
	}
}

func TestOpenAIMessages(t *testing.T) {
	t.Parallel()
	got := one(t, `{"id":7,"tools":"[{\"type\":\"function\"}]","model":"m","reward":1,"messages":[
 {"role":"system","content":"Be brief."},
 {"role":"user","content":[{"type":"text","text":"A mug"},{"type":"text","text":"please."}]},
 {"role":"assistant","content":null,"reasoning_content":"hm","tool_calls":[{"id":"x","type":"function","function":{"name":"find","arguments":"{\"q\":\"mug\"}"}},{"id":"y","function":{"name":"find","arguments":{}}}]},
 {"role":"tool","tool_call_id":"y","name":"find","content":"second"},
 {"role":"tool","tool_call_id":"x","name":"find","content":"first"},
 {"role":"user","content":"Red."},
 {"role":"assistant","content":"","tool_calls":[{"id":"x","function":{"name":"view","arguments":"{}"}}]},
 {"role":"tool","tool_call_id":"x","content":"third"},
 {"role":"system","content":"Hurry."}]}`)
	want := &arena.Trace{
		ID: "stdin/7", RunID: "stdin", ProblemID: "7", Source: got.Source, RecordSHA256: got.RecordSHA256, Bytes: got.Bytes,
		Status: arena.StatusSuccess, Seconds: got.Seconds, InferenceTotal: -1, InferenceFailures: -1,
		System: "Be brief.", Query: "A mug\nplease.", Tools: `[{"type":"function"}]`, Model: "m", Declared: got.Declared, HasDialogue: true,
		Steps: []arena.Step{
			{Number: 1, Reasoning: "hm", Calls: []arena.ToolCall{
				{ID: "x", Name: "find", Arguments: `"{\"q\":\"mug\"}"`, Result: `"first"`}, {ID: "y", Name: "find", Arguments: `{}`, Result: `"second"`},
			}},
			{Number: 2, Role: arena.RoleUser, Content: "Red."},
			{Number: 3, Calls: []arena.ToolCall{{ID: "x", Name: "view", Arguments: `"{}"`, Result: `"third"`}}},
			{Number: 4, Role: arena.RoleSystem, Content: "Hurry."},
		},
	}
	diff(t, want, got)
	if got.Declared == nil || *got.Declared != 1 {
		t.Error("no declared reward")
	}
}

func TestWhatATraceCannotHoldIsVetoed(t *testing.T) {
	t.Parallel()
	for veto, messages := range map[string]string{
		"non_text_content":      `{"role":"user","content":[{"type":"image_url","image_url":{}}]}`,
		"unmatched_tool_result": `{"role":"user","content":"x"},{"role":"tool","tool_call_id":"none","content":"x"}`,
		"unknown_role":          `{"role":"user","content":"x"},{"role":"critic","content":"x"}`,
		"agent_before_user":     `{"role":"assistant","content":"","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"x"},{"role":"user","content":"x"}`,
	} {
		if got := one(t, `{"messages":[`+messages+`]}`).Vetoes; !slices.Equal(got, []string{veto}) {
			t.Errorf("vetoes %v, want %s", got, veto)
		}
	}
}

func TestResultsFollowTheirCallsInText(t *testing.T) {
	t.Parallel()
	got := one(t, `{"messages":[{"role":"user","content":"A mug."},{"role":"assistant","content":"<tool_call>\n{\"name\":\"f\"}\n</tool_call>"},{"role":"tool","content":"[7]"},{"role":"assistant","content":"Take 7."}]}`)
	want := []arena.Step{
		{Number: 1, Content: "<tool_call>\n{\"name\":\"f\"}\n</tool_call>"},
		{Number: 2, Role: arena.RoleUser, Content: "<tool_response>\n[7]\n</tool_response>"},
		{Number: 3, Content: "Take 7."},
	}
	diff(t, want, got.Steps)
	if len(got.Vetoes) > 0 {
		t.Errorf("vetoes %v", got.Vetoes)
	}
}

func TestAgentIsTheRoleOfTheModelUnlessAnAssistantSpeaks(t *testing.T) {
	t.Parallel()
	got := one(t, `{"task_id":"7","turns":[{"role":"user","content":"x"},{"role":"agent","content":"GET /a"},{"role":"user","content":"7"},{"role":"agent","content":"FINISH(7)"}],"reward":1}`)
	want := []arena.Step{
		{Number: 1, Content: "GET /a"}, {Number: 2, Role: arena.RoleUser, Content: "7"}, {Number: 3, Content: "FINISH(7)"},
	}
	diff(t, want, got.Steps)
	if got.ProblemID != "7" || got.Query != "x" || len(got.Vetoes) > 0 {
		t.Errorf("problem %q, query %q, vetoes %v", got.ProblemID, got.Query, got.Vetoes)
	}
	for _, record := range []string{
		`{"messages":[{"role":"user","content":"x"},{"role":"agent","content":"y"},{"role":"assistant","content":"z"}]}`,
		`{"messages":[{"role":"user","content":"x"},{"role":"agent","content":"y"},{"role":"model","content":"z"}]}`,
		`{"conversations":[{"from":"human","value":"x"},{"from":"agent","value":"y"},{"from":"gpt","value":"z"}]}`,
	} {
		mixed := one(t, record)
		if want := []string{"unknown_role"}; !slices.Equal(mixed.Vetoes, want) {
			t.Errorf("%s: vetoes %v, want %v", record, mixed.Vetoes, want)
		}
	}
}

func TestResultsOfNoCallAreNoWordsOfTheUser(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, id, result string // result is empty if the result is dropped
	}{
		{`"\n"`, "call_9", ""},
		{`"I will look it up."`, "call_9", ""},
		{`"I will look it up."`, "", ""},
		{`""`, "", ""},
		{`null`, "call_9", ""},
		{`"<tool_call>{\"name\":\"f\"}</tool_call>"`, "call_9", "<tool_response>\n7\n</tool_response>"},
		{`"<tool_call>f, please</tool_call>"`, "", "7"},
		{`"[f(a=1)]"`, "", "7"},
	} {
		got := one(t, `{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":`+c.text+`},{"role":"tool","tool_call_id":"`+c.id+`","content":"7"},{"role":"assistant","content":"Done."}]}`)
		want := []string{"unmatched_tool_result"}
		if c.result != "" {
			want = nil
		}
		if !slices.Equal(got.Vetoes, want) {
			t.Errorf("text %s, id %q: vetoes %v, want %v", c.text, c.id, got.Vetoes, want)
		}
		words := ""
		for i := range got.Steps {
			if got.Steps[i].Role == arena.RoleUser {
				words += got.Steps[i].Content
			}
		}
		if words != c.result {
			t.Errorf("text %s, id %q: user says %q, want %q", c.text, c.id, words, c.result)
		}
	}
	sharegpt := one(t, `{"conversations":[{"from":"human","value":"x"},{"from":"gpt","value":"I look."},{"from":"observation","value":"7"},{"from":"gpt","value":"Done."}]}`)
	if want := []string{"unmatched_tool_result"}; !slices.Equal(sharegpt.Vetoes, want) {
		t.Errorf("sharegpt: vetoes %v, want %v", sharegpt.Vetoes, want)
	}
}

// TestResultsThatAreNoStrings holds the content of tool messages, in rows and in another format: JSON
// values stay as they are, and text parts become their text.
func TestResultsThatAreNoStrings(t *testing.T) {
	t.Parallel()
	const call = `[{"role":"user","content":"x"},{"role":"assistant","content":"","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":`
	for content, want := range map[string]string{
		`{"b":1,"a":{"type":"x"}}`:                `{"b":1,"a":{"type":"x"}}`,
		`{"type":"file","name":"a"}`:              `{"type":"file","name":"a"}`,
		`[{"b":1},{"a":2}]`:                       `[{"b":1},{"a":2}]`,
		`7`:                                       `7`,
		`{"functionCall":{"name":"f"}}`:           `{"functionCall":{"name":"f"}}`,
		`{"type":"tool_use","id":"u","name":"g"}`: `{"type":"tool_use","id":"u","name":"g"}`,
		`[{"type":"thinking","thinking":"a"}]`:    `[{"type":"thinking","thinking":"a"}]`,
		`[{"type":"text","text":"a"},{"type":"text","text":"b"}]`: `"a\nb"`,
		`[{"type":"text","content":"a"}]`:                         `"a"`,
		`[{"type":"output_text","text":"a"}]`:                     `"a"`,
		`[{"text":"a"}]`:                                          `"a"`,
		`{"type":"text","text":"a"}`:                              `"a"`,
		`{"type":"image_url","image_url":{"url":"u"}}`:            "",
		`{"type":"input_audio","input_audio":{}}`:                 "",
		`[{"type":"image","source":{}}]`:                          "",
	} {
		messages := call + content + `},{"role":"assistant","content":"y"}]`
		for _, record := range []string{
			`{"messages":` + messages + `}`,
			`{"custom_id":"7","body":{"messages":` + messages + `}}`,
		} {
			got := one(t, record)
			if want == "" {
				if !slices.Equal(got.Vetoes, []string{"non_text_content"}) {
					t.Errorf("%s: vetoes %v", record, got.Vetoes)
				}
				continue
			}
			if result := got.Steps[0].Calls[0].Result; string(result) != want || len(got.Vetoes) > 0 {
				t.Errorf("%s: result %s, want %s; vetoes %v", record, result, want, got.Vetoes)
			}
		}
	}
}

func TestShareGPTCallsAndObservations(t *testing.T) {
	t.Parallel()
	got := one(t, `{"system":"Shop.","tools":"[]","conversations":[{"from":"human","value":"A mug."},
 {"from":"function_call","value":"<think>look</think>\n{\"name\":\"find\",\"arguments\":{\"q\":\"mug\"}}"},
 {"from":"observation","value":"found"},
 {"from":"function_call","value":"[{\"name\":\"f\",\"arguments\":{}},{\"name\":\"g\",\"arguments\":{}}]"},
 {"from":"observation","value":"[{\"a\":1},\"b\"]"},{"from":"gpt","value":"Take it."}]}`)
	want := []arena.Step{
		{Number: 1, Content: "<think>look</think>", Calls: []arena.ToolCall{{Name: "find", Arguments: `{"q":"mug"}`, Result: `"found"`}}},
		{Number: 2, Calls: []arena.ToolCall{{Name: "f", Arguments: `{}`, Result: `{"a":1}`}, {Name: "g", Arguments: `{}`, Result: `"b"`}}},
		{Number: 3, Content: "Take it."},
	}
	diff(t, want, got.Steps)
	if got.System != "Shop." || got.Tools != "[]" {
		t.Errorf("system %q, tools %q", got.System, got.Tools)
	}
}

func TestRollouts(t *testing.T) {
	t.Parallel()
	graded := one(t, `{"name":"g1","query":"A mug.","sample":{"output_tools":[{"function":{"name":"find","arguments":{"q":"mug"}}},{"function":{"name":"terminate","arguments":{}}}],"assistant_text":"Done."},"grade":{"score":0.5,"success":false},"latency_seconds":2}`)
	if graded.ID != "stdin/g1" || *graded.Declared != 0.5 || len(graded.Steps) != 1 || len(graded.Steps[0].Calls) != 2 || graded.Seconds != 2 {
		t.Errorf("graded rollout: %+v", graded)
	}
	rendered := one(t, `{"input":"system\nShop.\nuser\nA mug.\nassistant\n","output":"<think>look</think>\n<tool_call>[{\"name\":\"find\",\"parameters\":{\"q\":\"mug\"}}]</tool_call>\nuser\n<obs>[{\"tool_call_id\":\"1\",\"results\":[7]}]</obs>\nassistant\n<think>take 7, and","reward":0.25,"score":9}`)
	want := []arena.Step{
		{Number: 1, Content: "<think>look</think>\n<tool_call>[{\"name\":\"find\",\"parameters\":{\"q\":\"mug\"}}]</tool_call>",
			Calls: []arena.ToolCall{{Name: "find", Arguments: `{"q":"mug"}`, Result: "[7]"}}},
		{Number: 2, Content: "<think>take 7, and"},
	}
	diff(t, want, rendered.Steps)
	if rendered.System != "Shop." || rendered.Query != "A mug." || *rendered.Declared != 0.25 {
		t.Errorf("rollout: %+v", rendered)
	}
}

func TestPredictionsAreOneTurn(t *testing.T) {
	t.Parallel()
	got := one(t, `{"id":"r","raw_text":"<think>a</think>","tool_calls":[{"name":"find","arguments":{}}],"error":"cut","input_tokens":5}`)
	if len(got.Steps) != 1 || len(got.Steps[0].Calls) != 1 || got.Status != arena.StatusFailed || got.Error.Message != "cut" {
		t.Errorf("prediction: %+v", got)
	}
}

func TestRealFiles(t *testing.T) {
	t.Parallel()
	for folder, want := range map[string]struct {
		traces int
		faults string // of every other record
	}{
		"atif": {8, ""}, "tau-bench": {200, ""}, "oro-sft": {6, ""}, "oro-episode": {1, ""},
		"forge-agent": {0, "not_a_trace"}, "oro-suites": {0, "not_a_trace"}, "shoppingbench-products": {0, "not_a_trace"}, "yuma": {0, "not_a_trace"},
	} {
		traces, faults, _ := readAll(t, longtest.Shared(t, "data/real/"+folder), Defaults())
		if len(traces) != want.traces || want.faults == "" && len(faults) > 0 {
			t.Errorf("%s: %d traces, faults %+v, want %d", folder, len(traces), faults, want.traces)
		}
		for _, f := range faults {
			if string(f.Reason) != want.faults {
				t.Errorf("%s: %+v, want %s", folder, f, want.faults)
			}
		}
		unique := map[string]bool{}
		for _, id := range ids(traces) {
			unique[id] = true
		}
		if folder != "oro-sft" && len(unique) != want.traces {
			t.Errorf("%s: %d ids for %d traces", folder, len(unique), want.traces)
		}
	}
}

// TestRepeatedCallIDsKeepTheirResults holds every result of the real
// trajectories against the message before it.
func TestRepeatedCallIDsKeepTheirResults(t *testing.T) {
	t.Parallel()
	day := longtest.Shared(t, "data/real/tau-bench")
	traces, _, _ := readAll(t, day, Defaults())
	repeated := 0
	for i, raw := range strings.Split(strings.TrimSpace(string(unpacked(t, filepath.Join(day, "gpt-4o-airline.jsonl.gz")))), "\n") {
		var row struct {
			Traj []struct {
				Content *string
				Calls   []struct{ ID string } `json:"tool_calls"`
				Role    string
			}
		}
		if err := json.Unmarshal([]byte(raw), &row); err != nil {
			t.Fatal(err)
		}
		var want, got []string
		seen := map[string]bool{}
		for j, m := range row.Traj {
			if m.Role == "tool" {
				id := row.Traj[j-1].Calls[0].ID
				want = append(want, id+" "+*m.Content)
				if seen[id] {
					repeated++
				}
				seen[id] = true
			}
		}
		for _, s := range traces[i].Steps {
			for _, c := range s.Calls {
				got = append(got, c.ID+" "+c.Result.Text())
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("trajectory %d: want -, got +:\n%s", i, d)
		}
	}
	if repeated != 73 {
		t.Errorf("%d repeated ids, the source's README counts 73", repeated)
	}
}

// TestAResultMayBeAnError checks that a tool's message without content has the words of its error,
// which is an object or a text, and that words beside a content are named as lost.
func TestAResultMayBeAnError(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		`"content":"","error":"no such order"`:                     `"no such order"`,
		`"content":null,"error":{"message":"no such order"}`:       `"no such order"`,
		`"content":"Error: no such order","error":"no such order"`: `"Error: no such order"`,
	} {
		trace := one(t, `{"id":"a","messages":[{"role":"user","content":"Cancel it."},
			{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"cancel","arguments":"{}"}}]},
			{"role":"tool","tool_call_id":"c",`+message+`},{"role":"assistant","content":"It is gone."}]}`)
		if got := string(trace.Steps[0].Calls[0].Result); got != want {
			t.Errorf("%s: the result is %s, want %s", message, got, want)
		}
		if !slices.Contains(trace.Lost, "result_error") {
			t.Errorf("%s: lost are %v, want also result_error", message, trace.Lost)
		}
		isNamed := slices.Contains(trace.Lost, "unread:messages.error")
		if strings.Contains(message, "Error:") != isNamed {
			t.Errorf("%s: lost are %v", message, trace.Lost)
		}
	}
}

package traces

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trajectory-arena/arena/traces/convert"
)

// codexText writes a message as a line of a session of Codex.
func codexText(role, text string) string {
	return codexLine("response_item", fmt.Sprintf(`{"type":"message","role":%q,"content":[{"type":"input_text","text":%q}]}`, role, text))
}

func codexLine(kind, payload string) string {
	return fmt.Sprintf(`{"timestamp":"t","type":%q,"payload":%s}`, kind, payload)
}

// piText writes a message as a line of a session of Pi.
func piText(id, parent, role, text string) string {
	return fmt.Sprintf(`{"type":"message","id":%q,"parentId":%s,"timestamp":"t","message":{"role":%q,"content":[{"type":"text","text":%q}]}}`, id, parent, role, text)
}

const piHead = `{"type":"session","version":3,"id":"s","timestamp":"t","cwd":"/x"}`

// TestSessionsOfEachTool checks that withdrawn messages are left out and reported, that a
// summarised part and another agent's part are attempts of their own, and that a message written
// twice is read once.
func TestSessionsOfEachTool(t *testing.T) {
	t.Parallel()
	hello := codexText("user", "hello") + "\n" + codexText("assistant", "hi") + "\n"
	meta := codexLine("session_meta", `{"id":"s"}`) + "\n"
	for name, c := range map[string]struct {
		text string
		want []string
		lost []string
	}{
		"codex, two turns are taken back": {
			text: meta + hello + hello + hello + codexLine("event_msg", `{"type":"thread_rolled_back","num_turns":2}`) + "\n" + codexText("user", "stays"),
			want: []string{"hello|hi|stays"}, lost: []string{"other_branches|program_events"},
		},
		"codex, more turns are taken back than there are": {
			text: meta + hello + codexLine("event_msg", `{"type":"thread_rolled_back","num_turns":1e99}`) + "\n" + hello,
			want: []string{"hello|hi"}, lost: []string{"other_branches|program_events"},
		},
		"codex, compacted to a text": {
			text: meta + hello + codexLine("compacted", `{"message":"summary"}`) + "\n" + codexText("assistant", "fine"),
			want: []string{"hello|hi", "summary|fine"}, lost: []string{"", "context_replaced"},
		},
		"codex, the context is the system's": {
			text: meta + codexText("user", "<environment_context>/x</environment_context>") + "\n" + codexText("developer", "be kind") + "\n" + hello,
			want: []string{"<environment_context>/x</environment_context>\n\nbe kind|hello|hi"}, lost: []string{""},
		},
		"codex, a fork names its source": {
			text: meta + codexLine("session_meta", `{"id":"source"}`) + "\n" + hello,
			want: []string{"hello|hi"}, lost: []string{""},
		},
		"codex, two files in one": {
			text: meta + hello + codexLine("session_meta", `{"id":"other"}`) + "\n" + hello,
			want: []string{"hello|hi", "hello|hi"}, lost: []string{"", ""},
		},
		"pi, begun again from the root": {
			text: strings.Join([]string{piHead, piText("1", "null", "user", "taken back"), piText("2", "null", "user", "stays"), piText("3", `"2"`, "assistant", "fine")}, "\n"),
			want: []string{"stays|fine"}, lost: []string{"other_branches"},
		},
		"pi, the parent is missing": {
			text: strings.Join([]string{piHead, piText("1", `"0"`, "user", "hello"), piText("2", `"1"`, "assistant", "hi")}, "\n"),
			want: []string{"hello|hi"}, lost: []string{""},
		},
		"pi, without ids": {
			text: strings.ReplaceAll(strings.Join([]string{
				`{"type":"session","id":"s","cwd":"/x"}`, piText("-", "null", "user", "hello"), piText("-", "null", "assistant", "hi"),
				`{"type":"compaction","timestamp":"t","summary":"summary","firstKeptEntryIndex":2}`, piText("-", "null", "user", "next"),
			}, "\n"), `"id":"-","parentId":null,`, ""),
			want: []string{"hello|hi", "summary|hi|next"}, lost: []string{"", "context_replaced"},
		},
		"stream, compacted without a word": {
			text: `{"type":"user","session_id":"s","message":{"role":"user","content":"hello"}}` + "\n" +
				`{"type":"system","subtype":"compact_boundary","session_id":"s"}` + "\n" +
				`{"type":"assistant","session_id":"s","message":{"role":"assistant","content":"fine"}}`,
			want: []string{"hello", "|fine"}, lost: []string{"", "context_replaced"},
		},
		"gemini, the context is the system's": {
			text: `{"sessionId":"s","projectHash":"h"}` + "\n" + `{"id":"1","timestamp":"t","type":"user","content":[{"text":"<session_context>\n/x</session_context>"}]}` + "\n" +
				`{"id":"2","timestamp":"t","type":"user","content":[{"text":"hello"}]}`,
			want: []string{"<session_context>\n/x</session_context>|hello"}, lost: []string{""},
		},
		"gemini, taken back to a missing message": {
			text: `{"sessionId":"s","projectHash":"h"}` + "\n" + `{"id":"1","timestamp":"t","type":"user","content":"hello"}` + "\n" +
				`{"$rewindTo":"0"}` + "\n" + `{"id":"2","timestamp":"t","type":"user","content":{"text":"again"}}`,
			want: []string{"again"}, lost: []string{"other_branches"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, lost := conversationsOf(t, c.text+"\n")
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
			for i, words := range lost {
				lost[i] = strings.Join(slices.DeleteFunc(strings.Split(words, "|"), func(word string) bool { return word == "metadata" || strings.HasPrefix(word, "unread:") }), "|")
			}
			if d := cmp.Diff(c.lost, lost); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestUnknownContext checks that an attempt is vetoed if it follows a summary that the source does
// not hold.
func TestUnknownContext(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"codex": codexLine("session_meta", `{"id":"s"}`) + "\n" + codexText("user", "hello") + "\n" +
			codexLine("compacted", `{"message":"","replacement_history":[{"type":"compaction","encrypted_content":"AAAA"}]}`) + "\n" + codexText("assistant", "fine"),
		"stream": `{"type":"user","session_id":"s","message":{"role":"user","content":"hello"}}` + "\n" +
			`{"type":"system","subtype":"compact_boundary","session_id":"s"}` + "\n" + `{"type":"assistant","session_id":"s","message":{"role":"assistant","content":"fine"}}`,
	} {
		attempts, _ := readTextWith(t, "session.jsonl", text+"\n", named())
		if len(attempts) != 2 || len(attempts[0].Vetoes) > 0 || strings.Join(attempts[1].Vetoes, " ") != "hidden_context" {
			t.Errorf("%s: %+v", name, attempts)
		}
	}
}

// TestManySessionLinesTakeTheirTimeOnly reads five thousand lines that each begin a conversation,
// compact one, or take one back. It has no time limit of its own.
func TestManySessionLinesTakeTheirTimeOnly(t *testing.T) {
	t.Parallel()
	const n = 5000
	var roots strings.Builder
	for i := range n {
		roots.WriteString(claudeLine(fmt.Sprint(i), "", claudeUser("x"), "") + "\n")
	}
	for name, text := range map[string]string{
		"roots":       roots.String(),
		"rolled back": strings.Repeat(codexLine("event_msg", `{"type":"thread_rolled_back","num_turns":1}`)+"\n"+codexText("assistant", "x")+"\n", n),
		"compactions": piHead + "\n" + strings.Repeat(`{"type":"compaction","timestamp":"t","summary":"s","firstKeptEntryIndex":1}`+"\n", n),
	} {
		if items := readBytes(t, strings.NewReader(text), Defaults()); len(items) == 0 {
			t.Errorf("%s: nothing is read", name)
		}
	}
}

// TestEventsOfTheConsole checks that events of messages are read as OpenTelemetry's SDK writes them
// to the console, one a line, as well as in the form of its collector.
func TestEventsOfTheConsole(t *testing.T) {
	t.Parallel()
	const line = `{"trace_id":"0x1","span_id":"0x2","event_name":"gen_ai.%s","attributes":{"gen_ai.system":"openai"},"body":%s}` + "\n"
	text := fmt.Sprintf(line, "user.message", `{"content":"hello"}`) + fmt.Sprintf(line, "choice", `{"index":0,"message":{"role":"assistant","content":"hi"}}`)
	got, _ := conversationsOf(t, text)
	if d := cmp.Diff([]string{"hello|hi"}, got); d != "" {
		t.Error(d)
	}
}

// fuzzed names for each fuzz target the samples from which it begins.
var fuzzed = map[string][]string{
	"FuzzCodex":        {"codex.jsonl", "codex_old.jsonl"},
	"FuzzPi":           {"pi.jsonl"},
	"FuzzSessionTrace": {"sts.jsonl"},
	"FuzzGeminiCLI":    {"gemini_cli.jsonl", "gemini_cli.json"},
	"FuzzOpenHands":    {"openhands.jsonl", "openhands_output.jsonl", "openhands_sdk.jsonl"},
	"FuzzOpenCode":     {"opencode.json"},
	"FuzzClaude":       {"claude_stream.jsonl", "claude_code.jsonl", "claude_code_subagent.jsonl"},
	"FuzzSpans":        {"otlp.jsonl", "otel_events.jsonl", "span.json", "phoenix.jsonl"},
	"FuzzVendors":      {"langfuse.json", "langfuse_page.json", "langfuse_sdk.jsonl", "langsmith.jsonl", "mlflow.json", "weave.jsonl", "agent_lightning.jsonl"},
	"FuzzAPIs": {
		"responses.jsonl", "responses_calls.jsonl", "responses_items.json", "anthropic.jsonl", "anthropic_server.jsonl", "bedrock.jsonl", "gemini.jsonl",
		"batches.jsonl",
	},
	"FuzzHarnesses": {
		"swe_agent.traj", "swe_rows.jsonl", "mini_swe_agent.jsonl", "inspect.json", "verifiers.jsonl", "verifiers_episode.jsonl", "tau2.json", "tau_bench.jsonl",
	},
	"FuzzRows":   {"openai.jsonl", "conversation.jsonl", "rollouts.jsonl", "sharegpt.json", "toolace.json", "atif.json"},
	"FuzzSubnet": {"envelope.jsonl", "dialogue.json", "episode.json", "feedback.json", "ledger.json"},
}

// TestEverySampleIsFuzzed checks that each sample of a format, and so each reader, has a fuzz
// target.
func TestEverySampleIsFuzzed(t *testing.T) {
	t.Parallel()
	for name := range samplesOfAll(t) {
		isIn := func(samples []string) bool { return slices.Contains(samples, name) }
		if !slices.ContainsFunc(slices.Collect(maps.Values(fuzzed)), isIn) {
			t.Errorf("%s is in no fuzz target", name)
		}
	}
}

// samplesOfAll are the samples of the formats of other tools and of the subnet, by name.
func samplesOfAll(tb testing.TB) map[string]string {
	tb.Helper()
	samples := samplesIn(tb, "testdata/shapes")
	maps.Copy(samples, formatSamples(tb))
	return samples
}

// fuzzReader damages the samples of the target: everything that is read is complete, and can be
// written and read again.
func fuzzReader(f *testing.F) {
	f.Helper()
	samples := samplesOfAll(f)
	for _, name := range fuzzed[f.Name()] {
		if samples[name] == "" {
			f.Fatalf("no sample %s", name)
		}
		f.Add(samples[name])
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, item := range readBytes(t, strings.NewReader(text), fuzzLimits()) {
			if item.Trace == nil {
				continue
			}
			checkTrace(t, item.Trace)
			written, _, err := convert.Write(item.Trace, convert.STS)
			if err != nil {
				t.Fatal(err)
			}
			back := readBytes(t, strings.NewReader(string(written)), Defaults())
			if len(back) != 1 || back[0].Trace == nil || len(back[0].Trace.Steps) != len(item.Trace.Steps) {
				t.Fatalf("%s is read as %+v", written, back[0])
			}
		}
	})
}

func FuzzCodex(f *testing.F)        { fuzzReader(f) }
func FuzzPi(f *testing.F)           { fuzzReader(f) }
func FuzzSessionTrace(f *testing.F) { fuzzReader(f) }
func FuzzGeminiCLI(f *testing.F)    { fuzzReader(f) }
func FuzzOpenHands(f *testing.F)    { fuzzReader(f) }
func FuzzOpenCode(f *testing.F)     { fuzzReader(f) }
func FuzzClaude(f *testing.F)       { fuzzReader(f) }
func FuzzSpans(f *testing.F)        { fuzzReader(f) }
func FuzzVendors(f *testing.F)      { fuzzReader(f) }
func FuzzAPIs(f *testing.F)         { fuzzReader(f) }
func FuzzHarnesses(f *testing.F)    { fuzzReader(f) }
func FuzzRows(f *testing.F)         { fuzzReader(f) }
func FuzzSubnet(f *testing.F)       { fuzzReader(f) }

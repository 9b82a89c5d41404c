package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"
)

const ticketDomain = `
name: tickets
title: Ticket desk trajectories
recognise: {tools: [find_tickets, close_ticket]}
tools:
  find_tickets: {role: search, words: [words]}
  close_ticket: {role: act, ids: [ticket]}
  done: {role: end}
outcome: {from: declared, pass: 1}
unlogged: keep
`

// ticketDesk is an MCP server of a domain that this program does not know. It keeps the closed
// tickets of each session, and requires the bearer token key unless that is empty.
func ticketDesk(t *testing.T, key string) *httptest.Server {
	t.Helper()
	type words struct {
		Words string `json:"words"`
	}
	type ticket struct {
		Ticket string `json:"ticket"`
	}
	// listing has arguments of a kind that the tools of the shop do not have
	type listing struct {
		Page  *int     `json:"page,omitempty" jsonschema:"page,\n from 1"`
		Rooms []string `json:"rooms,omitempty"`
		Class any      `json:"class,omitempty"`
		Of    string   `json:"of-room,omitempty"`
	}
	text := func(s string) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
	}
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server {
		closed := 0
		s := mcp.NewServer(&mcp.Implementation{Name: "desk", Version: "1"}, nil)
		mcp.AddTool(s, &mcp.Tool{Name: "find_tickets"}, func(_ context.Context, _ *mcp.CallToolRequest, w words) (*mcp.CallToolResult, any, error) {
			return text(`[{"key":"TK-12","title":"` + w.Words + `"}]`), nil, nil
		})
		mcp.AddTool(s, &mcp.Tool{Name: "close_ticket"}, func(_ context.Context, _ *mcp.CallToolRequest, k ticket) (*mcp.CallToolResult, any, error) {
			closed++
			return text(fmt.Sprintf("closed %s as number %d", k.Ticket, closed)), nil, nil
		})
		mcp.AddTool(s, &mcp.Tool{Name: "list_all"}, func(context.Context, *mcp.CallToolRequest, listing) (*mcp.CallToolResult, any, error) {
			return text(strings.Repeat("TK-9 ", 1<<18)), nil, nil
		})
		mcp.AddTool(s, &mcp.Tool{Name: "wait"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			select {
			case <-ctx.Done():
			case <-t.Context().Done(): // the server waits for its calls when it closes
			}
			return nil, nil, errors.New("it took too long")
		})
		mcp.AddTool(s, &mcp.Tool{Name: "done"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			return text("bye"), nil, nil
		})
		return s
	}, nil)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if key != "" && r.Header.Get("Authorization") != "Bearer "+key {
			http.Error(w, "no key", http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// writeTickets writes a domain and a file of n problems into a folder.
func writeTickets(t *testing.T, dir string, n int) (domain, problems string) {
	t.Helper()
	domain = filepath.Join(dir, "tickets.yaml")
	problems = filepath.Join(dir, "problems.jsonl")
	var lines strings.Builder
	for i := range n {
		fmt.Fprintf(&lines, `{"problem_id":"p%d","query":"Close the ticket about the %s in room %d, please."}`+"\n", i, []string{"lamp", "printer", "door"}[i%3], 100+i)
	}
	for path, s := range map[string]string{domain: ticketDomain, problems: lines.String()} {
		if err := os.WriteFile(path, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return domain, problems
}

// serveTickets starts the environment and returns its address, and a function that stops it.
func serveTickets(t *testing.T, args ...string) (address string, stop func()) {
	t.Helper()
	c := exec.Command(program(t), append([]string{"env", "serve", "--unguarded", "--listen", "127.0.0.1:0"}, args...)...)
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err = c.Start(); err != nil {
		t.Fatal(err)
	}
	stop = func() {
		_ = c.Process.Signal(os.Interrupt) // it may have ended already
		_ = c.Wait()
	}
	t.Cleanup(stop)
	line, err := bufio.NewReader(stderr).ReadString('\n')
	for word := range strings.FieldsSeq(line) {
		if strings.HasPrefix(word, "http://") {
			return word, stop
		}
	}
	t.Fatalf("no address in %q, %v", line, err)
	return "", nil
}

// ticketEpisode plays one episode and returns its reward line. Calls alternate names and arguments.
func ticketEpisode(t *testing.T, address, problem string, row map[string]any, calls ...string) gjson.Result {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	post := func(path string, body []byte) string {
		t.Helper()
		r, bad := http.NewRequestWithContext(t.Context(), http.MethodPost, address+path, bytes.NewReader(body))
		if bad != nil {
			t.Fatal(bad)
		}
		res, bad := client.Do(r)
		if bad != nil {
			t.Fatal(bad)
		}
		defer res.Body.Close()
		b, bad := io.ReadAll(res.Body)
		if bad != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s %s %v", path, res.Status, b, bad)
		}
		return string(b)
	}
	post("/seed_session", []byte(`{"problem_id":"`+problem+`"}`))
	var output []any
	for i := 0; i < len(calls); i += 2 {
		text := post("/"+calls[i], []byte(calls[i+1]))
		if calls[i] == "close_ticket" && !strings.HasSuffix(text, "as number 1") {
			t.Errorf("%s: %q: the state of another episode is seen", problem, text)
		}
		output = append(output,
			map[string]any{"type": "reasoning", "summary": []any{map[string]any{"type": "summary_text", "text": "The desk knows."}}},
			map[string]any{"type": "function_call", "call_id": fmt.Sprint(i), "name": calls[i], "arguments": calls[i+1]},
			map[string]any{"type": "function_call_output", "call_id": fmt.Sprint(i), "output": text})
	}
	row["response"] = map[string]any{"output": output}
	body, err := json.Marshal(row)
	if err != nil {
		t.Fatal(err)
	}
	return gjson.Parse(post("/verify", body))
}

// TestAnyMCPServerIsAnEnvironment uses a domain of one file with an MCP server: general components
// are rewarded, unmeasured ones are null, and the recorded day has every episode.
func TestAnyMCPServerIsAnEnvironment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	domain, problems := writeTickets(t, dir, 12)
	day := filepath.Join(dir, "day")
	address, stop := serveTickets(t, "--domain", domain, "--mcp", ticketDesk(t, "").URL, "--problems", problems, "--record", day)

	const find, seen, unseen = `{"words":"lamp"}`, `{"ticket":"TK-12"}`, `{"ticket":"TK-1"}`
	for _, c := range []struct {
		name  string
		row   map[string]any
		calls []string
		parts string
		total float64
	}{
		{"good", map[string]any{"declared": 1}, []string{"find_tickets", find, "close_ticket", seen, "done", "{}"}, "0 0 0", 0},
		{"invented", map[string]any{"declared": 0}, []string{"find_tickets", find, "close_ticket", unseen}, "-0.1 0 0", -0.1},
		{"repeated", map[string]any{}, []string{"find_tickets", find, "find_tickets", `{"words": "lamp"}`}, "0 0 -0.05", -0.05},
		{"no such tool", map[string]any{"declared": nil}, []string{"recommend_product", `{"product_ids":"1"}`, "find_tickets", find}, "0 -0.05 0", -0.05},
	} {
		reward := ticketEpisode(t, address, "p0", c.row, c.calls...)
		parts := reward.Get("reward_components")
		got := fmt.Sprint(parts.Get("invented_ids").Num, " ", parts.Get("unreadable_calls").Num, " ", parts.Get("repeated_calls").Num)
		if reward.Get("mask_sample").Bool() || got != c.parts || reward.Get("reward").Num != c.total {
			t.Errorf("%s: %s", c.name, reward)
		}
		for _, part := range []string{"judge", "rule", "price", "gold_in_view", "steps"} {
			if parts.Get(part).Raw != "null" {
				t.Errorf("%s: part %s of the shop is %s", c.name, part, parts.Get(part).Raw)
			}
		}
		want := map[any]string{nil: "null", 0: "false", 1: "true"}[c.row["declared"]]
		if reward.Get("success").Raw != want || reward.Get("score").Raw != "null" || reward.Get("flag_recommends_everything").Exists() {
			t.Errorf("%s: success %s, want %s: %s", c.name, reward.Get("success").Raw, want, reward)
		}
	}
	for i := 1; i < 12; i++ {
		ticketEpisode(t, address, fmt.Sprint("p", i), map[string]any{"declared": 1}, "find_tickets", find, "close_ticket", seen)
	}
	stop()

	out := filepath.Join(dir, "out")
	var stderr, errs bytes.Buffer
	args := []string{"build", day, "-o", out, "--domain", domain}
	if code := run(context.Background(), args, strings.NewReader(""), &stderr, &errs); code != 0 {
		t.Fatalf("exit %d\n%s%s", code, stderr.String(), errs.String())
	}
	manifest, err := os.ReadFile(filepath.Join(out, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	stage := func(name, field string) string {
		return gjson.GetBytes(manifest, `funnel.#(stage=="`+name+`").`+field).Raw
	}
	if stage("read", "out") != "15" || stage("filter", "out") != "15" || stage("score", "dropped.unsuccessful") != "1" || stage("score", "dropped.undeclared_outcome") != "2" {
		t.Errorf("of 15 recorded episodes, with 12 declared solved, 1 failed and 2 unknown:\n%s%s", stderr.String(), errs.String())
	}
}

// TestUnmeasuredPartsAreNotWeighed checks that weights of the shop are refused in another domain,
// and that an undeclared outcome masks the sample where success has a weight.
func TestUnmeasuredPartsAreNotWeighed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	domain, problems := writeTickets(t, dir, 1)
	ticketServer := ticketDesk(t, "").URL
	var output, errs bytes.Buffer
	args := []string{"env", "serve", "--unguarded", "--domain", domain, "--mcp", ticketServer, "--problems", problems, "--reward", "dense"}
	if code := run(context.Background(), args, strings.NewReader(""), &output, &errs); code != 2 || !strings.Contains(errs.String(), "judge, which is not measured in domain tickets") {
		t.Errorf("exit %d: %s", code, errs.String())
	}
	address, _ := serveTickets(t, "--domain", domain, "--mcp", ticketServer, "--problems", problems, "--reward", "strict")
	call := []string{"find_tickets", `{"words":"lamp"}`}
	if reward := ticketEpisode(t, address, "p0", map[string]any{}, call...); reward.Get("failure_kind").Str != "outcome_undeclared" || !reward.Get("mask_sample").Bool() {
		t.Errorf("an unknown outcome is paid: %s", reward)
	}
	if reward := ticketEpisode(t, address, "p0", map[string]any{"declared": 1}, call...); reward.Get("reward").Num != 1 || !reward.Get("success").Bool() {
		t.Errorf("a declared success is not paid: %s", reward)
	}
}

// playTickets plays two episodes with the class that TRL uses, and prints the tools' answers and
// the reward of each.
const playTickets = `
import json, sys
sys.path.insert(0, sys.argv[1])
from trl_env import ShopEnv

class Desk(ShopEnv):
    def _outcome(self):
        return self.solved

for solved in (1, 0):
    desk = Desk()
    desk.reset(problem_id="p1")
    desk.solved = solved
    found = desk.find_tickets(words="printer")
    rest = desk.list_all(page=2, rooms=["1"], **{"class": "a", "of-room": "7"})
    closed = desk.close_ticket(ticket="TK-12" if solved else "TK-77")
    print(json.dumps([found, rest, closed, desk.get_reward()]))
`

// TestADomainIsTrainedWithTheSameFiles takes recorded episodes of an MCP server that needs an API
// key through the whole chain: they are built into a corpus with their system prompts, the files of
// profile env replay the server, and env reward scores the recorded episodes as the server did.
func TestADomainIsTrainedWithTheSameFiles(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	t.Setenv("TICKET_KEY", "s3same")
	dir := t.TempDir()
	domain, problems := writeTickets(t, dir, 12)
	system := filepath.Join(dir, "system.txt")
	if err = os.WriteFile(system, []byte("You are the desk."), 0o600); err != nil {
		t.Fatal(err)
	}
	day := filepath.Join(dir, "day")
	out := filepath.Join(dir, "out")
	exported := filepath.Join(dir, "exported")
	weights := filepath.Join(dir, "weights.yaml")
	if err = os.WriteFile(weights, []byte("success: 1\ninvented_ids: -0.5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ticketServer := ticketDesk(t, "s3same").URL
	arena := func(wantCode int, args ...string) string {
		t.Helper()
		var output, errs bytes.Buffer
		if code := run(t.Context(), args, strings.NewReader(""), &output, &errs); code != wantCode {
			t.Fatalf("%v: exit %d\n%s%s", args, code, output.String(), errs.String())
		}
		return output.String() + errs.String()
	}
	serve := []string{"--domain", domain, "--mcp", ticketServer, "--problems", problems, "--reward", weights, "--system", system}
	if refused := arena(1, append([]string{"env", "serve", "--unguarded"}, serve...)...); !strings.Contains(refused, "--mcp-key-env names its token") {
		t.Errorf("without the key: %s", refused)
	}
	if refused := arena(2, "env", "serve", "--unguarded", "--problems", problems, "--system", system); !strings.Contains(refused, "go together") {
		t.Errorf("a system prompt in the shop: %s", refused)
	}

	address, stop := serveTickets(t, append(serve, "--mcp-key-env", "TICKET_KEY", "--record", day)...)
	for i := range 12 {
		ticketEpisode(t, address, fmt.Sprint("p", i), map[string]any{"declared": 1}, "find_tickets", `{"words":"lamp"}`, "close_ticket", `{"ticket":"TK-12"}`)
	}
	arena(0, "build", day, "-o", out, "--domain", domain, "-q")
	arena(0, "export", out, "-p", "env", "-o", exported, "-q")
	c := exec.CommandContext(t.Context(), python, "-c", playTickets, filepath.Join(exported, "env"))
	c.Env = append(os.Environ(), "ARENA_ENV="+address)
	played, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v", played, err)
	}
	episodes := gjson.Parse("[" + strings.ReplaceAll(strings.TrimSpace(string(played)), "\n", ",") + "]").Array()
	if len(episodes) != 2 || episodes[0].Get("3").Num != 1 || episodes[1].Get("3").Num != -0.5 {
		t.Errorf("a good and a bad episode: %s", played)
	}
	if resultText := episodes[0].Get("1").Str; !strings.HasPrefix(resultText, "Error: the result has 1310720 bytes") {
		t.Errorf("a long result is answered %.80q", resultText)
	}
	stop()

	lines := gjson.Parse("[" + strings.ReplaceAll(strings.TrimSpace(arena(0, "env", "reward", day, "--domain", domain, "--reward", weights, "-q")), "\n", ",") + "]").Array()
	total := 0.0
	for _, line := range lines {
		total += line.Get("reward").Num
	}
	if len(lines) != 14 || total != 12.5 {
		t.Errorf("%d episodes are paid %v, and the server paid 14 of them 12.5", len(lines), total)
	}
	if refused := arena(2, "env", "reward", day, "--domain", "shop"); !strings.Contains(refused, "leave --domain out") {
		t.Errorf("the shop by --domain: %s", refused)
	}
	row, err := os.ReadFile(filepath.Join(exported, "env", "train.jsonl"))
	if err != nil || gjson.GetBytes(row, "prompt.0.content").Str != "You are the desk." {
		t.Errorf("the system prompt is not the first message: %.300s, %v", row, err)
	}
}

// TestAToolThatHangsEndsWithTheEpisode checks that a tool which never answers masks the sample when
// the time limit of the episode ends.
func TestAToolThatHangsEndsWithTheEpisode(t *testing.T) {
	t.Parallel()
	domain, problems := writeTickets(t, t.TempDir(), 1)
	address, _ := serveTickets(t, "--domain", domain, "--mcp", ticketDesk(t, "").URL, "--problems", problems, "--episode-timeout", "300ms")
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	for _, want := range []struct{ path, body, text string }{
		{"/seed_session", `{"problem_id":"p0"}`, `"problem_id":"p0"`},
		{"/wait", `{}`, `"failure_kind":"episode_expired"`},
		{"/verify", `{}`, `"mask_sample":true`},
	} {
		res, err := client.Post(address+want.path, "application/json", strings.NewReader(want.body)) //nolint:noctx // the server ends it
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || !strings.Contains(string(b), want.text) {
			t.Errorf("%s: %s %s, %v", want.path, res.Status, b, err)
		}
	}
}

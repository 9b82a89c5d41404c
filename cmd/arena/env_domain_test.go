package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
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
// tickets of each session.
func ticketDesk(t *testing.T) *httptest.Server {
	t.Helper()
	type words struct {
		Words string `json:"words"`
	}
	type ticket struct {
		Ticket string `json:"ticket"`
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
		mcp.AddTool(s, &mcp.Tool{Name: "done"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			return text("bye"), nil, nil
		})
		return s
	}, nil)
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

// writeTickets writes a domain and a file of n problems into a folder.
func writeTickets(t *testing.T, dir string, n int) (domain, problems string) {
	t.Helper()
	domain, problems = filepath.Join(dir, "tickets.yaml"), filepath.Join(dir, "problems.jsonl")
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
	said, err := c.StderrPipe()
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
	line, err := bufio.NewReader(said).ReadString('\n')
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

// TestAnyMCPServerIsAnEnvironment: with the tools of a domain that is one file, what is general is
// paid, what is not measured is null, and the recorded day keeps every episode.
func TestAnyMCPServerIsAnEnvironment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	domain, problems := writeTickets(t, dir, 12)
	day := filepath.Join(dir, "day")
	address, stop := serveTickets(t, "--domain", domain, "--mcp", ticketDesk(t).URL, "--problems", problems, "--record", day)

	const find, shown, unseen = `{"words":"lamp"}`, `{"ticket":"TK-12"}`, `{"ticket":"TK-1"}`
	for _, c := range []struct {
		name  string
		row   map[string]any
		calls []string
		parts string
		total float64
	}{
		{"good", map[string]any{"declared": 1}, []string{"find_tickets", find, "close_ticket", shown, "done", "{}"}, "0 0 0", 0},
		{"invented", map[string]any{"declared": 0}, []string{"find_tickets", find, "close_ticket", unseen}, "-0.1 0 0", -0.1},
		{"repeated", map[string]any{}, []string{"find_tickets", find, "find_tickets", `{"words": "lamp"}`}, "0 0 -0.05", -0.05},
		{"no such tool", map[string]any{"declared": nil}, []string{"recommend_product", `{"product_ids":"1"}`, "find_tickets", find}, "0 -0.05 0", -0.05},
	} {
		paid := ticketEpisode(t, address, "p0", c.row, c.calls...)
		parts := paid.Get("reward_components")
		got := fmt.Sprint(parts.Get("invented_ids").Num, " ", parts.Get("unreadable_calls").Num, " ", parts.Get("repeated_calls").Num)
		if paid.Get("mask_sample").Bool() || got != c.parts || paid.Get("reward").Num != c.total {
			t.Errorf("%s: %s", c.name, paid)
		}
		for _, part := range []string{"judge", "rule", "price", "gold_in_view", "steps"} {
			if parts.Get(part).Raw != "null" {
				t.Errorf("%s: part %s of the shop is %s", c.name, part, parts.Get(part).Raw)
			}
		}
		want := map[any]string{nil: "null", 0: "false", 1: "true"}[c.row["declared"]]
		if paid.Get("success").Raw != want || paid.Get("score").Raw != "null" || paid.Get("flag_recommends_everything").Exists() {
			t.Errorf("%s: success %s, want %s: %s", c.name, paid.Get("success").Raw, want, paid)
		}
	}
	for i := 1; i < 12; i++ {
		ticketEpisode(t, address, fmt.Sprint("p", i), map[string]any{"declared": 1}, "find_tickets", find, "close_ticket", shown)
	}
	stop()

	out := filepath.Join(dir, "out")
	var said, errs bytes.Buffer
	args := []string{"build", day, "-o", out, "--domain", domain}
	if code := run(context.Background(), args, strings.NewReader(""), &said, &errs); code != 0 {
		t.Fatalf("exit %d\n%s%s", code, said.String(), errs.String())
	}
	manifest, err := os.ReadFile(filepath.Join(out, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	stage := func(name, field string) string {
		return gjson.GetBytes(manifest, `funnel.#(stage=="`+name+`").`+field).Raw
	}
	if stage("read", "out") != "15" || stage("filter", "out") != "15" || stage("score", "dropped.unsuccessful") != "1" || stage("score", "dropped.no_score") != "2" {
		t.Errorf("of 15 recorded episodes, with 12 declared solved, 1 failed and 2 unknown:\n%s%s", said.String(), errs.String())
	}
}

// TestUnmeasuredPartsAreNotWeighed: weights of the shop are refused in another domain, and an
// outcome that was not declared masks the sample where success has a weight.
func TestUnmeasuredPartsAreNotWeighed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	domain, problems := writeTickets(t, dir, 1)
	desk := ticketDesk(t).URL
	var said, errs bytes.Buffer
	args := []string{"env", "serve", "--unguarded", "--domain", domain, "--mcp", desk, "--problems", problems, "--reward", "dense"}
	if code := run(context.Background(), args, strings.NewReader(""), &said, &errs); code != 2 || !strings.Contains(errs.String(), "judge, which is not measured in domain tickets") {
		t.Errorf("exit %d: %s", code, errs.String())
	}
	address, _ := serveTickets(t, "--domain", domain, "--mcp", desk, "--problems", problems, "--reward", "strict")
	call := []string{"find_tickets", `{"words":"lamp"}`}
	if paid := ticketEpisode(t, address, "p0", map[string]any{}, call...); paid.Get("failure_kind").Str != "outcome_undeclared" || !paid.Get("mask_sample").Bool() {
		t.Errorf("an unknown outcome is paid: %s", paid)
	}
	if paid := ticketEpisode(t, address, "p0", map[string]any{"declared": 1}, call...); paid.Get("reward").Num != 1 || !paid.Get("success").Bool() {
		t.Errorf("a declared success is not paid: %s", paid)
	}
}

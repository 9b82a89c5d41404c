package gym_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/environment"
	"github.com/trajectory-arena/arena/environment/gym"
	"github.com/trajectory-arena/arena/environment/reward"
	"github.com/trajectory-arena/arena/environment/toolserver"
	"github.com/trajectory-arena/arena/internal/longtest"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/internal/python"
	"github.com/trajectory-arena/arena/judges/shop/outcome"
	"github.com/trajectory-arena/arena/shop"
	"github.com/trajectory-arena/arena/student"
	"github.com/trajectory-arena/arena/student/dialect"
	"github.com/trajectory-arena/arena/student/rollout"
	"github.com/trajectory-arena/arena/traces"
)

// day returns the folder of problems and catalogue: the labelled day if it is available.
func day() string {
	if shared := longtest.SharedFolder(); shared != "" {
		return filepath.Join(shared, "data", "day")
	}
	return "../../testdata/day"
}

// open returns the environment of a day, with the offline rules and no judge.
func open(t testing.TB, preset string) *environment.Environment {
	t.Helper()
	problems, err := student.ReadProblems(filepath.Join(day(), "problems.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := shop.Open(t.Context(), filepath.Join(day(), "catalog.jsonl"), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = catalog.Close() })
	h, err := shop.Profile("7-tool")
	if err != nil {
		t.Fatal(err)
	}
	template := model.NewTemplate("env", h.System, model.Sampling{}, nil)
	weights, err := reward.Open(preset)
	if err != nil {
		t.Fatal(err)
	}
	names, err := shop.ToolNames("7-tool")
	if err != nil {
		t.Fatal(err)
	}
	return &environment.Environment{
		Problems: problems, Harness: h, Limits: environment.DefaultLimits(), Now: time.Now, NewID: rand.Text,
		Rewarder: &environment.Rewarder{Suite: arena.NewSuite(problems.All), Scorer: outcome.New(catalog, nil), Weights: weights},
		Player: &rollout.Environment{
			Template: template, Dialect: dialect.Native, NoCall: rollout.Continue, Form: rollout.Chat, MaxSteps: 25, ToolNames: names,
			Rules: shop.SubnetRules, Server: shop.Local{Catalog: catalog, Rules: shop.SubnetRules}, Request: arena.Raw(`{"model":"env"}`), Has: catalog.Has,
		},
	}
}

// move is one call of the scripted student.
type move struct{ name, arguments string }

// script returns the moves of the student at a problem: it solves those of even number.
func script(p *arena.Problem, i int) []move {
	quoted := func(s string) string {
		b, _ := json.Marshal(s)
		return string(b)
	}
	ids := make([]string, len(p.Rewards))
	for k, r := range p.Rewards {
		ids[k] = r.ProductID
	}
	gold := strings.Join(ids, ",")
	moves := []move{
		{"find_product", `{"q": ` + quoted(words(p.Query, 3+i%7)) + `, "page": 1}`},
		{"view_product_information", `{"product_ids":` + quoted(gold) + `}`},
		{"no_such_tool", `{}`},
		{"find_product", `{"page":"x"}`},
	}
	if i%2 == 1 {
		gold = "1"
	}
	return append(moves, move{"recommend_product", `{"product_ids":` + quoted(gold) + `}`}, move{"terminate", `{"status":"success"}`})
}

// words are the first n words of a text.
func words(text string, n int) string {
	words := strings.Fields(text)
	return strings.Join(words[:min(n, len(words))], " ")
}

func (m move) call(i int) model.Call {
	return model.Call{ID: fmt.Sprintf("c%d", i), Type: "function", Function: model.Function{Name: m.name, Arguments: m.arguments}}
}

// scripted answers as a model that plays moves, and records the results of its tools.
type scripted struct {
	moves   []move
	n       int
	answers []string
}

func (s *scripted) Chat(_ context.Context, request model.Body) (model.Reply, []byte, error) {
	s.answers = s.answers[:0]
	for _, m := range gjson.GetBytes(bytes.Join(request, nil), "messages").Array() {
		if m.Get("role").Str == "tool" {
			s.answers = append(s.answers, m.Get("content").String())
		}
	}
	body, err := json.Marshal(map[string]any{"id": fmt.Sprint(s.n), "choices": []any{map[string]any{"finish_reason": "tool_calls", "message": map[string]any{
		"content": "", "reasoning_content": "I look on.", "tool_calls": []model.Call{s.moves[s.n].call(s.n)},
	}}}})
	if err != nil {
		return model.Reply{}, nil, err
	}
	s.n++
	r, err := model.ReadTurn(body)
	return r, body, err
}

// client calls a server as a trainer does.
type client struct {
	t    *testing.T
	url  string
	http *http.Client
}

func newClient(t *testing.T, url string) *client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &client{t: t, url: url, http: &http.Client{Jar: jar}}
}

func (c *client) post(path, body string, headers ...string) (int, string) {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, c.url+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := c.http.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// account returns a Responses object with the student's moves and the answers.
func account(moves []move, answers []string) string {
	var items []any
	for i, m := range moves {
		items = append(items, map[string]any{"type": "reasoning", "summary": []any{map[string]any{"type": "summary_text", "text": "I look on."}}},
			map[string]any{"type": "function_call", "call_id": fmt.Sprintf("c%d", i), "name": m.name, "arguments": m.arguments},
			map[string]any{"type": "function_call_output", "call_id": fmt.Sprintf("c%d", i), "output": answers[i]})
	}
	b, _ := json.Marshal(map[string]any{"responses_create_params": map[string]any{"input": "x"}, "response": map[string]any{"output": items}, "instance_config": map[string]any{"k": 1}})
	return string(b)
}

// TestAnEpisodeIsWhatEvalPlays holds that the same student receives the same bytes and the same
// reward in eval's loop, over HTTP and over MCP.
func TestAnEpisodeIsWhatEvalPlays(t *testing.T) {
	t.Parallel()
	e := open(t, "dense")
	s := httptest.NewServer(gym.Handler(e, gym.Options{Failures: gym.Masked}))
	defer s.Close()
	solved := 0
	n := longtest.Pick(200, 25)
	for i := range n {
		index := i % len(e.Problems.All)
		p := &e.Problems.All[index]
		id := e.Problems.IDs[index]
		moves := script(p, i)
		asker := &scripted{moves: moves}
		player := *e.Player
		result, err := player.Play(t.Context(), rollout.Task{Problem: p, ID: id, RunID: "eval"}, asker, func(rollout.Turn) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		want, err := e.Rewarder.Scorer.Score(t.Context(), result.Trace, p)
		if err != nil {
			t.Fatal(err)
		}
		if want.Success {
			solved++
		}
		previous := append([]string{}, asker.answers...) // all but the last answer
		overHTTP(t, newClient(t, s.URL), id, moves, previous, want)
		overMCP(t, newClient(t, s.URL), id, moves, previous, want)
	}
	if solved == 0 || solved == n {
		t.Errorf("the student solves %d of %d", solved, n)
	}
}

func overHTTP(t *testing.T, c *client, id string, moves []move, previous []string, want arena.Outcome) {
	t.Helper()
	if status, body := c.post("/seed_session", `{"problem_id":`+fmt.Sprintf("%q", id)+`}`); status != http.StatusOK {
		t.Fatalf("%s: seeded with %d %s", id, status, body)
	}
	var answers []string
	for _, m := range moves {
		status, text := c.post("/"+m.name, m.arguments)
		if status != http.StatusOK {
			t.Fatalf("%s %s: %d %s", id, m.name, status, text)
		}
		answers = append(answers, text)
	}
	for i, text := range previous {
		if answers[i] != text {
			t.Fatalf("%s: call %d is answered\n%s\nin eval\n%s", id, i, answers[i], text)
		}
	}
	paidAs(t, c, id, moves, answers, want)
}

func paidAs(t *testing.T, c *client, id string, moves []move, answers []string, want arena.Outcome) {
	t.Helper()
	status, body := c.post("/verify", account(moves, answers))
	v := gjson.Parse(body)
	if status != http.StatusOK || v.Get("mask_sample").Bool() || v.Get("success").Bool() != want.Success || v.Get("score").Raw != string(outcome.AppendScores(nil, want.Scores)) {
		t.Fatalf("%s: paid %d %s, want success %v and score %s", id, status, body, want.Success, outcome.AppendScores(nil, want.Scores))
	}
	sum := 0.0
	v.Get("reward_components").ForEach(func(_, c gjson.Result) bool {
		sum += c.Num
		return true
	})
	if sum != v.Get("reward").Num || !v.Get("responses_create_params").Exists() || !v.Get("response.output").Exists() || v.Get("flag_"+environment.FlagOtherCalls).Exists() {
		t.Fatalf("%s: components sum to %v: %s", id, sum, body)
	}
	if again, twice := c.post("/verify", account(moves, answers)); again != status || twice != body {
		t.Fatalf("%s: asked again it is paid %d %s", id, again, twice)
	}
}

// headed sends the session's headers.
type headed struct{ headers map[string]string }

func (h headed) RoundTrip(r *http.Request) (*http.Response, error) {
	for k, v := range h.headers {
		r.Header.Set(k, v)
	}
	return http.DefaultTransport.RoundTrip(r)
}

func overMCP(t *testing.T, c *client, id string, moves []move, previous []string, want arena.Outcome) {
	t.Helper()
	_, body := c.post("/seed_session", `{"problem_id":`+fmt.Sprintf("%q", id)+`}`)
	var seeded struct {
		MCP struct {
			Path    string            `json:"url_path"`
			Headers map[string]string `json:"headers"`
		} `json:"mcp"`
	}
	if err := json.Unmarshal([]byte(body), &seeded); err != nil {
		t.Fatal(err)
	}
	transport := &mcp.StreamableClientTransport{Endpoint: c.url + seeded.MCP.Path, HTTPClient: &http.Client{Transport: headed{seeded.MCP.Headers}}}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	tools, err := session.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 7 {
		t.Fatalf("%d tools, %v", len(tools.Tools), err)
	}
	var answers []string
	var played []move
	for i, m := range moves {
		if m.name == "no_such_tool" {
			continue // the protocol itself refuses it
		}
		played = append(played, m)
		r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: m.name, Arguments: json.RawMessage(m.arguments)})
		if err != nil {
			t.Fatal(err)
		}
		text := r.Content[0].(*mcp.TextContent).Text
		if i < len(previous) && text != previous[i] {
			t.Fatalf("%s: call %d is answered\n%s\nin eval\n%s", id, i, text, previous[i])
		}
		answers = append(answers, text)
	}
	status, reply := c.post("/verify", account(played, answers))
	if status != http.StatusOK || gjson.Get(reply, "success").Bool() != want.Success {
		t.Fatalf("%s: paid %d %s", id, status, reply)
	}
}

// deaf is a shop that never answers.
type deaf struct{}

func (deaf) Get(context.Context, string, python.Value) (python.Value, int, bool) {
	return python.Value{}, 0, false
}

// TestFailuresOfOursAreMasked checks the answer to a failure of the environment in both styles: it
// names the kind and the reason of the failure, and either masks the sample or has status 503.
func TestFailuresOfOursAreMasked(t *testing.T) {
	t.Parallel()
	seeded := func(c *client, e *environment.Environment) {
		if status, body := c.post("/seed_session", fmt.Sprintf(`{"problem_id":%q}`, e.Problems.IDs[0])); status != http.StatusOK {
			t.Fatalf("seeded with %d %s", status, body)
		}
	}
	for kind, spoil := range map[string]func(*client, *environment.Environment){
		environment.FaultShop: func(c *client, e *environment.Environment) {
			e.Player.Server = deaf{}
			seeded(c, e)
			if status, body := c.post("/find_product", `{"q":"lamp"}`); status != http.StatusServiceUnavailable || gjson.Get(body, "failure_kind").Str != environment.FaultShop {
				t.Errorf("a call to a deaf shop: %d %s", status, body)
			}
		},
		environment.FaultUnknown: func(*client, *environment.Environment) {},
		environment.FaultExpired: func(c *client, e *environment.Environment) {
			e.Limits.Age = -1
			seeded(c, e)
			c.post("/find_product", `{"q":"lamp"}`)
		},
		environment.FaultRecord: func(c *client, e *environment.Environment) {
			var err error
			if e.Record, err = environment.NewRecord(t.TempDir(), "r", "m"); err != nil {
				t.Fatal(err)
			}
			if err = e.Record.Close(); err != nil {
				t.Fatal(err)
			}
			seeded(c, e)
		},
	} {
		for _, style := range []gym.FailureStyle{gym.Masked, gym.Status} {
			e := open(t, "strict")
			s := httptest.NewServer(gym.Handler(e, gym.Options{Failures: gym.Masked}))
			c := newClient(t, s.URL)
			spoil(c, e)
			status, body := c.post("/verify", `{"instance_config":{"k":1},"responses_create_params":{}}`, gym.StyleHeader, string(style))
			v := gjson.Parse(body)
			masked := status == http.StatusOK && v.Get("mask_sample").Bool() && v.Get("instance_config.mask_sample").Bool() && v.Get("instance_config.k").Int() == 1
			if v.Get("failure_kind").Str != kind || v.Get("failure_reason").Str == "" || masked != (style == gym.Masked) || (status == http.StatusServiceUnavailable) != (style == gym.Status) {
				t.Errorf("%s as %s: %d %s", kind, style, status, body)
			}
			s.Close()
		}
	}
}

func TestWhatIsRefused(t *testing.T) {
	t.Parallel()
	e := open(t, "strict")
	e.Refused = map[string]string{e.Problems.IDs[1]: "its cluster is eval"}
	e.Limits.Episodes = 1
	s := httptest.NewServer(gym.Handler(e, gym.Options{Failures: gym.Masked, Token: "secret"}))
	defer s.Close()
	c := newClient(t, s.URL)
	key := []string{"Authorization", "Bearer secret"}
	for _, tt := range []struct {
		name, path, body string
		headers          []string
		status           int
		words            string
	}{
		{"no token", "/seed_session", `{}`, nil, 401, "token"},
		{"another token", "/seed_session", `{}`, []string{"Authorization", "Bearer secret2"}, 401, "token"},
		{"a page of another site", "/seed_session", `{}`, append([]string{"Sec-Fetch-Site", "cross-site"}, key...), 403, ""},
		{"no JSON", "/seed_session", `{`, key, 400, "not JSON"},
		{"an unknown problem", "/seed_session", `{"problem_id":"../../etc/passwd"}`, key, 404, "no such problem"},
		{"a protected problem", "/seed_session", fmt.Sprintf(`{"problem_id":%q}`, e.Problems.IDs[1]), key, 403, "its cluster is eval"},
		{"a huge call", "/find_product", `{"q":"` + strings.Repeat("x", 300<<10) + `"}`, key, 413, "too large"},
		{"a call without an episode", "/find_product", `{"q":"x"}`, key, 503, "episode_unknown"},
		{"an episode", "/seed_session", fmt.Sprintf(`{"problem_id":%q}`, e.Problems.IDs[0]), key, 200, "mcp"},
		{"one too many", "/seed_session", fmt.Sprintf(`{"problem_id":%q}`, e.Problems.IDs[0]), key, 503, "too many episodes"},
		{"an account that is no list", "/verify", `{"response":{"output":7}}`, key, 400, "no list"},
	} {
		if status, body := c.post(tt.path, tt.body, tt.headers...); status != tt.status || !strings.Contains(body, tt.words) {
			t.Errorf("%s: %d %s", tt.name, status, body)
		}
	}
}

// lostJudge is a judge whose server cannot be reached, at an address with a key.
type lostJudge struct{}

func (lostJudge) Judge(context.Context, *arena.Trace, *arena.Dialogue) (arena.Judgement, error) {
	return arena.Judgement{}, errors.New("post http://user:hunter2canary@127.0.0.1:9/v1?api_key=sk-canary4711x9q2: refused")
}

// TestAFailedJudgeTellsNoKey checks the answer to a trajectory that the judge cannot grade.
func TestAFailedJudgeTellsNoKey(t *testing.T) {
	t.Parallel()
	e := open(t, "strict")
	e.Rewarder.Judge = lostJudge{}
	s := httptest.NewServer(gym.Handler(e, gym.Options{Failures: gym.Masked}))
	defer s.Close()
	_, body := newClient(t, s.URL).post("/reward", fmt.Sprintf(`{"problem_id":%q,"messages":[
		{"role":"user","content":"a lamp"},{"role":"assistant","content":"None is here."}]}`, e.Problems.IDs[0]))
	failure := gjson.Get(body, "failure").Str
	if !strings.HasPrefix(failure, environment.FaultJudge+": ") || strings.Contains(failure, "canary") {
		t.Errorf("%s", body)
	}
}

// TestAnUnknownRewardIsNotZero checks the metrics of a batch in which one reward is null and one is
// missing, and the outcome of one is no boolean.
func TestAnUnknownRewardIsNotZero(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(gym.Handler(open(t, "strict"), gym.Options{Failures: gym.Masked}))
	defer s.Close()
	_, body := newClient(t, s.URL).post("/aggregate_metrics", `{"verify_responses":[
		{"reward":0.5,"success":true},{"reward":0.5,"success":1},{"reward":0.5},{"reward":null},{"success":null},{"reward":0,"mask_sample":true}]}`)
	metrics := gjson.Get(body, "key_metrics")
	for name, want := range map[string]float64{"mean/reward": 0.5, "mean/success": 1, "known_outcomes": 1, "scored": 3, "masked": 1, "unrewarded": 2} {
		if got := metrics.Get(gjson.Escape(name)).Float(); got != want {
			t.Errorf("%s %v, want %v in %s", name, got, want, body)
		}
	}
}

// TestOnlyCallsThatWereMadeArePaid holds that a recommendation in text alone, without a call, is
// not rewarded.
func TestOnlyCallsThatWereMadeArePaid(t *testing.T) {
	t.Parallel()
	e := open(t, "strict")
	s := httptest.NewServer(gym.Handler(e, gym.Options{Failures: gym.Masked}))
	defer s.Close()
	c := newClient(t, s.URL)
	moves := script(&e.Problems.All[0], 0)
	c.post("/seed_session", fmt.Sprintf(`{"problem_id":%q}`, e.Problems.IDs[0]))
	c.post("/"+moves[0].name, moves[0].arguments)
	_, body := c.post("/verify", account(moves, make([]string, len(moves))))
	if v := gjson.Parse(body); v.Get("reward").Num != 0 || v.Get("success").Bool() || v.Get("flag_"+environment.FlagOtherCalls).Int() != 1 {
		t.Errorf("paid %s", body)
	}
}

// TestRecordedEpisodesAreADay checks that the recorded episodes of the server are read as the
// attempts of a day.
func TestRecordedEpisodesAreADay(t *testing.T) {
	t.Parallel()
	e := open(t, "strict")
	dir := t.TempDir()
	var err error
	if e.Record, err = environment.NewRecord(dir, "env-1", "m"); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(gym.Handler(e, gym.Options{Failures: gym.Masked}))
	defer s.Close()
	for _, i := range []int{0, 1, 0, 0, 0, 0, 2, 0, 0, 0} { // GRPO plays a problem eight times
		c := newClient(t, s.URL)
		moves := script(&e.Problems.All[i], i)
		c.post("/seed_session", fmt.Sprintf(`{"problem_id":%q}`, e.Problems.IDs[i]))
		var answers []string
		for _, m := range moves {
			_, text := c.post("/"+m.name, m.arguments)
			answers = append(answers, text)
		}
		c.post("/verify", account(moves, answers))
	}
	if err = e.Record.Close(); err != nil {
		t.Fatal(err)
	}
	inputs, err := traces.Discover(dir)
	if err != nil || len(inputs) != 8 {
		t.Fatalf("%d inputs, %v", len(inputs), err)
	}
	ids := map[string]bool{}
	for _, input := range inputs {
		_, err = traces.Read(t.Context(), input, traces.Defaults(), func(it traces.Item) error {
			if it.Fault != nil {
				t.Errorf("fault %v", it.Fault)
				return nil
			}
			ids[it.Trace.ID] = true
			if len(it.Trace.Steps) != 6 || it.Trace.Steps[0].Think != "I look on." {
				t.Errorf("read %s with %d steps", it.Trace.ID, len(it.Trace.Steps))
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	if eighth := "env-1-s7/" + e.Problems.IDs[0]; len(ids) != 10 || !ids[eighth] {
		t.Errorf("attempts %v, not ten with %s", slices.Sorted(maps.Keys(ids)), eighth)
	}
}

// FuzzRequests holds that no request ends the server, and that rewards are sent as JSON.
func FuzzRequests(f *testing.F) {
	e := open(f, "strict")
	e.Limits.Episodes = 2
	h := gym.Handler(e, gym.Options{Failures: gym.Masked})
	ask := func(path, body, session string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		r.URL.Path = "/" + path
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set(gym.SessionHeader, session)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	response := ask("seed_session", fmt.Sprintf(`{"problem_id":%q}`, e.Problems.IDs[0]), "")
	id := gjson.Get(response.Body.String(), "mcp.headers."+gym.SessionHeader).String()
	if id == "" {
		f.Fatal(response.Body.String())
	}
	f.Add("find_product", `{"q":"lamp","page":1}`)
	f.Add("verify", account([]move{{"find_product", `{"q":"x"}`}}, []string{"[]"}))
	f.Add("reward", `{"completions":[[{"role":"assistant","content":"x"}]],"problem_id":["p"]}`)
	f.Add("aggregate_metrics", `{"verify_responses":[{"reward":1},{"reward":null}]}`)
	f.Add("mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"find_product","arguments":{"q":"x"}}}`)
	f.Fuzz(func(t *testing.T, path, body string) {
		w := ask(path, body, id)
		isPaid := path == "verify" || path == "reward"
		if isPaid && w.Code == http.StatusOK && !json.Valid(w.Body.Bytes()) {
			t.Errorf("%q is answered with %q", body, w.Body.String())
		}
	})
}

// TestASlowToolAnswers calls a tool that takes longer than the server's limits for a request.
func TestASlowToolAnswers(t *testing.T) {
	t.Parallel()
	const limit, slow = 100 * time.Millisecond, 400 * time.Millisecond
	tools := mcp.NewServer(&mcp.Implementation{Name: "desk", Version: "1"}, nil)
	mcp.AddTool(tools, &mcp.Tool{Name: "find"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		time.Sleep(slow)
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "a mug"}}}, nil, nil
	})
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return tools }, &mcp.StreamableHTTPOptions{Stateless: true}))
	defer web.Close()
	e := open(t, "strict")
	var err error
	if e.Tools, err = toolserver.Open(t.Context(), web.URL, "", &domain.Domain{}); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(gym.Handler(e, gym.Options{Failures: gym.Masked}))
	s.Config.ReadTimeout = limit
	s.Config.WriteTimeout = limit
	s.Start()
	defer s.Close()
	c := newClient(t, s.URL)
	c.post("/seed_session", fmt.Sprintf(`{"problem_id":%q}`, e.Problems.IDs[0]))
	if status, body := c.post("/find", "{}"); status != http.StatusOK || body != "a mug" {
		t.Errorf("status %d: %s", status, body)
	}
}

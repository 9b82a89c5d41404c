package student

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trajectory-arena/arena/internal/evaluation"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/internal/script"
	"github.com/trajectory-arena/arena/judges/shop/gates"
	"github.com/trajectory-arena/arena/judges/shop/outcome"
	"github.com/trajectory-arena/arena/shop"
	"github.com/trajectory-arena/arena/student/dialect"
	"github.com/trajectory-arena/arena/student/rollout"
)

const gold = "900001"

func openShop(t testing.TB) *shop.Catalog {
	t.Helper()
	path := filepath.Join(t.TempDir(), "catalog.jsonl")
	var b strings.Builder
	for i, title := range []string{"Blue desk lamp", "Red desk lamp", "Garden hose"} {
		fmt.Fprintf(&b, `{"product_id":"90000%d","shop_id":"5","title":%q,"price":%d,"service":["COD"],"sold_count":1,"short_description":"","description":"","attributes":{"colour":["blue"]},"sku_options":{}}`+"\n", i+1, title, 10*(i+1))
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := shop.Open(t.Context(), path, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func call(name, arguments string) script.Act {
	return script.Act{Content: "<think>The next step is clear.</think>", Calls: []script.Call{{Name: name, Arguments: arguments}}}
}

var (
	search    = call("find_product", `{"q": "desk lamp"}`)
	recommend = call("recommend_product", `{"product_ids": "`+gold+`"}`)
	terminate = call("terminate", `{"status": "success"}`)
)

// say returns an act without calls.
func say(content string) script.Act { return script.Act{Content: content} }

// reset and cut are connections that break before a reply and during one.
func reset(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

func cut(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "5000")
	_, _ = w.Write([]byte(`{"choices":[{"message":{"content":"ha`))
}

// behaviour is a plan with its expected result.
type behaviour struct {
	plan  script.Plan
	stop  rollout.Stop
	label rollout.Label
	infra string
	turns int
}

// behaviours are the scripts: one per label, per stop and per fault.
func behaviours() map[string]behaviour {
	fault := func(f script.Fault, times int) script.Act {
		a := search
		a.Fault = f
		a.Times = times
		return a
	}
	bad := call("find_product", `{"q": "lamp"`)
	return map[string]behaviour{
		"solve":                 {plan: script.Plan{search, recommend, terminate}, stop: rollout.StopTerminated, turns: 3},
		"solve at once":         {plan: script.Plan{{Calls: []script.Call{{Name: "recommend_product", Arguments: `{"product_ids":"` + gold + `"}`}, {Name: "terminate", Arguments: "{}"}}}}, stop: rollout.StopTerminated, turns: 1},
		"wrong":                 {plan: script.Plan{search, call("recommend_product", `{"product_ids":"900002"}`), terminate}, stop: rollout.StopTerminated, label: rollout.LabelWrongProduct, turns: 3},
		"hallucinate":           {plan: script.Plan{search, call("recommend_product", `{"product_ids":"123"}`), terminate}, stop: rollout.StopTerminated, label: rollout.LabelHallucinated, turns: 3},
		"loop":                  {plan: script.Plan{search}, stop: rollout.StopMaxSteps, label: rollout.LabelLoop, turns: 6},
		"wander":                {plan: script.Plan{search, call("find_product", `{"q":"hose"}`), search, call("find_product", `{"q":"hose"}`), search, call("find_product", `{"q":"x"}`)}, stop: rollout.StopMaxSteps, label: rollout.LabelNoRecommendation, turns: 6},
		"give up":               {plan: script.Plan{search, terminate}, stop: rollout.StopTerminated, label: rollout.LabelNoRecommendation, turns: 2},
		"malformed":             {plan: script.Plan{bad}, stop: rollout.StopMalformed, label: rollout.LabelMalformedCall, turns: 3},
		"recovers":              {plan: script.Plan{bad, bad, search, bad, bad, terminate}, stop: rollout.StopTerminated, label: rollout.LabelNoRecommendation, turns: 6},
		"unknown tool":          {plan: script.Plan{call("buy_product", `{"q":"x"}`)}, stop: rollout.StopMalformed, label: rollout.LabelMalformedCall, turns: 3},
		"not an object":         {plan: script.Plan{call("find_product", `["lamp"]`)}, stop: rollout.StopMalformed, label: rollout.LabelMalformedCall, turns: 3},
		"wrong keyword":         {plan: script.Plan{call("find_product", `{"query":"x"}`), recommend, terminate}, stop: rollout.StopTerminated, turns: 3},
		"unclosed":              {plan: script.Plan{say(`<tool_call>[{"name":"find_product"`)}, stop: rollout.StopMalformed, label: rollout.LabelMalformedCall, turns: 3},
		"talk":                  {plan: script.Plan{search, say("I would take the first one.")}, stop: rollout.StopNoToolCall, label: rollout.LabelNoToolCall, turns: 2},
		"refuse":                {plan: script.Plan{say("I'm sorry, but I can't help with that.")}, stop: rollout.StopNoToolCall, label: rollout.LabelRefusal, turns: 1},
		"refuse field":          {plan: script.Plan{{Refusal: "No."}}, stop: rollout.StopNoToolCall, label: rollout.LabelRefusal, turns: 1},
		"refuse and break":      {plan: script.Plan{say(`I'm sorry, but I can't help with that. <tool_call>[{"name":"find_product"`)}, stop: rollout.StopMalformed, label: rollout.LabelRefusal, turns: 3},
		"empty":                 {plan: script.Plan{say("  ")}, stop: rollout.StopNoToolCall, label: rollout.LabelEmptyReply, turns: 1},
		"think only":            {plan: script.Plan{say("<think>Hmm, the lamp.</think>")}, stop: rollout.StopNoToolCall, label: rollout.LabelThinkOnly, turns: 1},
		"think open":            {plan: script.Plan{say(`<think>Hmm <tool_call>[{"name":"terminate","parameters":{}}]</tool_call>`)}, stop: rollout.StopNoToolCall, label: rollout.LabelThinkOnly, turns: 1},
		"reasoning":             {plan: script.Plan{{Reasoning: "Hmm."}}, stop: rollout.StopNoToolCall, label: rollout.LabelReasoningOnly, turns: 1},
		"cut off":               {plan: script.Plan{search, {Content: "I think that", Finish: "length"}}, stop: rollout.StopTruncated, label: rollout.LabelTruncated, turns: 2},
		"cut in call":           {plan: script.Plan{{Content: `<tool_call>[{"na`, Finish: "length"}}, stop: rollout.StopTruncated, label: rollout.LabelTruncated, turns: 1},
		"overflow":              {plan: script.Plan{search, fault(script.Overflow, 0)}, stop: rollout.StopOverflow, label: rollout.LabelOverflow, turns: 1},
		"recommended then lost": {plan: script.Plan{search, recommend, say("done")}, stop: rollout.StopNoToolCall, turns: 3},
		"flaky server":          {plan: script.Plan{fault(script.Reply(503, "fault"), 1), fault(reset, 2), fault(script.NoChoices, 1), fault(script.Reply(200, "<html><body>Bad gateway</body></html>"), 1), fault(cut, 1), terminate}, stop: rollout.StopTerminated, label: rollout.LabelNoRecommendation, turns: 6},
		"limited":               {plan: script.Plan{fault(script.Reply(429, "fault"), 2), recommend, terminate}, stop: rollout.StopTerminated, turns: 3},
		"always 500":            {plan: script.Plan{search, fault(script.Reply(500, "fault"), 0)}, stop: rollout.StopInfra, infra: "http_500", turns: 1},
		"always 429":            {plan: script.Plan{fault(script.Reply(429, "fault"), 0)}, stop: rollout.StopInfra, infra: "http_429"},
		"refused 400":           {plan: script.Plan{fault(script.Reply(400, "fault"), 0)}, stop: rollout.StopInfra, infra: "http_400"},
		"no choices":            {plan: script.Plan{fault(script.NoChoices, 0)}, stop: rollout.StopInfra, infra: "unreadable"},
		"html":                  {plan: script.Plan{fault(script.Reply(200, "<html><body>Bad gateway</body></html>"), 0)}, stop: rollout.StopInfra, infra: "unreadable"},
		"cut body":              {plan: script.Plan{fault(cut, 0)}, stop: rollout.StopInfra, infra: "unreadable"},
		"reset":                 {plan: script.Plan{fault(reset, 0)}, stop: rollout.StopInfra, infra: "connection"},
	}
}

func problemFile(t testing.TB, names []string) Problems {
	t.Helper()
	path := filepath.Join(t.TempDir(), "problems.jsonl")
	var b strings.Builder
	for _, n := range names {
		fmt.Fprintf(&b, `{"problem_id":%q,"query":%q,"category":"Product","reward":{"product_id":%q,"title":["Blue desk lamp"]}}`+"\n", "p-"+n, n, gold)
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := ReadProblems(path)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// newRun is a run of problems against the server at url.
func newRun(t testing.TB, c *shop.Catalog, p Problems, url string, samples int, folder string) *Run {
	t.Helper()
	h, err := shop.Profile("7-tool")
	if err != nil {
		t.Fatal(err)
	}
	names, _ := shop.ToolNames("7-tool")
	template := model.NewTemplate("script", h.System, model.Sampling{}, h.Tools)
	return &Run{
		Spec: Spec{Schema: SpecSchema, Model: "script", Samples: samples, Dialect: dialect.Auto, MaxSteps: 6, Problems: len(p.All),
			ProblemsSHA256: p.SHA256, Harness: h.Name, System: h.System, CatalogXXH3: c.Checksum(), Search: "local", Judge: gates.Name},
		Problems: p, Asker: newPool(t, url, time.Minute), Scorer: outcome.New(c, nil), AtOnce: 16, Folder: folder,
		Environment: &rollout.Environment{
			Template: template, Dialect: dialect.Auto, MaxSteps: 6, ToolNames: names, Rules: shop.SubnetRules,
			Server: shop.Local{Catalog: c, Rules: shop.SubnetRules}, Request: `{"model":"script"}`, Has: c.Has,
		},
	}
}

func newPool(t testing.TB, url string, timeout time.Duration) *model.Pool {
	t.Helper()
	pool, err := model.NewPool(model.Config{URLs: []string{url + "/v1"}, Concurrency: 16, Timeout: timeout, Retries: 2, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

func readResults(t testing.TB, folder string) map[string]rollout.Result {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(folder, resultsFile))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]rollout.Result{}
	for line := range strings.Lines(string(b)) {
		var r rollout.Result
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		out[fmt.Sprintf("%s#%d", r.ProblemID, r.Sample)] = r
	}
	return out
}

// TestEveryBehaviourIsDistinguished plays every script in every dialect and compares each result,
// and the full summary, with what the script implies.
func TestEveryBehaviourIsDistinguished(t *testing.T) {
	t.Parallel()
	behaviourSet := behaviours()
	for _, d := range []string{"native", "oro", "hermes"} {
		t.Run(d, func(t *testing.T) {
			t.Parallel()
			var names []string
			for name := range behaviourSet {
				names = append(names, name)
			}
			server := &script.Server{Dialect: d, Plan: func(q string, _ int64) script.Plan { return behaviourSet[q].plan }}
			web := httptest.NewServer(server)
			defer web.Close()
			run := newRun(t, openShop(t), problemFile(t, names), web.URL, 1, filepath.Join(t.TempDir(), "run"))
			summary, err := run.Play(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			checkBehaviours(t, behaviourSet, names, 1, readResults(t, run.Folder), summary)
			for turn, n := range server.Asked() {
				if strings.HasPrefix(turn, "refused 400#") && n != 1 {
					t.Errorf("%s was asked %d times", turn, n)
				}
			}
		})
	}
}

// TestAServerThatHangs is asked nothing that must be answered in time.
func TestAServerThatHangs(t *testing.T) {
	t.Parallel()
	hang := behaviour{plan: script.Plan{{Fault: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }}}, stop: rollout.StopInfra, infra: "timeout"}
	web := httptest.NewServer(&script.Server{Dialect: "native", Plan: func(string, int64) script.Plan { return hang.plan }})
	defer web.Close()
	names := []string{"one", "two"}
	run := newRun(t, openShop(t), problemFile(t, names), web.URL, 1, filepath.Join(t.TempDir(), "run"))
	run.Asker = newPool(t, web.URL, 50*time.Millisecond)
	summary, err := run.Play(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range readResults(t, run.Folder) {
		if got.Stop != hang.stop || got.Turns != 0 || got.Infra == nil || *got.Infra != hang.infra || got.Success != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if summary.Scored != 0 || summary.Infra[hang.infra] != len(names) {
		t.Errorf("%+v", summary)
	}
}

func checkBehaviours(t *testing.T, behaviourSet map[string]behaviour, names []string, samples int, results map[string]rollout.Result, s *evaluation.Summary) {
	t.Helper()
	stops := map[string]int{}
	labels := map[string]int{}
	infra := map[string]int{}
	successes := 0
	for i := range samples * len(names) {
		name := names[i/samples]
		want := behaviourSet[name]
		got := results[fmt.Sprintf("p-%s#%d", name, i%samples)]
		stops[string(want.stop)]++
		if got.Stop != want.stop || got.Turns != want.turns {
			t.Errorf("%s: stop %s after %d turns, want %s after %d", name, got.Stop, got.Turns, want.stop, want.turns)
		}
		if want.infra != "" {
			infra[want.infra]++
			if got.Outcome != rollout.Infra || got.Infra == nil || *got.Infra != want.infra || got.Label != nil || got.Success != nil {
				t.Errorf("%s: %+v, want infra %s", name, got, want.infra)
			}
			continue
		}
		if got.Outcome != rollout.Scored || got.Label == nil || *got.Label != want.label {
			t.Errorf("%s: outcome %s label %v, want %q", name, got.Outcome, got.Label, want.label)
			continue
		}
		if want.label == "" {
			successes++
		} else {
			labels[string(want.label)]++
		}
		if *got.Success != (want.label == "") {
			t.Errorf("%s: success %v", name, *got.Success)
		}
	}
	n := samples * len(names)
	lost := 0
	for _, k := range infra {
		lost += k
	}
	got := []any{s.Problems, s.Samples, s.Scored, s.InfraErrors, s.Successes, s.Stops, s.Labels, s.Infra}
	want := []any{len(names), n, n - lost, lost, successes, stops, labels, infra}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
	if *s.ASRAll != float64(successes)/float64(n) || *s.ASRScored != float64(successes)/float64(n-lost) || math.Abs(s.Pass["pass@1"].Mean-*s.ASRScored) > 1e-12 {
		t.Errorf("rates: %v %v %v", *s.ASRAll, *s.ASRScored, s.Pass)
	}
}

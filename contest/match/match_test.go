package match

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/trajectory-arena/arena/contest/evolai"
	"github.com/trajectory-arena/arena/internal/longtest"
)

// vocabulary is the number of tokens of toy models. A text has one token for each byte.
const vocabulary = 40

// toy is a server of models whose next token depends on the last two tokens and on the name of
// the model. A name that ends in a number from 1 to 9 is the teacher with so much noise.
type toy struct {
	mu       sync.Mutex
	requests map[string]int
	// after is called with the number of requests so far, before each reply.
	after func(n int)
}

// logProbs returns the log-probabilities of all tokens that can follow the context.
func logProbs(model string, context []int) []float64 {
	draw := func(name string, token int) float64 {
		h := fnv.New64a()
		fmt.Fprint(h, name, context[max(0, len(context)-2):], token)
		return float64(h.Sum64()%1000) / 250
	}
	noise := float64(model[len(model)-1]-'0') / 10
	if model == "teacher" {
		noise = 0
	}
	logits := make([]float64, vocabulary)
	total := 0.0
	for i := range logits {
		logits[i] = draw("teacher", i) + noise*draw(model, i)
		total += math.Exp(logits[i])
	}
	for i := range logits {
		logits[i] -= math.Log(total)
	}
	return logits
}

func order(logits []float64) []int {
	ids := make([]int, len(logits))
	for i := range ids {
		ids[i] = i
	}
	slices.SortStableFunc(ids, func(a, b int) int {
		return -int(math.Copysign(1, logits[a]-logits[b]))
	})
	return ids
}

func (s *toy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Model     string          `json:"model"`
		Prompt    json.RawMessage `json:"prompt"`
		MaxTokens int             `json:"max_tokens"`
		Top       int             `json:"prompt_logprobs"`
	}
	if r.URL.Path != "/v1/completions" || json.NewDecoder(r.Body).Decode(&q) != nil {
		http.Error(w, "no", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.requests[fmt.Sprint(q.Model, string(q.Prompt), q.MaxTokens, q.Top)]++
	n := 0
	for _, times := range s.requests {
		n += times
	}
	after := s.after
	s.mu.Unlock()
	if after != nil {
		after(n)
	}
	ids := []int{0}
	text := ""
	if json.Unmarshal(q.Prompt, &text) == nil {
		for _, b := range []byte(text) {
			ids = append(ids, int(b)%vocabulary)
		}
	} else if err := json.Unmarshal(q.Prompt, &ids); err != nil {
		http.Error(w, "no", http.StatusBadRequest)
		return
	}
	choice := map[string]any{"prompt_token_ids": ids}
	if q.Top > 0 {
		choice["prompt_logprobs"] = promptLogProbs(q.Model, ids, q.Top)
	}
	var reply []int
	for range q.MaxTokens {
		reply = append(reply, order(logProbs(q.Model, append(slices.Clone(ids), reply...)))[0])
	}
	choice["token_ids"] = reply
	choice["text"] = fmt.Sprint(reply)
	_ = json.NewEncoder(w).Encode(map[string]any{"choices": []any{choice}})
}

func promptLogProbs(model string, ids []int, top int) []any {
	out := []any{nil}
	for i := 1; i < len(ids); i++ {
		logits := logProbs(model, ids[:i])
		position := map[string]any{}
		for rank, id := range order(logits) {
			if rank < top || id == ids[i] {
				position[fmt.Sprint(id)] = map[string]any{"logprob": logits[id], "rank": rank + 1}
			}
		}
		out = append(out, position)
	}
	return out
}

// round returns the configuration of a round on toy models, and their server.
func round(t *testing.T, contest string, prompts int) (*Config, *toy) {
	t.Helper()
	models := &toy{requests: map[string]int{}}
	server := httptest.NewServer(models)
	t.Cleanup(server.Close)
	var lines strings.Builder
	for i := range 3 * prompts {
		fmt.Fprintf(&lines, "{\"text\":\"prompt %d\"}\n", i)
	}
	path := filepath.Join(t.TempDir(), "prompts.jsonl")
	if err := os.WriteFile(path, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	c := DefaultConfig()
	c.Contest = contest
	c.Rule = "2026-04-02"
	c.Prompts = path
	c.Draw = prompts
	c.Seed = "a"
	c.NextSeed = "b"
	c.BlockHash = "0xab"
	c.MaxTokens = 4
	c.ThinkTokens = 3
	c.Concurrency = 1
	c.King = "m5"
	model := func(name string) Model {
		return Model{Name: name, Model: name, BaseURL: server.URL + "/v1"}
	}
	c.Teacher = model("teacher")
	for i, name := range []string{"m5", "m4", "m3"} {
		m := model(name)
		m.Miner = evolai.Miner{UID: 10 + i, Track: "transformer", Billions: 0.4 * float64(i+1), Revision: "r2"}
		if i == 2 {
			m.Track = "mamba2"
		}
		c.Students = append(c.Students, m)
	}
	before := model("m9")
	before.Revision = "r1"
	c.Students[1].Previous = &before
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	return &c, models
}

func run(t *testing.T, c *Config, dir string) (*Result, string) {
	t.Helper()
	r, err := Run(t.Context(), c, dir)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, ResultFile))
	if err != nil {
		t.Fatal(err)
	}
	return r, string(text)
}

// TestRun compares a round's KL in the top-20 form with that of the toy models themselves, and
// checks the decision.
func TestRun(t *testing.T) {
	t.Parallel()
	c, _ := round(t, SN97, 12)
	r, _ := run(t, c, t.TempDir())
	texts, err := draw(c.Prompts, c.Seed, c.Draw)
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"m5", "m4", "m3"} {
		for p, text := range texts {
			got := float64(r.Students[i].Prompts[p].Mean)
			want := trueTop20(name, text, c.MaxTokens)
			if math.Abs(got-want) > 1e-9 {
				t.Errorf("%s, prompt %d: %v, want %v", name, p, got, want)
			}
		}
	}
	d := r.Decision
	if !d.Crowned || d.Winner != "m3" || len(d.Forecasts) != 2 || d.Forecasts[1].Crown.Value < 0.5 || d.Forecasts[1].Better < 0.9 {
		t.Errorf("%+v", d)
	}
	if r.Students[0].Hidden[0].Form != "top20" || !r.Students[0].Hidden[0].Bound {
		t.Errorf("%+v", r.Students[0].Hidden)
	}
}

// trueTop20 computes the mean KL over the tokens that are among the 20 likeliest of both models.
func trueTop20(name, text string, positions int) float64 {
	ids := []int{0}
	for _, b := range []byte(text) {
		ids = append(ids, int(b)%vocabulary)
	}
	sum := 0.0
	for range positions {
		teacher := logProbs("teacher", ids)
		student := logProbs(name, ids)
		support := slices.DeleteFunc(order(teacher)[:20], func(id int) bool {
			return !slices.Contains(order(student)[:20], id)
		})
		totalTeacher := 0.0
		totalStudent := 0.0
		for _, id := range support {
			totalTeacher += math.Exp(teacher[id])
			totalStudent += math.Exp(student[id])
		}
		for _, id := range support {
			p := math.Exp(teacher[id]) / totalTeacher
			sum += p * math.Log(p/(math.Exp(student[id])/totalStudent))
		}
		ids = append(ids, order(teacher)[0])
	}
	return sum / float64(positions)
}

// TestCheckFolder holds which folders a round may be in.
func TestCheckFolder(t *testing.T) {
	t.Parallel()
	for name, isFree := range map[string]bool{
		"": true, ".new-123": true, AnswersFile: true, LockFile: true, "notes.txt": false, ResultFile: false,
	} {
		dir := t.TempDir()
		if name != "" {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(`{"x":1}`), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := CheckFolder(dir); (err == nil) != isFree {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestKilledRun interrupts rounds of both contests at several requests: the result has the same
// bytes, and only the interrupted request is asked twice.
func TestKilledRun(t *testing.T) {
	t.Parallel()
	for _, contest := range []string{SN97, SN47} {
		c, models := round(t, contest, 6)
		_, want := run(t, c, t.TempDir())
		once := len(models.requests)
		clear(models.requests)
		dir := t.TempDir()
		kills := 0
		for kills < longtest.Pick(10, 3) {
			ctx, cancel := context.WithCancel(t.Context())
			stop := 1 + kills*once/10
			models.after = func(n int) {
				if n >= stop {
					cancel()
				}
			}
			if _, err := Run(ctx, c, dir); !errors.Is(err, context.Canceled) {
				t.Fatalf("%s: killed after %d requests: %v", contest, stop, err)
			}
			kills++
			cancel()
		}
		models.after = nil
		_, got := run(t, c, dir)
		if got != want {
			t.Errorf("%s: another result after %d kills", contest, kills)
		}
		twice := 0
		for request, n := range models.requests {
			twice += n - 1
			if n > kills+1 {
				t.Errorf("%s: %d times %s", contest, n, request)
			}
		}
		if len(models.requests) != once || twice > kills {
			t.Errorf("%s: %d requests, %d of them again, after %d kills; want %d", contest, len(models.requests), twice, kills, once)
		}
		before := len(models.requests)
		r, _ := run(t, c, dir)
		if r.Asked != 0 || len(models.requests) != before {
			t.Errorf("%s: a finished round asks again", contest)
		}
	}
}

// TestScore checks the parts of a round of subnet 47 against each other, and its lock.
func TestScore(t *testing.T) {
	t.Parallel()
	c, _ := round(t, SN47, 6)
	dir := t.TempDir()
	r, _ := run(t, c, dir)
	total := 0.0
	for i, s := range r.Scores {
		total += float64(s.Weight)
		if s.UID != 10+i || s.KLCurrent != float64(r.Students[i].KL.Value) || s.Thinking >= 0 || s.Base >= 0 || s.Solved < 0 {
			t.Errorf("%+v", s)
		}
	}
	if math.Abs(total-1) > 1e-12 {
		t.Errorf("weights add up to %v", total)
	}
	if r.Scores[0].Improve != "no_reference" || r.Scores[1].Improve != "improved" || r.Scores[1].Quality <= 0 || r.Scores[0].Quality != 0 {
		t.Errorf("%+v", r.Scores)
	}
	c.History = []string{filepath.Join(dir, ResultFile)}
	second, _ := run(t, c, t.TempDir())
	got := second.Scores[1].Averages.Current
	want := r.Scores[1].Averages.Current
	if math.Abs(got-want) > 1e-12 {
		t.Errorf("the average of equal rounds moves from %v to %v", want, got)
	}
	c.Students[0].Revision = "r3"
	if _, err := Run(t.Context(), c, dir); err == nil || !strings.Contains(err.Error(), "locked other revisions") {
		t.Errorf("%v", err)
	}
}

// TestValidate reads every kind of invalid configuration.
func TestValidate(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*Config){
		"contest is":       func(c *Config) { c.Contest = "sn15" },
		"form is":          func(c *Config) { c.Form = "top7" },
		"no students":      func(c *Config) { c.Students = nil },
		"top is 5":         func(c *Config) { c.Top = 5 },
		"draw is 1":        func(c *Config) { c.Draw = 1 },
		"no rule":          func(c *Config) { c.Rule = "x" },
		"which is no":      func(c *Config) { c.King = "x" },
		"have the name":    func(c *Config) { c.Students[0].Name = "m4" },
		"base_url or dump": func(c *Config) { c.Students[0].BaseURL = "" },
		"all are dumps": func(c *Config) {
			c.Students[0].BaseURL = ""
			c.Students[0].Dump = "x.npy"
		},
		"max_tokens is":  func(c *Config) { c.MaxTokens = 0 },
		"concurrency is": func(c *Config) { c.Concurrency = 0 },
		"no prompts":     func(c *Config) { c.Prompts = "" },
		"two different ones": func(c *Config) {
			c.Contest = SN47
			c.NextSeed = "a"
		},
		"no block_hash": func(c *Config) {
			c.Contest = SN47
			c.BlockHash = ""
		},
		"two students have": func(c *Config) {
			c.Contest = SN47
			c.Students[1].UID = 10
		},
		"want track": func(c *Config) {
			c.Contest = SN47
			c.Students[1].Track = ""
		},
		"has no revision": func(c *Config) {
			c.Contest = SN47
			c.Students[1].Previous.Revision = ""
		},
	} {
		c, _ := round(t, SN97, 2)
		change(c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// TestRefusedReplies parses replies without a field that a round needs.
func TestRefusedReplies(t *testing.T) {
	t.Parallel()
	for want, reply := range map[string]string{
		"no token ids":  `{"choices":[{"text":"x"}]}`,
		"0 positions":   `{"choices":[{"text":"x","token_ids":[1,2],"prompt_token_ids":[1,2]}]}`,
		"1 positions":   `{"choices":[{"prompt_token_ids":[1],"prompt_logprobs":[null]}]}`,
		"has 1 of 2":    `{"choices":[{"prompt_token_ids":[1,2],"prompt_logprobs":[null,{"2":{"logprob":-1,"rank":1}}]}]}`,
		"has 0 of 2":    `{"choices":[{"prompt_token_ids":[1,2],"prompt_logprobs":[null,{"2":{"logprob":null,"rank":1}}]}]}`,
		"has 2 of 2 to": `{"choices":[{"prompt_token_ids":[1,2],"prompt_logprobs":[null,{"3":{"logprob":-1,"rank":1},"4":{"logprob":-2,"rank":2}}]}]}`,
	} {
		if _, err := parseAnswer([]byte(reply), &completion{Top: 2, Start: 1}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// FuzzParseAnswer checks that any reply is rejected or has as many positions as its prompt has
// tokens.
func FuzzParseAnswer(f *testing.F) {
	f.Add(`{"choices":[{"token_ids":[2],"prompt_token_ids":[1,2],"prompt_logprobs":[null,{"2":{"logprob":-1,"rank":1}}]}]}`)
	f.Add(`{"choices":[{"prompt_token_ids":[1,2],"prompt_logprobs":[null,{"2":{"logprob":"x","rank":-1},"2":{}}]}]}`)
	f.Fuzz(func(t *testing.T, reply string) {
		a, err := parseAnswer([]byte(reply), &completion{Top: 1, Start: 1})
		if err == nil && (len(a.Top) == 0 || len(a.Top) != len(a.Own)) {
			t.Fatalf("%+v", a)
		}
	})
}

// Command modelserver plays a chat-completion server for measurements, checks
// and first tries: it solves the problems that peers/task.py writes, or a share of
// those of a day, or behaves in all the ways that a model can.
//
//	go run ./bench/modelserver -day testdata/day -listen 127.0.0.1:8000
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/internal/script"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "modelserver:", err)
		os.Exit(1) //nolint:forbidigo // this is a main of its own
	}
}

func run(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("modelserver", flag.ContinueOnError)
	listen := f.String("listen", "127.0.0.1:0", "address to listen on; port 0 takes a free one")
	latency := f.Duration("latency", 0, "before each answer")
	dialect := f.String("dialect", "native", "how calls are written: native, oro, hermes or react")
	mixed := f.Bool("mixed", false, "behave in every way that a model can, not only well")
	day := f.String("day", "", "solve a share of the problems in this folder of problems.jsonl and catalog.jsonl")
	share := f.Float64("solves", 0.6, "share of the rollouts of -day that succeed, always the same ones")
	if err := f.Parse(args); err != nil {
		return err
	}
	plan := func(string, int64) script.Plan { return solve }
	switch {
	case *mixed:
		plan = anything
	case *day != "":
		var err error
		if plan, err = script.Day(*day, *share); err != nil {
			return err
		}
	}
	return serve(ctx, *listen, &script.Server{Dialect: *dialect, Latency: *latency, Plan: plan})
}

// serve serves the scripted model over HTTP at address until ctx ends. When it is ready, it prints
// its base URL.
func serve(ctx context.Context, address string, model *script.Server) error {
	mux := http.NewServeMux()
	var open, most atomic.Int64
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		n := open.Add(1)
		defer open.Add(-1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		answer(model, w, r)
	})
	// /most tells how many requests were open at once since it was last asked.
	mux.HandleFunc("/most", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, most.Swap(0)) })
	mux.HandleFunc("/v1/models", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"object":"list","data":[{"id":"scripted","object":"model","owned_by":"modelserver"}]}`)
	})
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	fmt.Fprintf(os.Stdout, "http://%s/v1\n", l.Addr())
	web := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	context.AfterFunc(ctx, func() { _ = web.Close() }) // its error is Serve's
	if err := web.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// answer writes the scripted model's reply to a request. If the request asks for a stream, the
// reply is sent as a single event.
func answer(model http.Handler, w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if !gjson.GetBytes(body, "stream").Bool() {
		model.ServeHTTP(w, r)
		return
	}
	whole := httptest.NewRecorder()
	model.ServeHTTP(whole, r)
	var reply struct {
		Choices []struct {
			Message      map[string]any  `json:"message"`
			FinishReason json.RawMessage `json:"finish_reason"`
		} `json:"choices"`
	}
	if err := json.Unmarshal(whole.Body.Bytes(), &reply); err != nil || len(reply.Choices) == 0 {
		http.Error(w, whole.Body.String(), whole.Code)
		return
	}
	delta := reply.Choices[0].Message
	calls, _ := delta["tool_calls"].([]any) // a reply without any has none
	for i, c := range calls {
		c.(map[string]any)["index"] = i
	}
	said, _ := json.Marshal(delta) // it was read from JSON
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"scripted","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`+
		"\n\ndata: [DONE]\n\n", said, reply.Choices[0].FinishReason)
}

// anything returns one of the scripted behaviours, good and bad. Equal requests with equal seeds
// get the same one.
func anything(query string, seed int64) script.Plan {
	h := fnv.New32a()
	fmt.Fprint(h, query, seed)
	return behaviours[h.Sum32()%uint32(len(behaviours))]
}

func act(content, tool, arguments string) script.Act {
	return script.Act{Content: content, Calls: []script.Call{{Name: tool, Arguments: arguments}}}
}

const hostile = "<script>alert(1)</script></td><img src=x onerror=alert(2)> \u202e\u0000 \"' & \U0001f6d2 ünïcode"

// solve is the plan of a model that solves a task with five requests, the average number of a
// shopping attempt.
var solve = script.Plan{
	act("<think>Look for it first.</think>", "find_product", `{"q": "desk lamp"}`),
	act("<think>Another page may have more.</think>", "find_product", `{"q": "blue lamp", "page": 1}`),
	act("<think>What does it say?</think>", "view_product_information", `{"product_ids": "700"}`),
	act("<think>This is the one.</think>", "recommend_product", `{"product_ids": "700"}`),
	act("", "terminate", `{"status": "success"}`),
}

var behaviours = []script.Plan{
	solve,
	{act("", "find_product", `{"q": "lamp"}`), act("", "recommend_product", `{"product_ids": "701"}`), act("", "terminate", "{}")},
	{act("", "recommend_product", `{"product_ids": "12345"}`), act("", "terminate", "{}")},
	{act("<think>Again.</think>", "find_product", `{"q": "lamp"}`)},
	{act("", "find_product", `{"q": "lamp"`)},
	{act("", "buy", `{"q": "lamp"}`)},
	{act("", "find_product", `["lamp"]`)},
	{{Content: hostile}},
	{act("<think>"+hostile+"</think>", "find_product", `{"q": "<script>alert(3)</script> \ud800 \u0000"}`), {Content: "I took " + hostile}},
	{act("", "find_product", `{"q": `+strings.Repeat("9", 5000)+`}`), {Content: "done"}},
	{act("", "find_product", `{"q": `+strings.Repeat("[", 500)+strings.Repeat("]", 500)+`}`), {Content: "done"}},
	{{Content: "I'm sorry, but I can't help with that."}},
	{{Content: ""}},
	{{Reasoning: "Hmm."}},
	{{Content: "I think that", Finish: "length"}},
	{act("", "find_product", `{"q": "lamp"}`), {Fault: script.Overflow}},
	{{Fault: script.Reply(http.StatusInternalServerError, "fault")}},
	{{Fault: script.NoChoices}},
}

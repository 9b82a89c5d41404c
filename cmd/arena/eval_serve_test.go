package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/internal/loopback"
	"github.com/trajectory-arena/arena/internal/script"
	"github.com/trajectory-arena/arena/student"
)

// modelServer is the program that tests give to --serve: it solves every
// problem that evalInputs makes.
func modelServer() {
	listen := flag.String("listen", "", "address")
	dieAfter := flag.Int64("die-after", 0, "answers after which it fails; 0 is never")
	latency := flag.Duration("latency", 0, "before each answer")
	flag.Parse()
	act := func(name, arguments string) script.Act {
		return script.Act{Content: "<think>Next.</think>", Calls: []script.Call{{Name: name, Arguments: arguments}}}
	}
	model := &script.Server{Dialect: "native", Latency: *latency, Plan: func(string, int64) script.Plan {
		return script.Plan{act("find_product", `{"q":"lamp"}`), act("recommend_product", `{"product_ids":"700"}`), act("terminate", "{}")}
	}}
	var answers atomic.Int64
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/models", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"data":[{"id":"m","owned_by":"vllm","root":"/weights/m","max_model_len":4096}]}`)
	})
	mux.HandleFunc("/version", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"version":"1.2.3"}`) })
	mux.HandleFunc("/metrics", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "vllm:num_requests_running 3\nvllm:kv_cache_usage_perc 0.25")
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if n := answers.Add(1); *dieAfter > 0 && n > *dieAfter {
			fmt.Println("CUDA out of memory")
			os.Exit(9)
		}
		fmt.Println(requestLine)
		model.ServeHTTP(w, r)
	})
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	go func() { fmt.Println(<-stop); os.Exit(0) }()
	fmt.Println("dtype=torch.bfloat16, tensor_parallel_size=2")
	fmt.Println(http.ListenAndServe(*listen, mux))
	os.Exit(1)
}

// servedArgs is a command line that evaluates with a server of its own.
func servedArgs(t *testing.T, queries []string, address, serverFlags, run string, more ...string) []string {
	t.Helper()
	catalog, problems := evalInputs(t, queries...)
	server := filepath.Join(filepath.Dir(program(t)), "model-server")
	if err := os.Symlink(os.Args[0], server); err != nil {
		t.Fatal(err)
	}
	return append([]string{"eval", "--serve", "X=1 '" + server + "' -listen " + address + " " + serverFlags, "--endpoint", "http://" + address + "/v1",
		"--model", "m", "--problems", problems, "--catalog", catalog, "-o", run}, more...)
}

// requestLine is the line that the model server logs for each request.
const requestLine = "asked for a completion"

func answersAt(address string) bool {
	c, err := net.DialTimeout("tcp", address, time.Second)
	return err == nil && c.Close() == nil
}

func TestEvalStartsItsServer(t *testing.T) {
	t.Parallel()
	address := loopback.Free(t)
	run := filepath.Join(t.TempDir(), "run")
	pricing := filepath.Join(t.TempDir(), "prices.yaml")
	if err := os.WriteFile(pricing, []byte("m: {prompt: 1, cached_prompt: 0.1, completion: 10}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, words := arenaRun(servedArgs(t, []string{"one", "two"}, address, "", run, "--prices", pricing)...)
	// Three requests a rollout, of 100 and 40 tokens.
	if code != cli.ExitOK || !strings.Contains(words, "300 prompt tokens, 180 of them cached, 120 completion tokens, 0.001338 USD of tokens a solved problem (2 solved)") {
		t.Fatalf("exit %d: %s", code, words)
	}
	if answersAt(address) {
		t.Error("the server is still there")
	}
	var account struct {
		Servers []struct {
			Engine, Version, Path, Dtype string
			TensorParallel               int `json:"tensor_parallel"`
		}
		Usage struct {
			KV float64 `json:"kv_cache_use_peak"`
		}
	}
	b, err := os.ReadFile(filepath.Join(run, "telemetry.json"))
	if err != nil || json.Unmarshal(b, &account) != nil || len(account.Servers) != 1 {
		t.Fatalf("%v: %s", err, b)
	}
	if got := fmt.Sprint(account); got != "{[{vllm 1.2.3 /weights/m bfloat16 2}] {0.25}}" {
		t.Errorf("the telemetry has %s", got)
	}
}

// TestTheServerDiesInTheRun checks a run whose model server exits: the error has the last lines of
// the server's log, no rollout is labelled infra, and the same command resumes the run and ends
// with the same results.
func TestTheServerDiesInTheRun(t *testing.T) {
	t.Parallel()
	address := loopback.Free(t)
	run := filepath.Join(t.TempDir(), "run")
	undisturbed := filepath.Join(t.TempDir(), "undisturbed")
	args := servedArgs(t, []string{"one", "two", "three", "four"}, address, "-die-after 5", run, "--retries", "0", "--concurrency", "2")
	code, _, words := arenaRun(args...)
	if code != cli.ExitFailure || !strings.Contains(words, "exit status 9") || !strings.Contains(words, "CUDA out of memory") || !strings.Contains(words, "run the same command again") {
		t.Fatalf("exit %d: %s", code, words)
	}
	if _, err := os.Stat(filepath.Join(run, "summary.json")); err == nil {
		t.Error("a summary of a run that is not whole")
	}
	args[2] = strings.Replace(args[2], "-die-after 5", "", 1)
	if code, _, words = arenaRun(args...); code != cli.ExitOK {
		t.Fatalf("resumed: exit %d: %s", code, words)
	}
	args[len(args)-5] = undisturbed
	if code, _, words = arenaRun(args...); code != cli.ExitOK {
		t.Fatalf("undisturbed: exit %d: %s", code, words)
	}
	for _, name := range []string{"summary.json", "results.jsonl"} {
		got, err := os.ReadFile(filepath.Join(run, name))
		want, errWant := os.ReadFile(filepath.Join(undisturbed, name))
		if err != nil || errWant != nil || !bytes.Equal(got, want) {
			t.Errorf("%s of the resumed run differs: %v, %v\n%s", name, err, errWant, got)
		}
	}
}

func TestAnotherServerListens(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	code, _, words := arenaRun(servedArgs(t, []string{"one"}, l.Addr().String(), "", filepath.Join(t.TempDir(), "run"))...)
	if code != cli.ExitFailure || !strings.Contains(words, "something else listens at "+l.Addr().String()) || !strings.Contains(words, "arena: hint: ") {
		t.Errorf("exit %d: %s", code, words)
	}
}

func TestAServerThatDoesNotGetReady(t *testing.T) {
	t.Parallel()
	args := servedArgs(t, []string{"one"}, loopback.Free(t), "", filepath.Join(t.TempDir(), "run"), "--serve-timeout", "300ms")
	args[2] = "exec sleep 600"
	if code, _, words := arenaRun(args...); code != cli.ExitFailure || !strings.Contains(words, "within 300ms") {
		t.Errorf("exit %d: %s", code, words)
	}
}

// TestASlowServerIsAwaitedWithALine says after some seconds what the run waits for, and which flag limits it.
func TestASlowServerIsAwaitedWithALine(t *testing.T) {
	t.Parallel()
	args := servedArgs(t, []string{"one"}, loopback.Free(t), "", filepath.Join(t.TempDir(), "run"), "--serve-timeout", "4s")
	args[2] = "exec sleep 600"
	_, _, words := arenaRun(args...)
	if !strings.Contains(words, "waiting for the server of --serve to answer at http://127.") || !strings.Contains(words, "for up to 4s (--serve-timeout); it writes to ") {
		t.Error(words)
	}
}

// serverLog returns the log of a run's model server so far.
func serverLog(run string) string {
	b, _ := os.ReadFile(filepath.Join(run, student.ServerLog)) // the file may not exist yet
	return string(b)
}

func TestInterruptedWithItsServer(t *testing.T) {
	t.Parallel()
	address := loopback.Free(t)
	run := filepath.Join(t.TempDir(), "run")
	c := exec.Command(program(t), servedArgs(t, []string{"one"}, address, "-latency 10m", run)...)
	var words bytes.Buffer
	c.Stderr = &words
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "the first request", func() bool { return strings.Contains(serverLog(run), requestLine) })
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	c.Wait()
	if code := c.ProcessState.ExitCode(); code != cli.ExitCancelled || answersAt(address) {
		t.Errorf("exit %d, server there %v: %s", code, answersAt(address), words.String())
	}
}

//go:build long

package main

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/internal/longtest"
)

// TestTheCasesOfServers plays the modes of a scripted server by other authors and compares each
// with the right answer of its table.
func TestTheCasesOfServers(t *testing.T) {
	t.Parallel()
	cases, err := filepath.Abs(longtest.Shared(t, "cases/evaluation"))
	if err != nil {
		t.Fatal(err)
	}
	problems := filepath.Join(cases, "problems.jsonl")
	listener, err := net.Listen("tcp", "127.0.0.1:0") // the only host that the server takes
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_, port, err := net.SplitHostPort(address)
	if err = errors.Join(err, listener.Close()); err != nil {
		t.Fatal(err)
	}
	server := exec.Command("python3", "quirks.py", port, "problems.jsonl")
	server.Dir = cases
	if err := server.Start(); err != nil {
		t.Skip("there is no python3")
	}
	t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if c, err := net.Dial("tcp", address); err == nil {
			_ = c.Close()
			break
		}
	}
	for want, modes := range map[string]string{
		"clean":            "clean stream_idx0 stream_idx1 argsempty thoughtsig noreasoningin",
		"unparsed":         "txt_qwen3coder txt_glm45 txt_harmony txt_deepseek3 txt_dsml txt_mistral txt_pythontag txt_gemma",
		"context_overflow": "over_zhipu over_google2 over_trtllm over_anthropic2 over_mistralrs over_llamacpp_old",
		"malformed_call":   "llamaparse500 groqtoolfail",
	} {
		for mode := range strings.FieldsSeq(modes) {
			t.Run(mode, func(t *testing.T) {
				run := filepath.Join(t.TempDir(), "run")
				code, _, words := arenaRun("eval", "--endpoint", "http://"+address+"/m/"+mode+"/v1", "--model", "m", "--problems", problems,
					"--catalog", "../../testdata/day/catalog.jsonl", "-q", "-o", run)
				b, err := os.ReadFile(filepath.Join(run, "summary.json"))
				if err != nil {
					t.Fatalf("exit %d: %s", code, words)
				}
				s := gjson.ParseBytes(b)
				got := map[string]bool{
					"clean":            code == 0 && s.Get("asr_scored").Num == 0.5 && s.Get("stops.terminated").Num == 6,
					"unparsed":         code == 3 && s.Get("asr_scored").Type == gjson.Null && s.Get("unparsed_calls").Exists(),
					"context_overflow": code == 0 && s.Get("labels.context_overflow").Num == 3 && s.Get("infra_errors").Num == 0 && s.Get("asr_scored").Num == 0.5,
					"malformed_call":   code == 0 && s.Get("labels.malformed_call").Num == 3 && s.Get("infra_errors").Num == 0,
				}
				if !got[want] {
					t.Errorf("exit %d, want %s: %s", code, want, b)
				}
			})
		}
	}
}

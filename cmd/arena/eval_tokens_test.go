package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/internal/evaluation"
)

// telling returns a handler that adds the token ids and log-probabilities of vLLM to another
// handler's answers where the request asks for them: four tokens, the last one sampled. Without ids
// it adds the texts of the tokens, as SGLang does.
func telling(other http.Handler, tokens int, ids bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var received bytes.Buffer
		_, _ = received.ReadFrom(r.Body)
		r.Body = http.NoBody
		r = httptest.NewRequest(r.Method, r.URL.Path, bytes.NewReader(received.Bytes()))
		reply := httptest.NewRecorder()
		other.ServeHTTP(reply, r)
		request := gjson.ParseBytes(received.Bytes())
		if !request.Get("logprobs").Bool() || request.Get("top_logprobs").Int() != 2 || !request.Get("return_token_ids").Bool() {
			_, _ = w.Write(reply.Body.Bytes())
			return
		}
		id := func(n int) string {
			if !ids {
				return "x"
			}
			return fmt.Sprintf("token_id:%d", n)
		}
		turn := int(request.Get("messages.#").Int())
		var content, drew []string
		for i := range 4 {
			firstID := 10 * turn
			if i == 2 {
				firstID = tokens
			}
			drew = append(drew, fmt.Sprint(firstID))
			content = append(content, fmt.Sprintf(`{"token":%q,"logprob":-0.5,"top_logprobs":[{"token":%q,"logprob":-0.5},{"token":%q,"logprob":-%d.5}]}`, id(firstID), id(firstID), id(firstID+1), tokens))
		}
		first := fmt.Sprintf(`{"logprobs":{"content":[%s]},`, strings.Join(content, ","))
		if ids {
			first += `"token_ids":[` + strings.Join(drew, ",") + `],`
		}
		extended := strings.Replace(reply.Body.String(), `"choices":[{`, `"prompt_token_ids":[1,2,`+fmt.Sprint(turn)+`],"choices":[`+first, 1)
		_, _ = w.Write([]byte(extended))
	})
}

// TestARunKeepsItsTokens checks that the token ids and log-probabilities of every reply are rows of
// the run and are in neither its traces nor its results, that a resumed run has the same rows, and
// that they can be compared with a teacher's run as far as both read the same text.
func TestARunKeepsItsTokens(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	catalog, problems := evalInputs(t, "one", "two")
	play := func(name string, server http.Handler, more ...string) string {
		t.Helper()
		web := httptest.NewServer(server)
		defer web.Close()
		run := filepath.Join(dir, name)
		args := []string{"eval", "--endpoint", web.URL + "/v1", "--model", "m", "--problems", problems, "--catalog", catalog, "-o", run, "-q"}
		if code, _, words := arenaRun(append(args, more...)...); code != cli.ExitOK {
			t.Fatalf("%s: exit %d: %s", name, code, words)
		}
		return run
	}
	keep := []string{"--keep", "tokens", "--top-logprobs", "2"}
	student := play("student", telling(solving(), 5, true), keep...)
	teacher := play("teacher", telling(solving(), 7, true), keep...)
	texts := play("texts", telling(solving(), 5, false), keep...)
	withoutTexts := play("bare", telling(solving(), 5, true))
	rows, err := parquet.ReadFile[evaluation.TokensRow](filepath.Join(student, evaluation.TokensFile))
	if err != nil || len(rows) != 6 {
		t.Fatalf("%d rows: %v", len(rows), err)
	}
	if r := rows[4]; r.ProblemID != "p1" || r.Rollout != 1 || r.Turn != 1 || fmt.Sprint(r.Prompt, r.IDs, r.LogProbs, r.Top, r.TopIDs[:3]) != "[1 2 4] [40 40 5 40] [-0.5 -0.5 -0.5 -0.5] 2 [40 41 40]" {
		t.Errorf("%+v", r)
	}
	for _, file := range []string{"results.jsonl", "summary.json"} {
		a, err := os.ReadFile(filepath.Join(student, file))
		b, bad := os.ReadFile(filepath.Join(withoutTexts, file))
		if err != nil || bad != nil || !bytes.Equal(a, b) {
			t.Errorf("%s depends on what is kept: %v %v", file, err, bad)
		}
	}
	if _, err := os.Stat(filepath.Join(withoutTexts, evaluation.TokensFile)); err == nil {
		t.Error("a run without --keep tokens wrote the file of tokens")
	}
	if err := os.Remove(filepath.Join(student, "summary.json")); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(filepath.Join(student, evaluation.TokensFile))
	play("student", http.NotFoundHandler(), keep...)
	if after, err := os.ReadFile(filepath.Join(student, evaluation.TokensFile)); err != nil || !bytes.Equal(before, after) {
		t.Errorf("written again the tokens are others: %v", err)
	}
	for _, c := range []struct {
		teacher, student string
		code             int
		want             string
	}{
		{student, student, cli.ExitOK, `"positions":24,"forms":`},
		{teacher, student, cli.ExitOK, `"positions":6,"positions_apart":36,"forms":`},
		{teacher, texts, cli.ExitFailure, "rollout 0, reply 0: the server named no likely tokens by id"},
		{withoutTexts, student, cli.ExitFailure, "play the run with --keep tokens"},
	} {
		if code, out, words := arenaRun("contest", "kl", c.teacher, c.student, "--json"); code != c.code || !strings.Contains(out+words, c.want) {
			t.Errorf("kl %s %s: exit %d: %s%s", filepath.Base(c.teacher), filepath.Base(c.student), code, out, words)
		}
	}
	if code, out, words := arenaRun("compare", withoutTexts, student); code != cli.ExitOK || !strings.Contains(out, "no problem of 2 differs") {
		t.Errorf("compare: exit %d: %s%s", code, out, words)
	}
	for _, wrong := range [][]string{{"--keep", "words"}, {"--top-logprobs", "2"}, {"--keep", "tokens", "--top-logprobs", "21"}} {
		args := append([]string{"eval", "--endpoint", "http://127.0.0.1:1/v1", "--model", "m", "--problems", problems, "--catalog", catalog, "-o", filepath.Join(dir, "no")}, wrong...)
		if code, _, words := arenaRun(args...); code != cli.ExitUsage || !strings.Contains(words, "--keep") {
			t.Errorf("%v: exit %d: %s", wrong, code, words)
		}
	}
}

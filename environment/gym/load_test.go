package gym_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"
	"golang.org/x/sync/errgroup"
)

var (
	served       = flag.Int("server", 0, "process of an arena env serve that TestLoad plays at; 0 leaves it out")
	address      = flag.String("address", "http://127.0.0.1:8090", "the server's")
	problemsFile = flag.String("problems", filepath.Join(day(), "problems.jsonl"), "the server's")
	pause        = flag.Duration("pause", 0, "between two calls of an episode, as a model takes")
	episodes     = flag.Int("episodes", 512, "at once")
	lasting      = flag.Duration("for", 20*time.Second, "how long episodes are played")
	idle         = flag.Int("idle", 20_000, "episodes that are begun, make four calls and are left alone")
)

// TestLoad measures a running arena env serve that was just started: the memory of an idle episode,
// and then many concurrent episodes, each with a seed, searches, views and a verdict. Command: go
// test ./environment/gym -run Load -v -server PID
func TestLoad(t *testing.T) {
	t.Parallel()
	if *served == 0 {
		t.Skip("needs the process of a server: -server PID")
	}
	debug.SetGCPercent(-1) // the client's pauses are none of the server's
	debug.SetMemoryLimit(2 << 30)
	b, err := os.ReadFile(*problemsFile)
	if err != nil {
		t.Fatal(err)
	}
	l := &load{t: t, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: *episodes, MaxConnsPerHost: *episodes}}}
	for line := range strings.Lines(string(b)) {
		l.problems = append(l.problems, gjson.Parse(line))
	}
	if err := l.idle(); err != nil {
		t.Fatal(err)
	}
	if err := l.busy(); err != nil {
		t.Fatal(err)
	}
}

// load sends the requests of the test to the server.
type load struct {
	t        *testing.T
	problems []gjson.Result
	client   *http.Client
}

// busy plays episodes concurrently and prints the latency of calls.
func (l *load) busy() error {
	var mu sync.Mutex
	var took []time.Duration
	var failed error
	start := time.Now()
	used := cpu(*served)
	var clients sync.WaitGroup
	for i := range *episodes {
		clients.Go(func() {
			latencies, err := l.episodes(i, start.Add(*lasting))
			mu.Lock()
			defer mu.Unlock()
			took, failed = append(took, latencies...), errors.Join(failed, err)
		})
	}
	clients.Wait()
	seconds := time.Since(start).Seconds()
	if failed != nil {
		return failed
	}
	slices.Sort(took)
	quantile := func(share float64) float64 { return took[int(share*float64(len(took)-1))].Seconds() * 1000 }
	l.t.Logf("%d episodes at once, %s between calls: %.0f tool calls/s; ms: median %.2f, 99 %% %.2f, most %.2f; the server's CPU: %.3f ms a call",
		*episodes, *pause, float64(len(took))/seconds, quantile(.5), quantile(.99), quantile(1), (cpu(*served)-used)*1000/float64(len(took)))
	return nil
}

func (l *load) episodes(i int, until time.Time) (took []time.Duration, err error) {
	time.Sleep(*pause * time.Duration(i) / time.Duration(*episodes)) // they do not all begin at once
	for ; time.Now().Before(until); i += *episodes {
		latencies, session, err := l.play(i, 4, *pause)
		if err != nil {
			return nil, err
		}
		took = append(took, latencies...)
		if _, _, err := l.post("/verify", session, `{}`); err != nil {
			return nil, err
		}
	}
	return took, nil
}

// play begins an episode and makes twice as many calls as rounds, with a pause before
// each.
func (l *load) play(i, rounds int, pause time.Duration) (took []time.Duration, session string, err error) {
	p := l.problems[i%len(l.problems)]
	_, session, err = l.post("/seed_session", "", fmt.Sprintf(`{"problem_id":%q}`, p.Get("problem_id").Str))
	words := strings.Fields(p.Get("query").Str)
	for n := range rounds {
		q := strings.Join(words[n%len(words):min(n%len(words)+3, len(words))], " ")
		product := ""
		for _, c := range []struct{ tool, body string }{{"/find_product", fmt.Sprintf(`{"q":%q}`, q)}, {"/view_product_information", ""}} {
			if c.body == "" {
				var ids []string
				for _, r := range gjson.Parse(product).Array() {
					ids = append(ids, r.Get("product_id").String())
				}
				c.body = fmt.Sprintf(`{"product_ids":%q}`, strings.Join(ids[:min(3, len(ids))], ","))
			}
			time.Sleep(pause)
			start := time.Now()
			if err == nil {
				product, _, err = l.post(c.tool, session, c.body)
			}
			took = append(took, time.Since(start))
		}
	}
	return took, session, err
}

func (l *load) post(path, session, body string) (answer, cookie string, err error) {
	r, err := http.NewRequest(http.MethodPost, *address+path, strings.NewReader(body))
	if err != nil {
		return "", "", err
	}
	r.Header.Set("Cookie", session)
	resp, err := l.client.Do(r)
	if err != nil {
		return "", "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %.200s", path, resp.Status, b)
	}
	cookie, _, _ = strings.Cut(resp.Header.Get("Set-Cookie"), ";")
	return string(b), cookie, err
}

// idle prints the memory of episodes that stay open without further calls.
func (l *load) idle() error {
	before := resident(*served)
	const atOnce = 8
	var clients errgroup.Group
	for client := range atOnce {
		clients.Go(func() error {
			for i := client; i < *idle; i += atOnce {
				if _, _, err := l.play(i, 2, 0); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := clients.Wait(); err != nil {
		return err
	}
	l.t.Logf("%d idle episodes of four calls: %.1f kB each of resident memory, %.0f MB in all",
		*idle, float64(resident(*served)-before)/float64(*idle), float64(resident(*served))/1000)
	return nil
}

// cpu is the CPU time of a process in seconds.
func cpu(pid int) (seconds float64) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+2:]))
	const ticks = 100
	for _, f := range fields[11:13] {
		n, _ := strconv.Atoi(f)
		seconds += float64(n) / ticks
	}
	return seconds
}

// resident is the memory of a process in kB.
func resident(pid int) (kb int) {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(b)) {
		if value, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, _ = strconv.Atoi(strings.Fields(value)[0])
		}
	}
	return kb
}

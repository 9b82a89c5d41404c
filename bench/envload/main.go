// Command envload measures a running arena env serve, one that was just started: what
// an idle episode takes of its memory; then many episodes at once, each a seed,
// searches, views and a verdict.
//
//	go run ./bench/envload -problems DAY/problems.jsonl -pid PID
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"
	"golang.org/x/sync/errgroup"
)

func main() {
	debug.SetGCPercent(-1) // the client's pauses are none of the server's
	debug.SetMemoryLimit(2 << 30)
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "envload:", err)
		os.Exit(1) //nolint:forbidigo // this is a main of its own
	}
}

// load is what is asked of the server.
type load struct {
	address  string
	problems []gjson.Result
	client   *http.Client
	// pause is what a model would take between two calls.
	pause time.Duration
}

func run(args []string) error {
	f := flag.NewFlagSet("envload", flag.ContinueOnError)
	l := &load{}
	f.StringVar(&l.address, "address", "http://127.0.0.1:8090", "of the server")
	f.DurationVar(&l.pause, "pause", 0, "between two calls of an episode, as a model takes")
	problems := f.String("problems", "", "the server's problems")
	episodes := f.Int("episodes", 512, "at once")
	lasting := f.Duration("for", 20*time.Second, "how long")
	idle := f.Int("idle", 20_000, "episodes that are begun, make four calls and are left alone")
	pid := f.Int("pid", 0, "the server's, for its CPU and memory")
	if err := f.Parse(args); err != nil {
		return err
	}
	b, err := os.ReadFile(*problems)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(b)) {
		l.problems = append(l.problems, gjson.Parse(line))
	}
	l.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: *episodes, MaxConnsPerHost: *episodes}}
	if err := l.idle(*idle, *pid); err != nil {
		return err
	}
	return l.busy(*episodes, *lasting, *pid)
}

// busy plays episodes side by side and prints how fast calls are answered.
func (l *load) busy(episodes int, lasting time.Duration, pid int) error {
	var mu sync.Mutex
	var took []time.Duration
	var failed error
	begun, used := time.Now(), cpu(pid) //nolint:forbidigo // a measurement is of time
	var all sync.WaitGroup
	for i := range episodes {
		all.Go(func() {
			mine, err := l.episodes(i, episodes, begun.Add(lasting))
			mu.Lock()
			defer mu.Unlock()
			took, failed = append(took, mine...), errors.Join(failed, err)
		})
	}
	all.Wait()
	seconds := time.Since(begun).Seconds()
	if failed != nil {
		return failed
	}
	slices.Sort(took)
	at := func(share float64) float64 { return took[int(share*float64(len(took)-1))].Seconds() * 1000 }
	fmt.Printf("%d episodes at once, %s between calls: %.0f tool calls/s; ms: median %.2f, 99 %% %.2f, most %.2f; the server's CPU: %.3f ms a call\n", //nolint:forbidigo // this is what it is for
		episodes, l.pause, float64(len(took))/seconds, at(.5), at(.99), at(1), (cpu(pid)-used)*1000/float64(len(took)))
	return nil
}

func (l *load) episodes(i, step int, until time.Time) (took []time.Duration, err error) {
	time.Sleep(l.pause * time.Duration(i) / time.Duration(step)) // they do not all begin at once
	for ; time.Now().Before(until); i += step {                  //nolint:forbidigo // a measurement is of time
		mine, session, err := l.play(i, 4)
		if err != nil {
			return nil, err
		}
		took = append(took, mine...)
		if _, _, err := l.post("/verify", session, `{}`); err != nil {
			return nil, err
		}
	}
	return took, nil
}

// play begins an episode and makes twice as many calls as rounds.
func (l *load) play(i, rounds int) (took []time.Duration, session string, err error) {
	p := l.problems[i%len(l.problems)]
	_, session, err = l.post("/seed_session", "", fmt.Sprintf(`{"problem_id":%q}`, p.Get("problem_id").Str))
	words := strings.Fields(p.Get("query").Str)
	for n := range rounds {
		q := strings.Join(words[n%len(words):min(n%len(words)+3, len(words))], " ")
		found := ""
		for _, c := range []struct{ tool, body string }{{"/find_product", fmt.Sprintf(`{"q":%q}`, q)}, {"/view_product_information", ""}} {
			if c.body == "" {
				var ids []string
				for _, r := range gjson.Parse(found).Array() {
					ids = append(ids, r.Get("product_id").String())
				}
				c.body = fmt.Sprintf(`{"product_ids":%q}`, strings.Join(ids[:min(3, len(ids))], ","))
			}
			time.Sleep(l.pause)
			begun := time.Now() //nolint:forbidigo // a measurement is of time
			if err == nil {
				found, _, err = l.post(c.tool, session, c.body)
			}
			took = append(took, time.Since(begun))
		}
	}
	return took, session, err
}

func (l *load) post(path, session, body string) (answer, cookie string, err error) {
	r, err := http.NewRequest(http.MethodPost, l.address+path, strings.NewReader(body))
	if err != nil {
		return "", "", err
	}
	r.Header.Set("Cookie", session)
	resp, err := l.client.Do(r)
	if err != nil {
		return "", "", err
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	b, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %.200s", path, resp.Status, b)
	}
	cookie, _, _ = strings.Cut(resp.Header.Get("Set-Cookie"), ";")
	return string(b), cookie, err
}

// idle prints what episodes take that nobody plays on.
func (l *load) idle(n, pid int) error {
	before, pause := resident(pid), l.pause
	l.pause = 0
	defer func() { l.pause = pause }()
	const atOnce = 8
	var all errgroup.Group
	for from := range atOnce {
		all.Go(func() error {
			for i := from; i < n; i += atOnce {
				if _, _, err := l.play(i, 2); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := all.Wait(); err != nil {
		return err
	}
	fmt.Printf("%d idle episodes of four calls: %.1f kB each of resident memory, %.0f MB in all\n", n, float64(resident(pid)-before)/float64(n), float64(resident(pid))/1000) //nolint:forbidigo // this is what it is for
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
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, _ = strconv.Atoi(strings.Fields(rest)[0])
		}
	}
	return kb
}

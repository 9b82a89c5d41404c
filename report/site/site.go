// Package site shows corpora as pages that open from a folder or from this
// machine: funnel, attempts, one attempt, agents. Each page's data is a script of
// its own, since a page from a folder may not fetch; what is quoted from traces is
// data and never markup, and nothing is asked of any other server.
package site

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/report/attempt"
)

//go:embed assets
var assets embed.FS

// Site is pages on corpora and on runs of students.
type Site struct {
	Corpora []*Corpus
	Runs    []*Run
	// Comparisons are of the first run with each of the others, as arena compare
	// --json writes them.
	Comparisons any
	// Open is the address of the page that is shown first; empty for the first corpus.
	Open string
}

// Corpus is one corpus with the days that its traces lie in.
type Corpus struct {
	Name   string
	Ledger *attempt.Ledger
	Days   attempt.Days
	// Clean replaces secrets in a text; JSON stays JSON.
	Clean func(string) string
	// Workers read inputs side by side.
	Workers int
	// Secret says what of a text nobody outside may see, empty for nothing; nil on
	// pages that stay at home.
	Secret func(text string) string
	// Hidden are so many records that are not shown outside.
	Hidden int
	// All reports whether every attempt can be told when it is asked for.
	All bool
	// whole are the attempts that have a file of their own, by their places.
	whole map[int]bool
	kin   kinship
	// days and kins are the scripts that every page loads.
	days, kins once
}

// chunk is how many attempts without a file of their own share one.
const chunk = 256

// File gives a file of the site by its name, slashes between folders. What is not
// there is fs.ErrNotExist.
func (s *Site) File(ctx context.Context, name string) ([]byte, error) {
	parts := strings.Split(name, "/")
	switch {
	case name == "data/site.js":
		return s.list()
	case parts[0] != "data":
		return assets.ReadFile(path.Join("assets", name))
	}
	number, ofRun := strings.CutPrefix(parts[min(1, len(parts)-1)], "r")
	k, err := strconv.Atoi(number)
	switch {
	case err != nil || k < 0 || len(parts) < 3:
	case ofRun && k < len(s.Runs):
		return s.Runs[k].file(k, strings.Join(parts[2:], "/"))
	case !ofRun && k < len(s.Corpora):
		return s.Corpora[k].file(ctx, k, strings.Join(parts[2:], "/"))
	}
	return nil, fs.ErrNotExist
}

func (s *Site) list() ([]byte, error) {
	corpora := append([]string{}, slicesx.Map(s.Corpora, func(c *Corpus) string { return c.Name })...)
	runs := append([]string{}, slicesx.Map(s.Runs, func(r *Run) string { return r.Name })...)
	return script("site", map[string]any{"corpora": corpora, "runs": runs, "comparisons": s.Comparisons, "open": s.Open}, nil)
}

// script is data as a page can load it: a call with its name. What encoding/json
// escapes leaves nothing that could end a script. Where there is clean, it replaces
// the secrets in the data.
func script(name string, data any, clean func(string) string) ([]byte, error) {
	b, err := json.Marshal(data)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", name, err)
	}
	if clean != nil {
		b = cleaned(string(b), clean)
	}
	return slices.Concat([]byte("arena.put("+strconv.Quote(name)+","), b, []byte(");\n")), nil
}

// leastPart is the least that is cleaned on a processor of its own.
const leastPart = 1 << 20

// cleaned replaces the secrets in JSON, in one part on each processor. Parts end between
// two objects, where no text can: within one a quote is escaped.
func cleaned(rest string, clean func(string) string) []byte {
	var parts []string
	for size := max(leastPart, len(rest)/runtime.GOMAXPROCS(0)+1); len(rest) > size; {
		between := strings.Index(rest[size:], `},{"`)
		if between < 0 {
			break
		}
		end := size + between + len(`},`)
		parts, rest = append(parts, rest[:end]), rest[end:]
	}
	parts = append(parts, rest)
	var all sync.WaitGroup
	for i := range parts {
		all.Go(func() { parts[i] = clean(parts[i]) })
	}
	all.Wait()
	return []byte(strings.Join(parts, ""))
}

func (c *Corpus) file(ctx context.Context, k int, name string) ([]byte, error) {
	key := strconv.Itoa(k) + "/" + strings.TrimSuffix(name, ".js")
	kind, rest, _ := strings.Cut(strings.TrimSuffix(name, ".js"), "/")
	n, err := strconv.Atoi(rest)
	switch {
	case kind == "day":
		return c.days.get(func() ([]byte, error) { return script(key, c.day(), nil) })
	case kind == "agents":
		return c.kins.get(func() ([]byte, error) { return c.agents(ctx, key) })
	case err != nil || n < 0 || n >= len(c.Ledger.Lines):
		return nil, fs.ErrNotExist
	case kind == "attempt":
		return c.attempt(ctx, key, n)
	case kind == "rest":
		return c.rest(key, n)
	}
	return nil, fs.ErrNotExist
}

// once keeps what was made, for who asks meanwhile and again.
type once struct {
	sync.Mutex
	made []byte
}

func (o *once) get(draw func() ([]byte, error)) (_ []byte, err error) {
	o.Lock()
	defer o.Unlock()
	if o.made == nil {
		o.made, err = draw()
	}
	return o.made, err
}

func (c *Corpus) attempt(ctx context.Context, key string, n int) ([]byte, error) {
	a := c.Ledger.Argue(n)
	if err := c.Days.Tell(ctx, c.Ledger, a); err != nil {
		return nil, err
	}
	return c.argued(key, a)
}

func (c *Corpus) argued(key string, a *attempt.Argument) ([]byte, error) {
	if c.Secret != nil {
		if b, err := json.Marshal(a); err == nil && c.Secret(string(b)) != "" {
			a.Story = nil // of the rest nothing is secret: its line would not be here
		}
	}
	return script(key, a, c.Clean)
}

// rest are the attempts from a place on that have no file of their own, with what
// speaks against them and without their story.
func (c *Corpus) rest(key string, n int) ([]byte, error) {
	all := map[string]*attempt.Argument{}
	for at := n; at < min(n+chunk, len(c.Ledger.Lines)); at++ {
		if c.whole[at] {
			continue
		}
		a := c.Ledger.Argue(at)
		a.Features, a.Checks = nil, slices.DeleteFunc(a.Checks, func(x attempt.Check) bool { return !x.Fires })
		if err := a.Clean(c.Clean); err != nil {
			return nil, err
		}
		all[strconv.Itoa(at)] = a
	}
	return script(key, all, nil)
}

// choose picks the attempts that get a file of their own: the kept ones, and of each
// other reason the first so many by the hash of their record.
func (c *Corpus) choose(traces int) {
	c.whole = map[int]bool{}
	byReason := map[string][]int{}
	for at, l := range c.Ledger.Lines {
		if a := l.Attempt; a.Fate == rows.FateKept {
			c.whole[at] = true
		} else if _, here := c.Days[a.SourceSHA256]; here && a.HasDialogue {
			byReason[a.Stage+"/"+a.Reason] = append(byReason[a.Stage+"/"+a.Reason], at)
		}
	}
	for _, all := range byReason {
		slices.SortStableFunc(all, func(a, b int) int {
			return strings.Compare(c.Ledger.Lines[a].Attempt.RecordSHA256, c.Ledger.Lines[b].Attempt.RecordSHA256)
		})
		for _, at := range all[:min(traces, len(all))] {
			c.whole[at] = true
		}
	}
}

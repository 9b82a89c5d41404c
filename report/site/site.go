// Package site writes corpora and runs of students as HTML pages that open from a folder or from
// a local server: the funnel, all attempts, single attempts, and agents. The data of each page
// is a separate script, since a page opened from a folder must not fetch. Texts of traces are
// inserted as data, never as markup, and no other server is contacted.
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

// assets are the static files of the site: its page, scripts and styles.
//
//go:embed assets
var assets embed.FS

// Site is the set of corpora and runs that the pages show.
type Site struct {
	Corpora []*Corpus
	Runs    []*Run
	// Comparisons compare the first run with each other run, in the form of arena compare
	// --json.
	Comparisons any
	// Open is the address of the first page, "" for the first corpus.
	Open string
}

// Corpus is one corpus with the input files that contain its traces.
type Corpus struct {
	Name   string
	Ledger *attempt.Ledger
	Days   attempt.Days
	// Clean replaces the secrets in a text. JSON remains valid JSON.
	Clean func(string) string
	// Workers is the number of input files that are read concurrently.
	Workers int
	// Secret returns what must not be published in a text, "" if there is nothing. It is nil for
	// pages that are not published.
	Secret func(text string) string
	// IsClosed reports whether a dialogue must not be published, beside what Secret finds in it. It is
	// set if Secret is.
	IsClosed func(s *attempt.Story) bool
	// Hidden is the number of records that the published pages leave out.
	Hidden int
	// All reports whether the dialogue of every attempt can be read on request.
	All bool
	// withFile has the indices in Ledger.Lines of the attempts with a file of their own.
	withFile map[int]bool
	kin      kinship
	// dayScript and agentsScript have the data that every page loads.
	dayScript, agentsScript cachedScript
}

// chunkSize is the number of consecutive attempts whose summaries are in one file. Of these,
// attempts that have a file of their own are left out.
const chunkSize = 256

// File returns a file of the site. name is a relative path with slashes. The error is
// fs.ErrNotExist if there is no such file.
func (s *Site) File(ctx context.Context, name string) ([]byte, error) {
	parts := strings.Split(name, "/")
	switch {
	case name == "data/site.js":
		return s.index()
	case parts[0] != "data":
		return assets.ReadFile(path.Join("assets", name))
	}
	folder := parts[min(1, len(parts)-1)]
	number, isRun := strings.CutPrefix(folder, "r")
	k, err := strconv.Atoi(number)
	if err != nil || k < 0 || len(parts) < 3 {
		return nil, fs.ErrNotExist
	}
	file := strings.Join(parts[2:], "/")
	switch {
	case isRun && k < len(s.Runs):
		return s.Runs[k].file(k, file)
	case !isRun && k < len(s.Corpora):
		return s.Corpora[k].file(ctx, k, file)
	}
	return nil, fs.ErrNotExist
}

// index returns the script with the names of all corpora and runs, for the start page.
func (s *Site) index() ([]byte, error) {
	corpora := append([]string{}, slicesx.Map(s.Corpora, func(c *Corpus) string {
		return c.Name
	})...)
	runs := append([]string{}, slicesx.Map(s.Runs, func(r *Run) string {
		return r.Name
	})...)
	return script(
		"site",
		map[string]any{"corpora": corpora, "runs": runs, "comparisons": s.Comparisons, "open": s.Open},
		nil,
	)
}

// script returns a JavaScript file that passes data to a page: it calls arena.put with name and
// data. clean, unless it is nil, replaces secrets in the data. The data cannot end the script
// element, since encoding/json escapes <.
func script(
	name string,
	data any,
	clean func(string) string,
) ([]byte, error) {
	b, err := json.Marshal(data)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", name, err)
	}
	if clean != nil {
		b = cleanJSON(string(b), clean)
	}
	return slices.Concat(
		[]byte("arena.put("+strconv.Quote(name)+","),
		b,
		[]byte(");\n"),
	), nil
}

// minCleanBytes is the minimum size in bytes of the parts into which a JSON text is split to remove
// secrets from them concurrently.
const minCleanBytes = 1 << 20

// cleanJSON replaces the secrets in JSON by calling clean on several parts concurrently. It
// splits data only between two objects of a list. No string can look like such a position, since
// quotes in strings are escaped.
func cleanJSON(data string, clean func(string) string) []byte {
	var parts []string
	size := max(minCleanBytes, len(data)/runtime.GOMAXPROCS(0)+1)
	for len(data) > size {
		between := strings.Index(data[size:], `},{"`)
		if between < 0 {
			break
		}
		end := size + between + len(`},`)
		parts = append(parts, data[:end])
		data = data[end:]
	}
	parts = append(parts, data)

	var wg sync.WaitGroup
	for i := range parts {
		wg.Go(func() {
			parts[i] = clean(parts[i])
		})
	}
	wg.Wait()
	return []byte(strings.Join(parts, ""))
}

// file returns one of the scripts with the data of corpus k: the overview, the comparison of
// agents, one attempt or a chunk of attempts. The error is fs.ErrNotExist for other names.
func (c *Corpus) file(
	ctx context.Context,
	k int,
	name string,
) ([]byte, error) {
	name = strings.TrimSuffix(name, ".js")
	key := strconv.Itoa(k) + "/" + name
	kind, suffix, _ := strings.Cut(name, "/")
	switch kind {
	case "day":
		return c.dayScript.get(func() ([]byte, error) {
			return script(key, c.day(), nil)
		})
	case "agents":
		return c.agentsScript.get(func() ([]byte, error) {
			return c.agents(ctx, key)
		})
	}
	n, err := strconv.Atoi(suffix)
	if err != nil || n < 0 || n >= len(c.Ledger.Lines) {
		return nil, fs.ErrNotExist
	}
	switch kind {
	case "attempt":
		return c.attempt(ctx, key, n)
	case "rest":
		return c.chunk(key, n)
	}
	return nil, fs.ErrNotExist
}

// cachedScript is a script with the data of a page, built at the first request for it.
type cachedScript struct {
	sync.Mutex
	script []byte
}

func (s *cachedScript) get(build func() ([]byte, error)) (_ []byte, err error) {
	s.Lock()
	defer s.Unlock()
	if s.script == nil {
		s.script, err = build()
	}
	return s.script, err
}

// attempt returns, as a script, the data of the page on attempt n with its dialogue. key is the
// name under which the page finds the data.
func (c *Corpus) attempt(
	ctx context.Context,
	key string,
	n int,
) ([]byte, error) {
	a := c.Ledger.Argue(n)
	if err := c.Days.Tell(ctx, c.Ledger, a); err != nil {
		return nil, err
	}
	return c.argumentScript(key, a)
}

func (c *Corpus) argumentScript(key string, a *attempt.Argument) ([]byte, error) {
	if c.Secret != nil {
		b, err := json.Marshal(a)
		if err == nil && (c.Secret(string(b)) != "" || c.IsClosed(a.Story)) {
			a = c.Ledger.Argue(a.Number) // what the ledger tells is public, or it would lack the line
		}
	}
	return script(key, a, c.Clean)
}

// chunk returns, as one script, the data of chunkSize attempts from index n on. It leaves out those
// that have a file of their own. Each attempt has the checks that it failed, and no dialogue.
func (c *Corpus) chunk(key string, n int) ([]byte, error) {
	arguments := map[string]*attempt.Argument{}
	for i := n; i < min(n+chunkSize, len(c.Ledger.Lines)); i++ {
		if c.withFile[i] {
			continue
		}
		a := c.Ledger.Argue(i)
		a.Features = nil
		a.Checks = slices.DeleteFunc(a.Checks, func(x attempt.Check) bool {
			return !x.Fires
		})
		if err := a.Clean(c.Clean); err != nil {
			return nil, err
		}
		arguments[strconv.Itoa(i)] = a
	}
	return script(key, arguments, nil)
}

// chooseFiles sets c.withFile to the attempts that get a file of their own on the site. These are
// all kept attempts and, for each reason, up to perReason rejected ones. A rejected attempt must
// have a dialogue and an input file that is present; those with the lowest record hashes are
// chosen.
func (c *Corpus) chooseFiles(perReason int) {
	c.withFile = map[int]bool{}
	byReason := map[string][]int{}
	for i, l := range c.Ledger.Lines {
		a := l.Attempt
		if a.Fate == rows.FateKept {
			c.withFile[i] = true
			continue
		}
		if _, hasDay := c.Days.Inputs[a.SourceSHA256]; hasDay && a.HasDialogue {
			reason := a.Stage + "/" + a.Reason
			byReason[reason] = append(byReason[reason], i)
		}
	}
	for _, indices := range byReason {
		slicesx.SortByKey(indices, func(i int) string {
			return c.Ledger.Lines[i].Attempt.RecordSHA256
		})
		for _, i := range indices[:min(perReason, len(indices))] {
			c.withFile[i] = true
		}
	}
}

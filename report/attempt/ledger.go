// Package attempt collects everything that is known for and against one attempt, from the tables
// and the bank of a corpus and from the trace. The text of `arena explain` and the pages of
// `arena view` both show this data.
package attempt

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/where"
	"github.com/trajectory-arena/arena/docs"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/filters/checks"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/text"
)

// Ledger is the set of tables of a corpus about all attempts that were read for it.
type Ledger struct {
	Manifest *corpus.Manifest
	Lines    []*where.Line
	Rules    Rules
	// Threshold is the lexical score from which the guard drops an attempt, 0 if the corpus does
	// not record it.
	Threshold float64
	// Planted counts the protected requests that were planted in other words, and those that the
	// guard found.
	Planted []guard.InjectionRecall
	// Meanings maps each reason to its meaning and remedy in docs/reasons.md. If a reason has
	// several meanings, it has the first.
	Meanings map[string]string
	Checks   map[string]checks.Check

	fsys      corpus.FS
	dir       string
	filter    *filters.Filter
	byID      map[string]int
	byProblem map[string][]int
	// ways maps the indices in byProblem to the filter's ratings of the attempts' trajectories.
	ways map[int]float64
	// clusters maps problems to their clusters, the groups of near-duplicate problems. protected
	// maps the ids of clusters and held-out problems to the protected requests. pools maps
	// clusters to the part of the corpus that may contain them, such as train.
	clusters, protected map[string]string
	pools               map[string]guard.Pool
	// heldOut maps clusters to the ids of their problems that files of held-out problems name.
	heldOut map[string][]string
}

// Rules is the part of a build's configuration that decides about attempts.
type Rules struct {
	Filter filters.Config `yaml:"filter"`
	Select struct {
		Top       int     `yaml:"top"`
		Near      float64 `yaml:"near"`
		MinReward float64 `yaml:"min_reward"`
	} `yaml:"select"`
}

// Read reads the tables and the bank of the corpus in dir.
func Read(fsys corpus.FS, dir string) (*Ledger, error) {
	m, err := corpus.ReadManifest(fsys, dir)
	if err != nil {
		return nil, err
	}
	l := &Ledger{
		Manifest: m,
		Rules:    Rules{Filter: filters.Defaults()},
		Meanings: Meanings(),
		Checks:   checksByName(),
		fsys:     fsys,
		dir:      dir,
	}
	if err = yaml.Unmarshal(m.Configuration, &l.Rules); err != nil {
		return nil, fmt.Errorf("read the configuration of %s: %w", dir, err)
	}
	if l.filter, err = filters.New(l.Rules.Filter); err != nil {
		return nil, err
	}
	if l.Lines, err = where.Read(fsys, dir, true); err != nil {
		return nil, err
	}
	l.index()
	if err := l.readLeaks(); err != nil {
		return nil, err
	}
	if err := l.readBank(); err != nil {
		return nil, err
	}
	return l, nil
}

// Alone returns a ledger with a single attempt that is in no corpus, with the results of filter
// and judge.
func Alone(line *where.Line) *Ledger {
	l := &Ledger{
		Lines:    []*where.Line{line},
		Meanings: Meanings(),
		Checks:   checksByName(),
	}
	l.index()
	return l
}

func checksByName() map[string]checks.Check {
	byName := map[string]checks.Check{}
	for _, c := range filters.Catalogue() {
		byName[c.Name] = c
	}
	return byName
}

// index fills the maps of the ledger: byID finds an attempt by its id (of several copies, one that
// was not dropped at reading), byProblem has the ranked attempts at each problem, best first, ways
// the rating of each ranked attempt, and clusters the cluster (group of similar problems) of each
// problem.
func (l *Ledger) index() {
	l.byID = map[string]int{}
	l.byProblem = map[string][]int{}
	l.ways = map[int]float64{}
	l.clusters = map[string]string{}
	for i, line := range l.Lines {
		a := line.Attempt
		l.clusters[a.ProblemID] = a.Cluster
		if _, known := l.byID[a.TraceID]; !known || a.Stage != "read" {
			l.byID[a.TraceID] = i
		}
		if line.Place != nil && a.Stage != "read" {
			l.byProblem[a.ProblemID], l.ways[i] = append(l.byProblem[a.ProblemID], i), way(line)
		}
	}
	for _, indices := range l.byProblem {
		slicesx.SortByKey(indices, func(i int) int64 {
			return l.Lines[i].Place.Place
		})
	}
}

// Keep removes the lines for which show returns false. It also removes everything that the guard
// knows: the attempts that it dropped, its findings, and the protected requests.
func (l *Ledger) Keep(show func(index int) bool) {
	var lines []*where.Line
	l.protected = nil
	l.pools = nil
	for i := range l.Planted {
		l.Planted[i].Missed = nil // protected problems, by their ids
	}
	for i, line := range l.Lines {
		near := line.Leak != nil && line.Leak.Drop
		line.Leak = nil
		if !near && show(i) {
			lines = append(lines, line)
		}
	}
	l.Lines = lines
	l.index()
}

const maxReport = 1 << 30

func (l *Ledger) readLeaks() error {
	var report struct {
		Guard struct {
			Threshold float64
			Injection guard.InjectionReport
		}
	}
	err := corpus.ReadJSON(
		l.fsys,
		filepath.Join(l.dir, "reports", "leak.json"),
		maxReport,
		&report,
	)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	l.Threshold, l.Planted = report.Guard.Threshold, report.Guard.Injection.Kinds
	return err
}

// readBank sets l.protected to the texts of the protected problems and l.pools to the pool (such as
// train or held-out) of each problem, from the corpus's file bank.json. Both are empty for a corpus
// without that file, such as a published one.
func (l *Ledger) readBank() error {
	l.protected = map[string]string{}
	l.pools = map[string]guard.Pool{}
	l.heldOut = map[string][]string{}
	b, err := corpus.ReadFile(l.fsys, filepath.Join(l.dir, "bank.json"), maxReport)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	bank, err := guard.ReadState(bytes.NewReader(b))
	if err != nil {
		return err
	}
	for _, c := range bank.Clusters {
		l.pools[c.ID] = c.Pool
		l.heldOut[c.ID] = c.HeldOut
		for _, id := range append(c.HeldOut, c.ID) {
			l.protected[id] = strings.Join(c.Texts, "\n")
		}
	}
	return nil
}

// Find returns the index in l.Lines of the attempt with this id. It returns false if there is
// none.
func (l *Ledger) Find(id string) (int, bool) {
	i, known := l.byID[id]
	return i, known && id != ""
}

// Meanings returns the meaning and the remedy of each reason in docs/reasons.md. If a reason has
// several meanings, it returns the first.
func Meanings() map[string]string {
	meanings := map[string]string{}
	for line := range strings.Lines(docs.Reasons) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "| "), " | ")
		if word := strings.Trim(cells[0], "`"); len(cells) == 4 && word != cells[0] {
			meanings[word] = cmp.Or(meanings[word], strings.ReplaceAll(
				cells[2]+"; to do: "+cells[3],
				`\|`,
				"|",
			))
		}
	}
	return meanings
}

// Nearest returns the n protected requests that have the most words in common with a request.
func (l *Ledger) Nearest(request string, n int) []string {
	var parts []string
	for _, texts := range l.protected {
		for text := range strings.SplitSeq(texts, "\n") {
			if text != "" && len(shared(request, text)) > 0 {
				parts = append(parts, text)
			}
		}
	}
	slices.SortFunc(parts, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(shared(request, b)), len(shared(request, a))), cmp.Compare(a, b))
	})
	parts = slices.Compact(parts)
	return parts[:min(n, len(parts))]
}

// Similar returns the id of the ledger that is most similar to id, an unknown one. It returns ""
// if none is similar.
func (l *Ledger) Similar(id string) string {
	best := ""
	nearest := len(id)
	for _, known := range slicesx.SortedKeys(l.byID) {
		if d := text.Distance(id, known); d < nearest {
			best = known
			nearest = d
		}
	}
	return best
}

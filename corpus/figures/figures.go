// Package figures sums up the rows that a corpus holds, for its card: how many, how
// many tokens, and of what kind.
package figures

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/corpus"
)

// Row is what the figures take of one row.
type Row struct {
	Config, Split string
	// Tokens are those that Counter counted; 0 for a problem.
	Tokens     int64
	Counter    string
	Task       string
	Difficulty string
	Agent      string
}

// Figures are sums over rows. They belong to one goroutine.
type Figures struct{ sums map[[2]string]*sum }

type sum struct {
	tokens   []int64
	counters map[string]int64
	by       [3]map[string]int64
}

// kinds are what rows are counted by.
var kinds = [3]string{"task type", "difficulty", "agent"}

// Add counts a row.
func (f *Figures) Add(r Row) {
	if f.sums == nil {
		f.sums = map[[2]string]*sum{}
	}
	at := [2]string{r.Config, r.Split}
	s := f.sums[at]
	if s == nil {
		s = &sum{counters: map[string]int64{}}
		for i := range s.by {
			s.by[i] = map[string]int64{}
		}
		f.sums[at] = s
	}
	s.tokens = append(s.tokens, r.Tokens)
	s.counters[r.Counter]++
	for i, word := range [3]string{r.Task, r.Difficulty, r.Agent} {
		if word != "" {
			s.by[i][strings.Clone(word)]++ // a row's texts live as long as its batch
		}
	}
}

// Quantile is the value at or below which the given share of sorted values lies,
// by nearest rank.
func Quantile(sorted []int64, percent int) int64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max((len(sorted)*percent+99)/100, 1)-1]
}

// Section is the card's part.
func (f *Figures) Section() corpus.Section {
	var b strings.Builder
	b.WriteString("| config | split | rows | tokens | half at most | 95 % at most | counted by |\n|---|---|---:|---:|---:|---:|---|\n")
	order := slices.SortedFunc(maps.Keys(f.sums), func(x, y [2]string) int {
		return cmp.Or(cmp.Compare(x[0], y[0]), -cmp.Compare(x[1], y[1]))
	})
	for _, at := range order {
		s := f.sums[at]
		slices.Sort(s.tokens)
		total := int64(0)
		for _, n := range s.tokens {
			total += n
		}
		if total == 0 {
			fmt.Fprintf(&b, "| %s | %s | %d | | | | |\n", at[0], at[1], len(s.tokens))
			continue
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %d | %d | %s |\n", at[0], at[1], len(s.tokens), total,
			Quantile(s.tokens, 50), Quantile(s.tokens, 95), strings.Join(slices.Sorted(maps.Keys(s.counters)), ", "))
	}
	for i, kind := range kinds {
		f.count(&b, order, i, kind)
	}
	return corpus.Section{Heading: "Rows and tokens", Body: b.String()}
}

// named is how many of a kind the card names: of agents there are hundreds.
const named = 8

func (f *Figures) count(b *strings.Builder, order [][2]string, i int, kind string) {
	head := fmt.Sprintf("\n| config | split | rows by %s |\n|---|---|---|\n", kind)
	for _, at := range order {
		by := f.sums[at].by[i]
		if len(by) == 0 {
			continue
		}
		words := slices.SortedFunc(maps.Keys(by), func(x, y string) int { return cmp.Or(cmp.Compare(by[y], by[x]), cmp.Compare(x, y)) })
		var parts []string
		for _, word := range words[:min(len(words), named)] {
			parts = append(parts, fmt.Sprintf("%s %d (%.1f %%)", word, by[word], 100*float64(by[word])/float64(len(f.sums[at].tokens))))
		}
		if rest := len(words) - named; rest > 0 {
			parts = append(parts, fmt.Sprintf("%d more", rest))
		}
		fmt.Fprintf(b, "%s| %s | %s | %s |\n", head, at[0], at[1], strings.Join(parts, ", "))
		head = ""
	}
}

package site

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/where"
	"github.com/trajectory-arena/arena/docs"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/report/attempt"
)

type day struct {
	Name    string            `json:"name"`
	Rows    int               `json:"rows"`
	Hidden  int               `json:"hidden,omitempty"`
	Funnel  []corpus.Stage    `json:"funnel"`
	Reasons map[string]string `json:"reasons"`
	// Checks are the sentences of the filter's checks and what passes them, by name.
	Checks    map[string]sentence `json:"checks"`
	Columns   []series            `json:"columns"`
	Threshold float64             `json:"threshold"`
	Top       int                 `json:"top"`
	Near      float64             `json:"near"`
	Chunk     int                 `json:"chunk"`
	// Planted counts planted protected requests and those found, by kind.
	Planted []guard.InjectionRecall `json:"planted"`
	// Whole are the attempts with a file of their own; null where all have one.
	Whole []int `json:"whole"`
}

type sentence struct {
	Doc   string `json:"doc"`
	Value string `json:"value"`
	Above bool   `json:"above,omitempty"`
}

// column is one column of the table of attempts. Of those with few distinct texts
// the values point into Texts.
type column struct {
	Name   string   `json:"name"`
	Kind   string   `json:"kind"`
	Doc    string   `json:"doc,omitempty"`
	Texts  []string `json:"texts,omitempty"`
	Values []any    `json:"values"`
}

func (c *Corpus) day() *day {
	l := c.Ledger
	d := &day{
		Name: c.Name, Rows: len(l.Lines), Hidden: c.Hidden, Funnel: l.Manifest.Funnel, Reasons: map[string]string{}, Checks: map[string]sentence{}, Columns: c.columns(),
		Threshold: l.Threshold, Top: l.Rules.Select.Top, Near: l.Rules.Select.Near, Chunk: chunk, Planted: l.Planted,
	}
	for name, c := range l.Checks {
		d.Checks[name] = sentence{c.Doc, c.Value, c.Above}
	}
	for _, s := range d.Funnel {
		d.mean(l, slices.Collect(maps.Keys(s.Dropped)))
		d.mean(l, slices.Collect(maps.Keys(s.Failures)))
	}
	for _, line := range l.Lines {
		if line.Verdict != nil {
			d.mean(l, line.Verdict.Reasons)
		}
	}
	if !c.All {
		d.Whole = []int{}
		for at := range l.Lines {
			if c.whole[at] {
				d.Whole = append(d.Whole, at)
			}
		}
	}
	return d
}

func (d *day) mean(l *attempt.Ledger, words []string) {
	for _, word := range words {
		d.Reasons[word] = strings.ReplaceAll(l.Meanings[word], "`", "")
	}
}

// columns are all columns of the ledger but lists of structures, which the pages of attempts show.
func (c *Corpus) columns() []series {
	meanings := docs.ColumnMeanings()
	return slicesx.FilterMap(where.Columns(), func(w where.Column) (series, bool) {
		return series{w, meanings[w.Name], c.Ledger.Lines}, w.Kind() != "" && !slices.Contains([]string{"judge_trace_id", "judge_record_sha256", "leak_id"}, w.Name)
	})
}

// series is a column that is put together when it is written: all at once would take as
// much memory as the ledger.
type series struct {
	where.Column
	doc   string
	lines []*where.Line
}

// MarshalJSON gives a column.
func (s series) MarshalJSON() ([]byte, error) {
	c := column{Name: s.Name, Kind: s.Kind(), Doc: s.doc, Values: []any{}}
	for _, line := range s.lines {
		c.Values = append(c.Values, flat(s.Of(line)))
	}
	c.share()
	return json.Marshal(c)
}

func flat(v any) any {
	switch v := v.(type) {
	case []string:
		return strings.Join(v, " ")
	case []bool:
		walk := ""
		for _, passed := range v {
			walk += map[bool]string{true: "1", false: "0"}[passed]
		}
		return walk
	}
	return v
}

// maxTexts is how many distinct texts a column may have for its values to be
// numbers of them.
const maxTexts = 4096

// share writes each text of a column once, where there are few.
func (c *column) share() {
	if c.Kind != "words" {
		return
	}
	numbers := map[string]int{}
	var texts []string
	for _, v := range c.Values {
		s, _ := v.(string)
		if _, known := numbers[s]; !known {
			if len(texts) == maxTexts {
				return
			}
			numbers[s], texts = len(texts), append(texts, s)
		}
	}
	for i, v := range c.Values {
		s, _ := v.(string)
		c.Values[i] = numbers[s]
	}
	c.Texts = texts
}

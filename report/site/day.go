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

// day is the data of the page that shows one corpus.
type day struct {
	Name    string            `json:"name"`
	Rows    int               `json:"rows"`
	Hidden  int               `json:"hidden,omitempty"`
	Funnel  []corpus.Stage    `json:"funnel"`
	Reasons map[string]string `json:"reasons"`
	// Checks maps the name of each check of the filter to its description and passing values.
	Checks    map[string]sentence `json:"checks"`
	Columns   []series            `json:"columns"`
	Threshold float64             `json:"threshold"`
	Top       int                 `json:"top"`
	Near      float64             `json:"near"`
	Chunk     int                 `json:"chunk"`
	// Planted counts the planted protected requests and those that the guard found, by kind.
	Planted []guard.InjectionRecall `json:"planted"`
	// Whole has the indices of the attempts with a file of their own. It is null if all attempts
	// have one.
	Whole []int `json:"whole"`
}

type sentence struct {
	Doc   string `json:"doc"`
	Value string `json:"value"`
	Above bool   `json:"above,omitempty"`
}

// column is one column of the table of attempts. If it has few distinct texts, its values are
// indices into Texts.
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
		Threshold: l.Threshold, Top: l.Rules.Select.Top, Near: l.Rules.Select.Near, Chunk: chunkSize, Planted: l.Planted,
	}
	for name, c := range l.Checks {
		d.Checks[name] = sentence{c.Doc, c.Value, c.Above}
	}
	for _, s := range d.Funnel {
		d.addReasons(l, slices.Collect(maps.Keys(s.Dropped)))
		d.addReasons(l, slices.Collect(maps.Keys(s.Failures)))
	}
	for _, line := range l.Lines {
		if line.Verdict != nil {
			d.addReasons(l, line.Verdict.Reasons)
		}
	}
	if !c.All {
		d.Whole = []int{}
		for i := range l.Lines {
			if c.withFile[i] {
				d.Whole = append(d.Whole, i)
			}
		}
	}
	return d
}

func (d *day) addReasons(l *attempt.Ledger, words []string) {
	for _, word := range words {
		d.Reasons[word] = strings.ReplaceAll(l.Meanings[word], "`", "")
	}
}

// columns returns the columns for the table of attempts. It leaves out lists of structures,
// which are on the pages of single attempts.
func (c *Corpus) columns() []series {
	meanings := docs.ColumnMeanings()
	return slicesx.FilterMap(where.Columns(), func(w where.Column) (series, bool) {
		return series{w, meanings[w.Name], c.Ledger.Lines}, w.Kind() != "" && !slices.Contains([]string{"judge_trace_id", "judge_record_sha256", "leak_id"}, w.Name)
	})
}

// series is a column of the table of attempts whose values are computed only when it is encoded.
// The values of all columns together would need as much memory as the complete tables of the
// corpus.
type series struct {
	where.Column
	doc   string
	lines []*where.Line
}

// MarshalJSON encodes s as a column.
func (s series) MarshalJSON() ([]byte, error) {
	c := column{
		Name:   s.Name,
		Kind:   s.Kind(),
		Doc:    s.doc,
		Values: []any{},
	}
	for _, line := range s.lines {
		c.Values = append(c.Values, flatten(s.Of(line)))
	}
	c.shareTexts()
	return json.Marshal(c)
}

// flatten returns a list as one text: strings are joined by spaces, and booleans become the
// digits 1 and 0. Other values are returned unchanged.
func flatten(v any) any {
	switch v := v.(type) {
	case []string:
		return strings.Join(v, " ")
	case []bool:
		bits := ""
		for _, passed := range v {
			if passed {
				bits += "1"
			} else {
				bits += "0"
			}
		}
		return bits
	}
	return v
}

// maxTexts is the maximum number of distinct texts in a column whose values are stored as indices
// into a list of these texts.
const maxTexts = 4096

// shareTexts replaces the texts of a column of kind words by indices into Texts, the list of
// its distinct texts, if there are at most maxTexts of them. Other columns are unchanged.
func (c *column) shareTexts() {
	if c.Kind != "words" {
		return
	}
	numbers := map[string]int{}
	var texts []string
	for _, v := range c.Values {
		s, _ := v.(string)
		if _, ok := numbers[s]; !ok {
			if len(texts) == maxTexts {
				return
			}
			numbers[s] = len(texts)
			texts = append(texts, s)
		}
	}
	for i, v := range c.Values {
		s, _ := v.(string)
		c.Values[i] = numbers[s]
	}
	c.Texts = texts
}

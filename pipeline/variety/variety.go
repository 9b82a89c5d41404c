// Package variety measures the rows of a corpus: how varied they are, whether what the model says
// rests on results, and how hard the problems are. Corpora from any source can be compared.
package variety

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/corpus/where"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/stats"
)

const (
	// maxRows is the maximum number of rows of which each pair is compared.
	maxRows = 1000
	// blockWords is the number of words in each of the equally long texts in which different
	// sequences of words are counted.
	blockWords = 1000
	// maxWords is the maximum number of words of one row in which different sequences of words are
	// counted.
	maxWords = 2000
	// nearSimilarity is the similarity, 0 to 1, from which on a row counts as nearly repeating
	// another.
	nearSimilarity = 0.8
)

// Sample is a sample of the rows of a corpus, and the outcomes of all its attempts. The sample
// depends on the IDs of the rows and not on their order.
type Sample struct {
	// Seen is the number of rows that were offered.
	Seen     int
	rows     []*row
	problems map[string]tally
}

// row is what is kept of one row of the corpus for comparison with other rows, with counts of its
// turns. order is the hash of the row's ID, by which rows are sampled.
type row struct {
	order   uint64
	problem string
	// words are hashes of the first words that the model wrote, grams the set of the hashes of all
	// its 3-grams.
	words, grams []uint64
	// opening and tools are hashes of the model's first words and of the sequence of its tools.
	opening, tools                   uint64
	turns, reasoned, after, grounded int
}

type tally struct{ attempts, solved int }

// Add adds a row, or leaves it out of the sample.
func (s *Sample) Add(r *rows.SFT) error {
	s.Seen++
	order := xxh3.HashString(r.SessionID)
	isFull := len(s.rows) == maxRows
	if isFull && order >= s.rows[maxRows-1].order {
		return nil
	}
	messages, err := chat.Decode(r.Messages)
	if err != nil {
		return err
	}
	if isFull {
		s.rows = s.rows[:maxRows-1]
	}
	added := newRow(messages)
	added.order = order
	added.problem = strings.Clone(cmp.Or(r.Cluster, r.ProblemID, r.SessionID))
	at, _ := slices.BinarySearchFunc(s.rows, order, func(r *row, order uint64) int {
		return cmp.Compare(r.order, order)
	})
	s.rows = slices.Insert(s.rows, at, added)
	return nil
}

func newRow(messages []chat.Message) *row {
	r := &row{}
	var said, tools []uint64
	for i := range messages {
		m := &messages[i]
		if m.Role != chat.Assistant {
			continue
		}
		words, _ := read(m.Reasoning + "\n" + m.Content)
		said = append(said, words...)
		for _, call := range m.Calls {
			tools = append(tools, xxh3.HashString(call.Function.Name))
		}
	}
	r.grams = set(grams(said, gramWords))
	r.words = slices.Clone(said[:min(len(said), maxWords)])
	r.opening = whole(said[:min(len(said), openingWords)])
	r.tools = whole(tools)
	r.turns, r.reasoned, r.after, r.grounded = thoughts(messages)
	return r
}

// whole returns one hash of the complete sequence of values, 0 if there are none.
func whole(values []uint64) uint64 {
	hash := uint64(0)
	for _, h := range grams(values, len(values)) {
		hash = h
	}
	return hash
}

// AddAttempt counts the outcome of an attempt, if it has one.
func (s *Sample) AddAttempt(line *where.Line) {
	solved := false
	switch {
	case line.Outcome != nil && line.Outcome.Scored:
		solved = line.Outcome.Success
	case line.Declared != nil && line.Declared.Reward != nil:
		solved = *line.Declared.Reward >= 1
	default:
		return
	}
	if s.problems == nil {
		s.problems = map[string]tally{}
	}
	t := s.problems[line.Attempt.ProblemID]
	t.attempts++
	if solved {
		t.solved++
	}
	s.problems[line.Attempt.ProblemID] = t
}

// Figure is one measured share of a sample.
type Figure struct {
	// Name is the figure's name on dataset cards and in tables.
	Name string
	// Value is NaN if nothing could be measured. Interval is its 95 % interval.
	Value float64
	stats.Interval
	// N is the number of Units that were measured.
	N     int
	Units string
}

// Figures returns all figures of a sample.
func (s *Sample) Figures() []Figure {
	groups := s.groups()
	alike := similarities(s.rows)
	repeats := map[*row]int{} // 1 for a row that nearly repeats another one
	for i, list := range alike {
		for j, similarity := range list {
			if similarity >= nearSimilarity {
				repeats[s.rows[i]] = 1
				repeats[s.rows[j]] = 1
			}
		}
	}
	pairs := func(name string, value func(r *row) uint64) Figure {
		return s.pairs(name, groups, func(i, j int) float64 {
			if value(s.rows[i]) == value(s.rows[j]) {
				return 1
			}
			return 0
		})
	}
	return []Figure{
		s.distinct(),
		s.pairs("self-similarity", groups, func(i, j int) float64 { return alike[i][j] }),
		pairs("same opening", func(r *row) uint64 { return r.opening }),
		pairs("same tools", func(r *row) uint64 { return r.tools }),
		s.share("near copies", "rows", groups, func(r *row) (part, total int) { return repeats[r], 1 }),
		s.share("turns with reasoning", "turns", groups, func(r *row) (part, total int) { return r.reasoned, r.turns }),
		s.share("turns that rest on results", "turns", groups, func(r *row) (part, total int) { return r.grounded, r.after }),
		s.outcomes("attempts solved", "attempts", func(t tally) (part, total int) { return t.solved, t.attempts }),
		s.outcomes("problems solved sometimes", "problems", sometimes),
	}
}

// sometimes counts a problem that some but not all of its attempts solved. For a problem with at
// least two attempts, part is 1 if that is so, otherwise 0, and total is 1. For a problem with fewer
// attempts both are 0, so that it is not counted.
func sometimes(t tally) (part, total int) {
	switch {
	case t.attempts < 2:
		return 0, 0
	case t.solved == 0 || t.solved == t.attempts:
		return 0, 1
	default:
		return 1, 1
	}
}

// groups returns, for each row of the sample, the number of its problem. Rows at the same problem
// have the same number.
func (s *Sample) groups() []int {
	numbers := map[string]int{}
	return slicesx.Map(s.rows, func(r *row) int {
		if _, known := numbers[r.problem]; !known {
			numbers[r.problem] = len(numbers)
		}
		return numbers[r.problem]
	})
}

// distinct returns the mean share of different 3-grams (sequences of three words) among all those
// of a text. The texts have blockWords words each, cut from the rows' words one after another,
// since longer texts repeat themselves more.
func (s *Sample) distinct() Figure {
	var text []uint64
	for _, r := range s.rows {
		text = append(text, r.words...)
	}
	var shares []float64
	for block := range slices.Chunk(text, blockWords) {
		if len(block) == blockWords {
			all := grams(block, gramWords)
			shares = append(shares, float64(len(set(all)))/float64(len(all)))
		}
	}
	mean := stats.Mean(shares)
	return Figure{
		Name:     "distinct 3-grams",
		Value:    mean,
		Interval: within(stats.T95(mean, stats.ClusteredSE(shares), len(shares))),
		N:        len(shares),
		Units:    "texts",
	}
}

// pairs calls compare, which returns 0 to 1, for all pairs of rows, i after j. It returns the mean
// over those at different problems. groups has the problem of each row. The interval is Student's
// with twice the standard error over problems, since each pair counts at both of its problems. For
// a mean of 0 or 1, which has no spread, it is Wilson's.
func (s *Sample) pairs(name string, groups []int, compare func(i, j int) float64) Figure {
	sums := make([]float64, len(s.rows))
	counts := make([]float64, len(s.rows))
	for i := range s.rows {
		for j := range i {
			alike := compare(i, j)
			if groups[i] == groups[j] {
				continue
			}
			sums[i] += alike
			sums[j] += alike
			counts[i]++
			counts[j]++
		}
	}
	mean, se := stats.Ratio(stats.SumByGroup(sums, groups), stats.SumByGroup(counts, groups))
	problems := len(stats.SumByGroup(counts, groups))
	f := Figure{Name: name, Value: mean, N: len(s.rows), Units: "rows"}
	f.Interval = within(stats.T95(mean, 2*se, problems))
	if mean == 0 || mean == 1 { // no spread was seen, which is no certainty
		f.Interval = stats.ClusteredWilson(mean, 0, problems, problems)
	}
	return f
}

// within returns the part of an interval that is between 0 and 1. For an unknown interval (NaN) it
// returns 0 to 1.
func within(i stats.Interval) stats.Interval {
	if math.IsNaN(i.Low) {
		return stats.Interval{Low: 0, High: 1}
	}
	return stats.Interval{Low: max(i.Low, 0), High: min(i.High, 1)}
}

// share returns the sum over all rows of the first results of part, divided by the sum of the
// second. The interval treats problems as independent, not rows; groups has the number of each
// row's problem.
func (s *Sample) share(name, units string, groups []int, part func(*row) (part, total int)) Figure {
	parts := make([]float64, len(s.rows))
	totals := make([]float64, len(s.rows))
	for i, r := range s.rows {
		p, t := part(r)
		parts[i] = float64(p)
		totals[i] = float64(t)
	}
	return ratio(name, units, stats.SumByGroup(parts, groups), stats.SumByGroup(totals, groups))
}

// outcomes returns, with an interval, the sum over all problems of the first results of part,
// divided by the sum of the second.
func (s *Sample) outcomes(name, units string, part func(tally) (part, total int)) Figure {
	var parts, totals []float64
	for _, key := range slicesx.SortedKeys(s.problems) {
		p, t := part(s.problems[key])
		parts = append(parts, float64(p))
		totals = append(totals, float64(t))
	}
	return ratio(name, units, parts, totals)
}

func ratio(name, units string, parts, totals []float64) Figure {
	value, se := stats.Ratio(parts, totals)
	n := 0
	clusters := 0
	for _, total := range totals {
		n += int(total)
		clusters += int(min(total, 1))
	}
	return Figure{
		Name:     name,
		Value:    value,
		Interval: stats.ClusteredWilson(value, se, clusters, n),
		N:        n,
		Units:    units,
	}
}

// String returns the value with its interval and the number of units, "-" if there is no value.
func (f Figure) String() string {
	if f.N == 0 || math.IsNaN(f.Value) {
		return "-"
	}
	return fmt.Sprintf("%.3f (%.3f to %.3f, %d %s)", f.Value, f.Low, f.High, f.N, f.Units)
}

// Table returns the figures of samples side by side, as a Markdown table.
func Table(names []string, samples []*Sample) string {
	columns := slicesx.Map(samples, (*Sample).Figures)
	var b strings.Builder
	b.WriteString("| share, 95 % interval, n | " + strings.Join(slicesx.Map(names, corpus.EscapeCell), " | ") + " |\n")
	b.WriteString("|---" + strings.Repeat("|---:", len(samples)) + "|\n| rows |")
	for _, s := range samples {
		fmt.Fprintf(&b, " %d |", s.Seen)
	}
	for i, f := range columns[0] {
		b.WriteString("\n| " + f.Name + " |")
		for _, figures := range columns {
			b.WriteString(" " + figures[i].String() + " |")
		}
	}
	return b.String() + "\n"
}

// Text returns the figures of the rows as Markdown, "" if there are no rows.
func (s *Sample) Text() string {
	if len(s.rows) == 0 {
		return ""
	}
	text := fmt.Sprintf("Of %d rows, %d were compared. `arena inspect CORPUS OTHER` shows another corpus beside this one; docs/measured/variety.md says what the figures are.\n\n", s.Seen, len(s.rows))
	shown := slices.DeleteFunc(s.Figures(), func(f Figure) bool { return f.N == 0 })
	return text + corpus.Table("figure | share, 95 % interval, n", shown, func(f Figure) string {
		return f.Name + " | " + f.String()
	})
}

package gates

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/cursor"
)

// What stands in the thinking as a tool wrote it is the tool's word and not the
// agent's: it analyses nothing. A copy is minFields or more fields of a result
// in its own order, whatever the quotes and blanks between them, or a whole
// line of a result that is text. One listing quoted within a line of minWords
// own words is cited and stays.
const (
	minFields = 3
	minWords  = 3
	// minLine is the least length in bytes of a copied line.
	minLine = 24
	// maxLookedAt bounds the bytes of results that an attempt's thinking is
	// looked up in, to a second or so. What is laid out as tools do beyond that is
	// taken for a copy, since nobody reasons so.
	maxLookedAt = 1 << 30
)

// copies finds what the thinking copies from earlier results.
type copies struct {
	turns []arena.Turn
	// firstText is the first turn with a result that is text.
	firstText int
	// results are those of the turns before read, as far as they were needed.
	results  []copied
	read     int
	lookedAt int
}

// copied is a result as copies are held against it.
type copied struct {
	// letters are its letters and digits, lines those of one that is no JSON, in
	// byte order.
	letters string
	lines   []string
}

func newCopies(turns []arena.Turn) *copies {
	isText := func(c arena.Call) bool { return c.Result.Kind() == arena.String }
	first := slices.IndexFunc(turns, func(t arena.Turn) bool { return slices.ContainsFunc(t.Calls, isText) })
	if first < 0 {
		first = len(turns)
	}
	return &copies{turns: turns, firstText: first}
}

// without is text, thinking of a turn, with all copies blanked, byte for byte.
func (c *copies) without(turn int, text string) string {
	var found []span
	if strings.Contains(text, `":`) || strings.Contains(text, "':") || strings.Count(text, ": ") >= minFields {
		found = c.copiedStretches(turn, text)
	}
	if turn > c.firstText {
		found = append(found, c.copiedLines(turn, text)...)
	}
	return blanked(text, found)
}

// before are the results of the turns before turn.
func (c *copies) before(turn int) []copied {
	for ; c.read < turn; c.read++ {
		for k := range c.turns[c.read].Calls {
			call := &c.turns[c.read].Calls[k]
			if call.Result.Kind() == arena.Absent {
				continue
			}
			text := string(call.Result)
			if call.Result.Kind() == arena.String {
				text = gjson.Parse(text).String()
			}
			r := copied{letters: lettersOf(text)}
			if !cursor.Valid(text) {
				r.lines = strings.Split(text, "\n")
				slices.Sort(r.lines)
			}
			c.results = append(c.results, r)
		}
	}
	return c.results
}

// copiedStretches are the fields of results that the text copies.
func (c *copies) copiedStretches(turn int, text string) []span {
	fields := fieldsIn(text)
	var found []stretch
	for i := 0; i < len(fields); {
		n := 0
		if standTogether(text, fields[i:]) {
			n = c.copiedFields(turn, text, fields[i:])
		}
		if n < minFields {
			i++
			continue
		}
		from, to := withFigures(text, fields, i, i+n)
		found = append(found, stretch{span{fields[from].start, fields[to-1].end}, ofOneListing(fields[from:to])})
		i = to
	}
	return unquoted(text, found)
}

// stretch is a copied part of a text, listing where it is one product's.
type stretch struct {
	span
	listing bool
}

// unquoted are the stretches but for the listings that stand in a line of own
// words: of words that are left when all that is copied is taken out.
func unquoted(text string, all []stretch) []span {
	copied := make([]span, len(all))
	for i, at := range all {
		copied[i] = at.span
	}
	own, kept := blanked(text, copied), copied[:0]
	var line span
	quoted := false
	for _, at := range all {
		if at.listing && at.end > line.end {
			line = lineOf(text, at.span)
			quoted = len(strings.FieldsFunc(own[line.start:line.end], isBlankOrSign)) >= minWords
		}
		if !at.listing || !quoted {
			kept = append(kept, at.span)
		}
	}
	return kept
}

// lineOf widens a stretch to the line that it stands in.
func lineOf(text string, at span) span {
	at.start = int32(strings.LastIndexByte(text[:at.start], '\n') + 1)
	if n := strings.IndexByte(text[at.end:], '\n'); n >= 0 {
		return span{at.start, at.end + int32(n)}
	}
	return span{at.start, int32(len(text))}
}

// ofOneListing reports whether no field comes twice.
func ofOneListing(fields []field) bool {
	for _, f := range fields[1:] {
		if f.key == fields[0].key {
			return false
		}
	}
	return true
}

// withFigures widens the copied fields by the figures beside them, which other
// writers of JSON write otherwise: 61.0 for 61. A key that comes again begins
// another listing.
func withFigures(text string, fields []field, from, to int) (first, end int) {
	for from > 0 && fields[from-1].figure(text) && onlySigns(text[fields[from-1].end:fields[from].start]) {
		from--
	}
	again := func(f field) bool { return f.key == fields[to].key }
	for to < len(fields) && fields[to].figure(text) && !slices.ContainsFunc(fields[from:to], again) && onlySigns(text[fields[to-1].end:fields[to].start]) {
		to++
	}
	return from, to
}

// standTogether reports whether as many fields as make a copy follow each other.
func standTogether(text string, fields []field) bool {
	if len(fields) < minFields {
		return false
	}
	for k := 1; k < minFields; k++ {
		if !onlySigns(text[fields[k-1].end:fields[k].start]) {
			return false
		}
	}
	return true
}

// copiedFields counts the fields that stand side by side in one earlier result.
func (c *copies) copiedFields(turn int, text string, fields []field) (most int) {
	first := lettersOf(text[fields[0].start:fields[0].end])
	for _, result := range c.before(turn) {
		if c.lookedAt += len(result.letters); c.lookedAt > maxLookedAt {
			return len(fields)
		}
		if _, rest, found := strings.Cut(result.letters, first); found {
			most = max(most, sideBySide(text, fields, rest))
		}
	}
	return most
}

// sideBySide counts the fields, the first of them found, that go on as rest, a
// result's letters, does.
func sideBySide(text string, fields []field, rest string) (n int) {
	for n = 1; n < len(fields); n++ {
		found := false
		rest, found = strings.CutPrefix(rest, lettersOf(text[fields[n].start:fields[n].end]))
		if !found || !onlySigns(text[fields[n-1].end:fields[n].start]) {
			break
		}
	}
	return n
}

func onlySigns(text string) bool { return strings.Trim(text, ",{}[]\"' \t\r\n") == "" }

func isBlankOrSign(c rune) bool { return c < utf8.RuneSelf && !isWordByte(byte(c)) }

// copiedLines are the lines of results that the text copies.
func (c *copies) copiedLines(turn int, text string) (found []span) {
	for start := 0; start < len(text); {
		end := len(text)
		if n := strings.IndexByte(text[start:], '\n'); n >= 0 {
			end = start + n
		}
		if c.copiedLine(turn, strings.TrimSpace(text[start:end])) {
			found = append(found, span{int32(start), int32(end)})
		}
		start = end + 1
	}
	return found
}

// copiedLine reports whether a line with a figure begins a line of an earlier
// text: a title quoted from the middle of one is cited.
func (c *copies) copiedLine(turn int, line string) bool {
	line = strings.Trim(line, `"' `)
	if len(line) < minLine || !strings.ContainsAny(line, "0123456789") {
		return false
	}
	for _, result := range c.before(turn) {
		if i, _ := slices.BinarySearch(result.lines, line); i < len(result.lines) && strings.HasPrefix(result.lines[i], line) {
			return true
		}
	}
	return false
}

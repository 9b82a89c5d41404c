// Package frames compares the passages that decide the grades of one agent's attempts. A person
// or a model that reads results writes different words each time. A program fills the same
// template again. The comparison does not change the grade of an attempt; it flags the agent's
// attempts of a day.
package frames

import (
	"cmp"
	"math/big"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/stats"
	"github.com/trajectory-arena/arena/judges/shop/gates"
)

// Two passages of a day at different problems are similar if their frames (see gates.Frame) have
// runLen adjacent letters in common, or are equal and longer than one letter, or if their words are
// equal up to figures. A day with minAlike such pairs or more is flagged if they are at least the
// share maxAlike of all pairs. A program needs some twenty frames, used equally often, to stay below.
// A day is also flagged if minAlike passages or more, and the share maxAlike of all, have a wording
// (see gates.Wordings) of a passage at another problem. A program that uses fifty sentences at random
// is then found in days of 20 passages, but one whose sentences never repeat within a day is not.
// docs/measured/judges.md has the shares of honest days.
const (
	// firstGate is the number of the first gate that thinking can pass. The gates are four tests,
	// taken in order, that decide the grade. Gate 1 is about the length of the model's replies;
	// gate 2, the first about thinking, asks for a remark on tool results.
	firstGate = 2
	// maxQuoted is the number of consecutive words from which on a part of a passage that is also
	// in the request counts as a quotation. Quotations are removed from the passage.
	maxQuoted = 16
	// minQuoted is the number of consecutive words that counts as a quotation of the request where
	// the question is whether a passage mostly repeats the request.
	minQuoted = 8
	// minTitle is the number of bytes from which on a part of a title is recognised where a passage
	// begins or ends.
	minTitle = 16
	// minTitleWords is the number of words from which on a title is recognised. A shorter one, such as
	// “Lamp”, may be the common noun of a sentence, and whoever controls a result could remove the
	// words of a sentence by it.
	minTitleWords = 3
	// runLen is the number of adjacent letters that the frames of two passages must share for the
	// passages to be similar. A frame has one letter for each figure and each listed word (see
	// gates.Frame).
	runLen = 5
	// minAlike and maxAlike are the limits from which an agent is flagged: at least minAlike pairs
	// of its passages at different problems are similar, and these are at least the share maxAlike
	// of all such pairs. The same limits also apply to the number and the share of passages that
	// repeat a wording.
	minAlike = 3
	maxAlike = 0.1
	// maxCompared is the maximum number of passages of one agent that are compared with each other.
	// Passages beyond it are still counted.
	maxCompared = 512
)

// Passage is the text that decided the grade of one attempt, empty if none did. Origin is who wrote
// the attempt's thinking.
type Passage struct {
	Agent, Problem, Text string
	Origin               arena.Origin
}

// DecidingPassage returns the passage that a judgement cites for the last gate
// passed, a remark, a datum or a reasoned choice; empty if it cites none. A passage that mostly repeats
// the request gives way to that of the gate before it, and parts of maxQuoted words or more that
// the request has are left out: a program that repeats the request before its sentence gains no other
// wording by that, nor by the titles of results (see WithoutTitles). turns are those of the attempt.
func DecidingPassage(j *arena.Judgement, request string, turns []arena.Turn) string {
	requested := strings.Join(strings.Fields(request), " ")
	var words []string
	for _, s := range j.Spans {
		if s.Gate < firstGate {
			continue
		}
		cited := strings.Fields(s.Quote)
		isRequest := 2*len(withoutQuotes(cited, requested, minQuoted)) < len(cited)
		if words == nil || !isRequest {
			words = cited
		}
	}
	return WithoutTitles(strings.Join(withoutQuotes(words, requested, maxQuoted), " "), turns)
}

// WithoutTitles returns a text with "0" in place of each title that the results in turns have. A title
// is data, as a price is: with other titles, the sentences of one template have other words. A part of
// minTitle bytes or more counts too if the text, which may be cut, begins or ends with it. A title of
// fewer than minTitleWords words remains, since it may be a word of the sentence itself.
func WithoutTitles(text string, turns []arena.Turn) string {
	if text == "" {
		return ""
	}
	for _, title := range titlesOf(turns) {
		text = withoutTitle(text, title)
		for n := minTitle; n < len(title); n++ {
			if before, ok := strings.CutSuffix(text, title[:n]); ok && !endsInWord(before) {
				text = before + "0"
				break
			}
			if after, ok := strings.CutPrefix(text, title[len(title)-n:]); ok && !beginsInWord(after) {
				text = "0" + after
				break
			}
		}
	}
	return text
}

// withoutTitle returns a text with "0" in place of a title where it is no part of a longer word.
func withoutTitle(text, title string) string {
	done := ""
	for {
		before, after, found := strings.Cut(text, title)
		if !found {
			return done + text
		}
		if endsInWord(done+before) || beginsInWord(after) {
			done += before + title
		} else {
			done += before + "0"
		}
		text = after
	}
}

func beginsInWord(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

func endsInWord(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// titlesOf returns the titles of minTitleWords words or more that the results in turns have, a longer
// one before those that it may contain.
func titlesOf(turns []arena.Turn) []string {
	var titles []string
	for i := range turns {
		for k := range turns[i].Calls {
			for _, title := range gjson.Get(string(turns[i].Calls[k].Result), "#.title").Array() {
				if words := strings.Fields(title.Str); len(words) >= minTitleWords {
					titles = append(titles, strings.Join(words, " "))
				}
			}
		}
	}
	slicesx.SortFunc(titles, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
	return slices.Compact(titles)
}

// withoutQuotes returns the words of a passage without its quotations of the request: parts of n or
// more consecutive words that requested, the text of the request, contains.
func withoutQuotes(words []string, requested string, n int) []string {
	isQuoted := make([]bool, len(words))
	for i := 0; i+n <= len(words); i++ {
		if strings.Contains(requested, strings.Join(words[i:i+n], " ")) {
			for k := i; k < i+n; k++ {
				isQuoted[k] = true
			}
		}
	}
	var remaining []string
	for i, word := range words {
		if !isQuoted[i] {
			remaining = append(remaining, word)
		}
	}
	return remaining
}

// Flag is the result of comparing the passages of one agent's attempts.
type Flag struct {
	Agent string `json:"agent"`
	// Passages is the number of attempts whose grade a passage decided.
	Passages int `json:"passages"`
	// Pairs is the number of pairs of passages at different problems. Alike is the share of
	// similar pairs among them.
	Alike float64 `json:"alike"`
	Pairs int     `json:"pairs"`
	// Repeated is the share of passages with a wording of a passage of the agent at another problem.
	Repeated float64 `json:"repeated"`
	// Copied is the share of passages that another agent has word for word. It has
	// no weight: it is unknown who copied whom, and an agent could copy a rival to
	// lower the rival's pay.
	Copied float64 `json:"copied"`
	// Framed reports whether the day is flagged, since too many pairs are similar or too many wordings
	// are repeated.
	Framed bool `json:"framed"`
	Origins
	// Adds reports whether the agent's client adds sentences to most attempts. A sentence that may
	// be from a reply which the log lacks is then more likely the client's than the model's.
	Adds bool `json:"adds"`
}

// Flags returns the flags of the agents that have passages or whose clients add sentences, sorted by
// name.
func Flags(passages []Passage) []Flag {
	byAgent := map[string][]Passage{}
	authors := map[string]map[string]bool{}
	for _, p := range passages {
		byAgent[p.Agent] = append(byAgent[p.Agent], p)
		if authors[p.Text] == nil {
			authors[p.Text] = map[string]bool{}
		}
		authors[p.Text][p.Agent] = true
	}
	if len(byAgent) == 0 {
		return nil
	}
	names := slicesx.SortedKeys(byAgent)
	flags := make([]Flag, len(names))
	var wg sync.WaitGroup
	for i, agent := range names {
		wg.Go(func() {
			f := Flag{Agent: agent}
			for _, p := range byAgent[agent] {
				f.Add(p.Origin)
			}
			f.Adds = f.AreAdding()
			own := slices.DeleteFunc(byAgent[agent], func(p Passage) bool { return p.Text == "" })
			f.compare(own)
			for _, p := range own {
				if len(authors[p.Text]) > 1 {
					f.Copied += 1 / float64(f.Passages)
				}
			}
			flags[i] = f
		})
	}
	wg.Wait()
	return slices.DeleteFunc(flags, func(f Flag) bool { return f.Passages == 0 && !f.Adds })
}

// Origins counts an agent's attempts by who wrote their thinking.
type Origins struct {
	// Decided is the number of attempts with thinking whose logs show who wrote all of it. Added is
	// the number of those with a sentence that no reply contains.
	Decided int `json:"decided"`
	Added   int `json:"added"`
}

// Add counts an attempt.
func (o *Origins) Add(origin arena.Origin) {
	switch origin {
	case arena.OriginClient:
		o.Added++
		o.Decided++
	case arena.OriginModel:
		o.Decided++
	case arena.OriginNone, arena.OriginOpen:
	}
}

// AreAdding reports whether the agent's client adds sentences to most attempts: the lower end of the 95 %
// interval of their share is above a half. Of agents with a share of a half, at most 2.5 % are above it by
// chance.
func (o *Origins) AreAdding() bool {
	return o.Decided > 0 && stats.Wilson(o.Added, o.Decided).Low > 0.5
}

// compare compares the passages of thinking that decided the grades of one agent's attempts, at
// most maxCompared of them. It sets what f says on whether the agent's thinking looks like one
// template filled in again and again; the field Copied is left unset. Passages at the same problem
// are not compared, since two attempts may rightly decide alike there. It sorts passages.
func (f *Flag) compare(passages []Passage) {
	slicesx.SortFunc(passages, func(a, b Passage) int {
		return cmp.Or(cmp.Compare(a.Problem, b.Problem), cmp.Compare(a.Text, b.Text))
	})
	f.Passages = len(passages)
	passages = passages[:min(len(passages), maxCompared)]

	// owners maps a run of letters to a bit set of the earlier passages that contain it.
	// elsewhere is the number of earlier passages at other problems.
	owners := map[string]*big.Int{}
	elsewhere := 0
	alikePairs := 0
	for i, p := range passages {
		if p.Problem != passages[elsewhere].Problem {
			elsewhere = i
		}
		f.Pairs += elsewhere
		similar := &big.Int{}
		for r := range passageRuns(p.Text) {
			if owners[r] == nil {
				owners[r] = &big.Int{}
			}
			similar.Or(similar, owners[r])
			owners[r].SetBit(owners[r], i, 1)
		}
		for k := range elsewhere {
			alikePairs += int(similar.Bit(k)) //nolint:gosec // 0 or 1
		}
	}
	f.Alike = float64(alikePairs) / float64(max(f.Pairs, 1))
	repeated := countRepeated(passages)
	f.Repeated = float64(repeated) / float64(max(len(passages), 1))
	isRepeated := repeated >= minAlike && f.Repeated >= maxAlike
	f.Framed = isRepeated || alikePairs >= minAlike && f.Alike >= maxAlike
}

// countRepeated counts the passages whose wording (the words without names and figures) occurs
// again in a passage at another problem.
func countRepeated(passages []Passage) int {
	problems := map[string]map[string]bool{}
	wordings := make([][]string, len(passages))
	for i, p := range passages {
		wordings[i] = wordingsOf(p.Text)
		for _, wording := range wordings[i] {
			if problems[wording] == nil {
				problems[wording] = map[string]bool{}
			}
			problems[wording][p.Problem] = true
		}
	}
	return slicesx.CountFunc(wordings, func(own *[]string) bool {
		return slices.ContainsFunc(*own, func(wording string) bool { return len(problems[wording]) > 1 })
	})
}

// passageRuns returns a set of strings for a passage. Two passages are similar if their sets have a
// string in common. The set has each run of runLen adjacent letters of the passage's frame (one
// letter for each figure and each listed word, see gates.Frame), the whole frame if it is longer
// than one letter, and the text as withoutFigures returns it. The last finds two copies of one
// template even if the word lists know none of its words.
func passageRuns(text string) map[string]bool {
	runs := map[string]bool{}
	frame := gates.Frame(text)
	if len(frame) > 1 {
		runs[frame] = true
	}
	addRuns(runs, frame, runLen)
	runs[withoutFigures(text)] = true
	return runs
}

// withoutFigures returns the words of a text, joined by blanks, with "0" in place of each word with
// a digit: "612 costs PHP90" → "0 costs 0".
func withoutFigures(text string) string {
	words := strings.Fields(text)
	for i, word := range words {
		if strings.ContainsFunc(word, unicode.IsDigit) {
			words[i] = "0"
		}
	}
	return strings.Join(words, " ")
}

// wordingsOf returns the wordings of a passage: the words that remain of it and of its sentences
// without names and figures (see gates.Wordings). If it has none, as a short one, the result is its
// text as withoutFigures returns it.
func wordingsOf(text string) []string {
	if wordings := gates.Wordings(text); len(wordings) > 0 {
		return wordings
	}
	return []string{withoutFigures(text)}
}

// addRuns adds to the set runs every run of n adjacent letters of a frame, the string with one
// letter for each figure and listed word of a text (see gates.Frame).
func addRuns(runs map[string]bool, frame string, n int) {
	for i := 0; i+n <= len(frame); i++ {
		runs[frame[i:i+n]] = true
	}
}

// The rule for templates. A run of letters of a frame is a template if at least minShared of its
// author's attempts at other problems, and at least the share maxShared of them, contain the
// run. An author who uses fewer than four forms is above that share. In 1,060 attempts of public
// agents and by hand it is at most 0.11. Fewer than minShared attempts may be chance.
const (
	maxShared = 0.25
	minShared = 5
)

// longRunLen is the number of adjacent letters that the frames (see gates.Frame) of any two
// thoughts must share for the attempts to count as similar. It is longer than runLen, which is for
// the thoughts that decided a grade only, since an attempt has many more thoughts that decide
// nothing.
const longRunLen = 8

// Thoughts are the texts of one attempt's thinking, together with the text that decided its
// grade.
type Thoughts struct {
	Problem, Decided string
	Texts            []string
}

// runs returns the set of strings by which attempts are compared: each run of runLen adjacent
// letters in the frame (see gates.Frame) of the thought that decided the grade, and each run of
// longRunLen letters in the frame of every thought.
func (t *Thoughts) runs() map[string]bool {
	runs := map[string]bool{}
	addRuns(runs, gates.Frame(t.Decided), runLen)
	for _, text := range t.Texts {
		addRuns(runs, gates.Frame(text), longRunLen)
	}
	return runs
}

// Templates reports, for each attempt of one author, whether its thoughts contain a template: a
// run of letters that many of the author's attempts at other problems contain too.
func Templates(attempts []Thoughts) []bool {
	type key struct{ run, problem string }
	runs := make([]map[string]bool, len(attempts))
	perProblem := map[string]int{}
	total := map[string]int{}
	counts := map[key]int{}
	for i, a := range attempts {
		perProblem[a.Problem]++
		runs[i] = a.runs()
		for r := range runs[i] {
			total[r]++
			counts[key{r, a.Problem}]++
		}
	}
	templates := make([]bool, len(attempts))
	for i, a := range attempts {
		others := len(attempts) - perProblem[a.Problem]
		for r := range runs[i] {
			n := total[r] - counts[key{r, a.Problem}]
			if n >= minShared && float64(n) >= maxShared*float64(others) {
				templates[i] = true
			}
		}
	}
	return templates
}

// Package gates is the offline reasoning judge. It checks the four gates of the
// subnet's reasoning score from the trace alone: was there an inference call
// with enough tokens, does the thinking comment on what the tools returned, does
// it name a datum that a tool returned before, and does one step weigh two
// returned candidates and prefer one for a stated reason. It calls no model and
// follows no instruction in the text that it reads.
package gates

import (
	"math/bits"
	"slices"
	"strings"
	"unicode"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// Name is the judge's versioned name. A change of any rule or word list that
// may change a score is a new version.
const Name = "gates_v5"

// Names are the names of gates 1 to 4, in order.
var Names = [...]string{"inference", "remark on results", "datum", "reasoned choice"}

// scores holds the grade of the reasoning for each number of gates passed, 0 to 4, as in the
// subnet's own reasoning judge. A gate is one of four tests that are taken in order.
var scores = [5]float64{0.1, 0.3, 0.5, 0.7, 0.9}

// Judge returns the grade of the reasoning of one attempt. It is a pure function: it changes
// neither argument, and the same attempt always gets the same grade. The score is 0.1, 0.3, 0.5,
// 0.7 or 0.9. Gates lists which gates passed, Spans cites a passage for every gate passed, and
// Detail describes the last gate passed or what the first failed gate missed. An attempt without a
// dialogue cannot be judged: its outcome is failed and its score nil.
func Judge(t *arena.Trace, d *arena.Dialogue) arena.Judgement {
	if !t.HasDialogue && len(d.Turns) == 0 {
		return arena.Judgement{Judge: Name, Outcome: arena.JudgeFailed, Detail: "the attempt left no dialogue to judge"}
	}
	j := arena.Judgement{
		Judge:   Name,
		Outcome: arena.JudgeScored,
		Gates:   make([]bool, 4),
	}

	inference := inferenceGate(t, d)
	findings := []finding{inference}
	if inference.passed {
		findings = append(findings, thinkingGates(t, d)...)
	}
	passed := 0
	for i, f := range findings {
		j.Detail = f.detail
		if !f.passed {
			break
		}
		j.Gates[i] = true
		j.Spans = append(j.Spans, arena.Span{
			Gate:  i + 1,
			Step:  f.step,
			Quote: f.quote,
		})
		passed++
	}
	if inference.estimated && passed > 0 && len(findings) > 1 {
		j.Detail = inference.detail + "; " + j.Detail
	}
	j.Score = new(scores[passed])
	return j
}

// finding is the result of one gate (one of four tests of the reasoning). If the gate passed, it
// has a quotation of the thinking as evidence. detail describes the evidence or what is missing.
type finding struct {
	passed bool
	// step is the number that the dialogue gives to the step, not an index.
	step   int
	quote  string
	detail string
	// estimated is set if no reply of the model stated its token count, so that the first gate
	// estimated the tokens from the length of the text.
	estimated bool
}

func missed(detail string) finding { return finding{detail: detail} }

// A frame is the structure of a passage without its data and its choice of words: one letter for
// each figure, each attribute value and each class of the word lists, in order. "9960 at 94 beats
// 1627, it is cheaper" and "5008 at 12 over 6777: less expensive" have the same frame.
const (
	// frameFigure is the letter that stands for any figure in the frame of a text (a string with
	// one letter for each figure and listed word, see Frame), frameValue the letter for any colour,
	// material or other attribute value.
	frameFigure = '#'
	frameValue  = 'v'
	// unframed are the classes of listed words that get no letter in the frame of a text (see
	// Frame), since any sentence may have them anywhere, so that they say nothing about a template.
	unframed = commonWord | thoughtWord | bigWord | negationWord | onlyWord | lessWord | moreWord | thanWord | labelWord
)

// Frame returns the frame of a passage, one byte for each figure, attribute value or other word of
// the word lists.
func Frame(text string) string {
	x := indexPool.Get().(*factIndex)
	defer x.release()
	p := passage{text: text[:min(len(text), maxPassage)]}
	p.scan(x)
	signs := p.signs()
	slicesx.SortByKey(signs, func(a sign) int32 {
		return a.start
	})

	frame := make([]byte, 0, len(signs))
	end := int32(0)
	for _, s := range signs {
		if s.start >= end {
			frame = append(frame, s.letter)
			end = s.end
		}
	}
	return string(frame)
}

// minWording is the minimum number of words of a wording (a text without its names, figures and
// attribute values, by which texts from one template are recognised). Any two texts may have fewer
// words in common.
const minWording = 4

// Wordings returns the wordings of a passage and of each of its sentences, each once. One wording is the
// words that the word lists have, in order, with each attribute value replaced by the letter v. The other
// one, of a sentence, is all its words without names and figures (see plainWords). A text of fewer than
// minWording words has none. Sentences of one template with other ids, prices, brands and values have the
// same wording, whatever stands beside them.
func Wordings(text string) []string {
	x := indexPool.Get().(*factIndex)
	defer x.release()
	p := passage{text: text[:min(len(text), maxPassage)]}
	p.scan(x)

	var wordings []string
	if wording := p.wording(p.marks); wording != "" {
		wordings = append(wordings, wording)
	}
	for i := range p.sentences {
		s := p.sentences[i]
		for _, wording := range [...]string{p.wording(p.sentenceMarks(i)), plainWords(p.text[s.start:s.end])} {
			if wording != "" {
				wordings = slicesx.AppendUnique(wordings, wording)
			}
		}
	}
	return wordings
}

// plainWords returns the words of a text with 0 in place of each word with a digit or a capital letter,
// which may be an id, a price or a name. It returns "" if fewer than minWording other words remain.
func plainWords(text string) string {
	words := strings.Fields(text)
	count := 0
	for i, word := range words {
		if strings.ContainsFunc(word, func(c rune) bool { return unicode.IsDigit(c) || unicode.IsUpper(c) }) {
			words[i] = "0"
			continue
		}
		count++
	}
	if count < minWording {
		return ""
	}
	return strings.Join(words, " ")
}

// wording returns the words of a text that the word lists contain, in order, with "v" in place of
// each attribute value. Texts from one template have the same wording whatever names and figures
// are filled in. marks are the listed words found in the text. The result is "" for fewer than
// minWording words.
func (p *passage) wording(marks []mark) string {
	marks = slices.Clone(marks)
	slices.Reverse(marks)
	slicesx.SortByKey(marks, func(a mark) int32 {
		return a.start
	})

	var words []string
	end := int32(0)
	count := 0
	for _, m := range marks {
		if m.start < end {
			continue
		}
		end = m.end
		if m.concept != 0 {
			words = append(words, "v")
			continue
		}
		words = append(words, p.folded[m.start:m.end])
		count++
	}
	if count < minWording {
		return ""
	}
	return strings.Join(words, " ")
}

// sign is the byte range of a listed word or figure in a text, with the letter that stands for it
// in the text's frame (a string with one letter for each of them, by which texts are compared, see
// Frame).
type sign struct {
	span
	letter byte
}

// signs returns the letters of a passage's frame (one for each figure and each word of the word
// lists, see Frame) with the byte ranges of those words: first those for words, from the last in
// the text to the first, then those for figures. Of several words or phrases that begin at one
// byte, the longest precedes the others.
func (p *passage) signs() []sign {
	var signs []sign
	for i := len(p.marks) - 1; i >= 0; i-- {
		m := &p.marks[i]
		class := m.class &^ unframed
		switch {
		case m.concept != 0:
			signs = append(signs, sign{span{m.start, m.end}, frameValue})
		case class != 0:
			letter := byte('a' + bits.TrailingZeros32(uint32(class)))
			signs = append(signs, sign{span{m.start, m.end}, letter})
		}
	}
	for i := range p.tokens {
		if t := &p.tokens[i]; t.number.end > 0 {
			signs = append(signs, sign{span{t.start, t.textEnd()}, frameFigure})
		}
	}
	return signs
}

package gates

import (
	"strings"

	"github.com/trajectory-arena/arena"
)

// passage is the thinking of one turn, split into tokens, sentences and marks (the words and
// phrases that the word lists contain).
type passage struct {
	// step is the index of the step in the trace, number the step number that the dialogue shows,
	// and turn the index of the turn in the dialogue.
	step   int32
	number int
	turn   int
	text   string
	// folded is the text in lower case, with the same byte offsets.
	folded string
	tokens []token
	marks  []mark
	// sentences are in order and cover all tokens.
	sentences []sentence
	spelled   []spelled
	lexicon   *lexicon
	// hasBigPart is set if a longer word contains the word for a hundred or a thousand, as in
	// "vierhundert".
	hasBigPart bool
	// mayBeOpen is set if a sentence has a word for deciding or choosing, and one that can leave the
	// decision open.
	mayBeOpen bool
}

// token is one word or one figure of an agent's thinking.
type token struct {
	span
	// word is the index of the token's text in factIndex.words, or -1 for a figure that cannot be
	// an id.
	word   int32
	number number
	// measure is the index in factIndex.words of a figure with the word after it ("28 hours"), or
	// -1 if the token is no such figure.
	measure int32
}

// textEnd returns the byte offset after a token. For a figure, its unit or decimals belong to the
// token.
func (t *token) textEnd() int32 { return max(t.end, int32(t.number.end)) }

// sentence is a byte range of an agent's thinking, with the union of the classes of all listed
// words in it.
type sentence struct {
	span
	classes class
	// tokens and marks are index ranges of the passage's tokens and marks.
	tokens, marks span
}

// length returns the number of words and figures in the sentence.
func (s *sentence) length() int { return int(s.tokens.end - s.tokens.start) }

// Limits of what is read of one attempt's thinking. Text beyond them is padding and is ignored.
const (
	// maxSentence is the number of words and figures after which a sentence is split.
	maxSentence = 256
	// maxThinking is the maximum number of bytes that are read of all thinking of an attempt.
	maxThinking = 1 << 20
	// maxPassage is the maximum number of bytes that are read of one text, such as the thinking
	// of a turn or a message of the customer.
	maxPassage = 1 << 18
)

// readPassages returns the thinking of an attempt, one passage for each turn, without what is
// copied from tool results or repeated, and adds its words and figures to the index. It skips
// thinking up to the step of the first tool result, since there was nothing to analyse yet.
func readPassages(
	t *arena.Trace,
	d *arena.Dialogue,
	x *factIndex,
) []passage {
	thoughts := readThoughts(d)
	passages := make([]passage, 0, len(thoughts))
	finder := newCopyFinder(d.Turns, thoughts)
	for i := range thoughts {
		turn := thoughts[i].turn
		step := d.Turns[turn].Step
		p := passage{
			step:   int32(step),
			number: t.StepNumber(step),
			turn:   turn,
			text:   blankRepeats(finder.blankCopies(&thoughts[i])),
		}
		p.read(x)
		passages = append(passages, p)
	}
	return passages
}

// blankRepeats returns the thinking of a turn with every line that repeats an earlier line word for
// word replaced by newlines, so that a thought said twice counts once. Byte offsets stay the same.
func blankRepeats(text string) string {
	if !strings.Contains(text, "\n") {
		return text
	}
	seen := map[string]bool{}
	var blanked []byte
	start := 0
	for line := range strings.SplitSeq(text, "\n") {
		end := start + len(line)
		key := strings.TrimSpace(line)
		if key != "" && seen[key] {
			if blanked == nil {
				blanked = []byte(text)
			}
			for i := start; i < end; i++ {
				blanked[i] = '\n'
			}
		}
		seen[key] = true
		start = end + 1
	}
	if blanked == nil {
		return text
	}
	return string(blanked)
}

// readThoughts returns the thinking of each turn after the step of the first tool result. Each is
// cut to maxPassage bytes, and all together to maxThinking. Turns without thinking are skipped.
func readThoughts(d *arena.Dialogue) []thought {
	thoughts := make([]thought, 0, len(d.Turns))
	budget := maxThinking
	first := firstResult(d)
	for i := range d.Turns {
		turn := &d.Turns[i]
		if strings.TrimSpace(turn.Think) == "" || int32(turn.Step) <= first || budget <= 0 {
			continue
		}
		t := thought{
			turn: i,
			text: turn.Think[:min(len(turn.Think), budget, maxPassage)],
		}
		budget -= len(t.text)
		thoughts = append(thoughts, t)
	}
	return thoughts
}

// read splits the text of a passage into sentences, tokens and marks, finds the numbers written in
// words, and adds all words and figures to the index.
func (p *passage) read(x *factIndex) {
	p.scan(x)
	classes := p.joinClasses()
	for _, m := range p.marks {
		if m.concept != 0 {
			x.watch(x.addWord(p.lexicon.values[m.concept]))
		}
	}
	if classes&bigWord != 0 || p.hasBigPart {
		p.spelled = findSpelled(p.folded)
	}
	for _, n := range p.spelled {
		x.addAmount(n.cents)
	}
}

// scan splits the text into sentences, tokens (words and figures) and marks (entries of the word
// lists), and adds the words and figures to the index.
func (p *passage) scan(x *factIndex) {
	p.lexicon = words()
	p.folded = fold(p.text)
	p.tokens = unusedPart(x.tokens)
	p.marks = unusedPart(x.marks)
	p.sentences = unusedPart(x.sentences)

	p.openSentence(0)
	for i := 0; i < len(p.folded); {
		i = p.scanNext(x, i)
		if len(p.tokens)-int(p.sentences[len(p.sentences)-1].tokens.start) >= maxSentence {
			p.closeSentence(i)
			p.openSentence(i)
		}
	}
	p.closeSentence(len(p.folded))

	x.tokens = extend(x.tokens, p.tokens)
	x.marks = extend(x.marks, p.marks)
	x.sentences = extend(x.sentences, p.sentences)
}

func (p *passage) openSentence(start int) {
	p.sentences = append(p.sentences, sentence{
		span:   span{start: int32(start)},
		tokens: span{start: int32(len(p.tokens))},
		marks:  span{start: int32(len(p.marks))},
	})
}

// closeSentence ends the passage's last sentence at byte end. It removes the sentence if it has no
// words or figures, no listed words, and no text in a script without blanks.
func (p *passage) closeSentence(end int) {
	s := &p.sentences[len(p.sentences)-1]
	s.end = int32(end)
	s.tokens.end = int32(len(p.tokens))
	s.marks.end = int32(len(p.marks))
	if s.tokens.start == s.tokens.end && s.marks.start == s.marks.end && !p.hasUnspaced(s.span) {
		p.sentences = p.sentences[:len(p.sentences)-1]
	}
}

// joinClasses sets the classes of each sentence to the union of the classes of its words in the
// word lists, without those that a negation cancels. It returns the union over all sentences.
func (p *passage) joinClasses() class {
	var union class
	for i := range p.sentences {
		s := &p.sentences[i]
		marks := p.sentenceMarks(i)
		for _, m := range marks {
			s.classes |= m.class
		}
		if s.classes&(chooseWord|decideWord) != 0 && s.classes&(negationWord|deferWord|planWord) != 0 {
			p.mayBeOpen = true
		}
		isDenied := s.classes&(negationWord|labelWord) != 0 && s.classes&(preferWord|compareWord|chooseWord) != 0
		isSupposed := s.classes&(preferWord|chooseWord) != 0 && (s.classes&(ifWord|mightWord) != 0 || p.asks(s, marks))
		if isDenied || isSupposed {
			p.dropNegated(s, marks)
		}
		union |= s.classes
	}
	return union
}

func (p *passage) sentenceMarks(i int) []mark {
	s := &p.sentences[i]
	return p.marks[s.marks.start:s.marks.end]
}

func (p *passage) sentenceTokens(i int) []token {
	s := &p.sentences[i]
	return p.tokens[s.tokens.start:s.tokens.end]
}

// classesIn returns the union of the classes of those listed words and phrases of a sentence that
// begin in the byte range part.
func (p *passage) classesIn(sentence int, part span) class {
	var union class
	for _, m := range p.sentenceMarks(sentence) {
		if m.start >= part.start && m.start < part.end {
			union |= m.class
		}
	}
	return union
}

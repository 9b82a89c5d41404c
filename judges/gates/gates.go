// Package gates is the offline reasoning judge. It walks the four gates of the
// subnet's reasoning score from the trace alone: was there an inference call
// with enough tokens, does the thinking speak of what the tools returned, does
// it name a datum that a tool returned before, and does one step weigh two
// returned candidates and prefer one for a stated reason. It asks no model and
// obeys no word of the text it reads.
package gates

import (
	"math/bits"
	"slices"

	"github.com/trajectory-arena/arena"
)

// Name is the judge's versioned name. A change of any rule or word list that
// may change a score is a new version.
const Name = "gates_v2"

// Names are the gates in their order.
var Names = [...]string{"inference", "remark on results", "datum", "reasoned choice"}

// scores are the grades by the number of gates passed, from the subnet's
// reasoning judge.
var scores = [5]float64{0.1, 0.3, 0.5, 0.7, 0.9}

// Judge grades the reasoning of one attempt. It is a pure function: neither
// argument is changed, and the same attempt always gets the same answer. The
// score is 0.1, 0.3, 0.5, 0.7 or 0.9; Gates is the walk, Spans cite a passage
// for every gate passed, Detail says what the first failed gate missed. An
// attempt that left no dialogue has nothing to judge: its outcome is failed
// and its score nil.
func Judge(t *arena.Trace, d *arena.Dialogue) arena.Judgement {
	if !t.HasDialogue && len(d.Turns) == 0 {
		return arena.Judgement{Judge: Name, Outcome: arena.JudgeFailed, Detail: "the attempt left no dialogue to judge"}
	}
	j := arena.Judgement{Judge: Name, Outcome: arena.JudgeScored, Gates: make([]bool, 4)}
	inference := inferenceGate(t, d)
	findings := []finding{inference}
	if inference.passed {
		findings = append(findings, readThinking(t, d)...)
	}
	passed := 0
	for i, f := range findings {
		if j.Detail = f.detail; !f.passed {
			break
		}
		j.Gates[i] = true
		j.Spans = append(j.Spans, arena.Span{Gate: i + 1, Step: f.step, Quote: f.quote})
		passed++
	}
	if inference.estimated && passed > 0 && len(findings) > 1 {
		j.Detail = inference.detail + "; " + j.Detail
	}
	j.Score = new(scores[passed])
	return j
}

// finding is what one gate found: where it passed, or what it missed.
type finding struct {
	passed bool
	// step is the dialogue's own step number.
	step   int
	quote  string
	detail string
	// estimated is set where the first gate had no usage to read.
	estimated bool
}

func missed(detail string) finding { return finding{detail: detail} }

// A frame is the course of a passage with its data and its choice of words taken
// out: one sign for each figure, value and role that the lexicon knows, in their
// order. "9960 at 94 beats 1627, it is cheaper" and "5008 at 12 over 6777: less
// expensive" are one frame.
const (
	frameFigure = '#'
	frameValue  = 'v'
	// unframed are roles that any sentence may have anywhere.
	unframed = commonWord | thoughtWord | bigWord
)

// Frame is the frame of a passage, a byte a sign.
func Frame(text string) string {
	s := shelves.Get().(*shelf)
	defer s.release()
	p := passage{text: text[:min(len(text), maxPassage)]}
	p.scan(s)
	signs := p.signs()
	slices.SortStableFunc(signs, func(a, b sign) int { return int(a.start - b.start) })
	frame, end := make([]byte, 0, len(signs)), int32(0)
	for _, s := range signs {
		if s.start >= end {
			frame, end = append(frame, s.as), s.end
		}
	}
	return string(frame)
}

// sign is what a stretch of a passage is in its frame.
type sign struct {
	span
	as byte
}

// signs are those of the figures and of the lexicon's words; of words that begin
// at one place the longest, found last, goes first.
func (p *passage) signs() (all []sign) {
	for i := len(p.marks) - 1; i >= 0; i-- {
		m := &p.marks[i]
		switch class := m.class &^ unframed; {
		case m.concept != 0:
			all = append(all, sign{span{m.start, m.end}, frameValue})
		case class != 0:
			all = append(all, sign{span{m.start, m.end}, byte('a' + bits.TrailingZeros32(uint32(class)))})
		}
	}
	for i := range p.tokens {
		if t := &p.tokens[i]; t.number.end > 0 {
			all = append(all, sign{span{t.start, max(t.end, int32(t.number.end))}, frameFigure})
		}
	}
	return all
}

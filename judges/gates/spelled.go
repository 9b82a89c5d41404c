package gates

import (
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// spelled is a number written in words, in hundredths.
type spelled struct {
	span
	cents int64
}

// bigParts are the words for a hundred and a thousand in the languages that
// write numbers in one word, so that they need not begin one.
var bigParts = [...]string{"hundert", "tausend", "honderd", "cento"}

// worth is what one number word does to the sum before it.
type worth struct {
	value int64
	times bool
}

var numberWords = sync.OnceValue(func() map[string]worth {
	all := map[string]worth{}
	text, _ := lexiconFiles.ReadFile("lexicon/" + numbersFile) // it is a part of the program
	for line := range strings.Lines(string(text)) {
		value, entries, _ := strings.Cut(strings.TrimSpace(line), ": ")
		digits, times := strings.CutPrefix(value, "x")
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			continue
		}
		for word := range strings.SplitSeq(entries, ", ") {
			all[word] = worth{n, times}
		}
	}
	return all
})

// spelledIn finds the numbers of a hundred or more that text, folded, spells
// out.
func spelledIn(text string) []spelled {
	var all []spelled
	var sum speller
	for i := 0; i < len(text); {
		end := spelledRun(text, i)
		if end == i {
			if text[i] != ' ' && text[i] != '-' && text[i] != '\'' {
				all = sum.close(all)
			}
			i++
			continue
		}
		if !sum.word(text[i:end], i) {
			all = sum.close(all)
			sum.word(text[i:end], i)
		}
		i = end
	}
	return sum.close(all)
}

// spelledRun is wordRun for spaced scripts and one rune for the others.
func spelledRun(text string, i int) int {
	if c := text[i]; c < utf8.RuneSelf && !isWordByte(c) {
		return i
	}
	if end := wordRun(text, i); end > i {
		return end
	}
	if r, width := utf8.DecodeRuneInString(text[i:]); unspaced(r) {
		return i + width
	}
	return i
}

// speller sums a run of number words. Units may stand before tens, as in
// German.
type speller struct {
	start, end     int
	total, current int64
	last           int64
	words          int
	joined         bool
}

// word takes one word, or several written together; it is false where the run
// ends before it.
func (s *speller) word(text string, at int) bool {
	before := *s
	for i := 0; i < len(text); {
		w, width := longestNumber(text[i:])
		if width == 0 || !s.take(w) {
			*s = before
			return false
		}
		i += width
	}
	if s.words > 0 && before.words == 0 {
		s.start = at
	}
	if s.words > before.words {
		s.end = at + len(text)
	}
	return true
}

// maxNumberWord bounds the bytes of one number word.
const maxNumberWord = 32

func longestNumber(text string) (w worth, width int) {
	table := numberWords()
	for width = min(len(text), maxNumberWord); width > 0; width-- {
		if found, ok := table[text[:width]]; ok {
			return found, width
		}
	}
	return worth{}, 0
}

func (s *speller) take(w worth) bool {
	joined := s.joined
	s.joined = !w.times && w.value == 0
	switch {
	case s.joined:
		return s.words > 0
	case w.times && w.value >= 1000:
		s.total, s.current = s.total+max(s.current, 1)*w.value, 0
	case w.times && w.value == 10:
		s.current += max(s.last, 1)*10 - s.last
	case w.times:
		thousands := s.current / 1000 * 1000
		s.current = thousands + max(s.current%1000, 1)*w.value
	case w.value == 20 && s.current%100 == 4 && !joined:
		s.current += 80 - 4
	case w.value >= 100 && s.current != 0, w.value >= 10 && s.current%100 >= 10 && s.current%100 != 60 && s.current%100 != 80,
		w.value < 10 && s.current%10 != 0:
		return false
	default:
		s.current += w.value
	}
	s.last = w.value
	s.words++
	return s.total+s.current < 1e9
}

// close ends the run and keeps it where it is large enough to be a price.
func (s *speller) close(all []spelled) []spelled {
	if n := s.total + s.current; n >= 100 && s.words > 1 {
		all = append(all, spelled{span{int32(s.start), int32(s.end)}, n * 100})
	}
	*s = speller{}
	return all
}

package gates

import (
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// spelled is a number of a text that is written in words, such as "two hundred ninety": its byte
// range, and its value in hundredths.
type spelled struct {
	span
	cents int64
}

// bigParts are the words for a hundred and a thousand in languages that write number words
// together, where they can be inside a longer word ("vierhundert").
var bigParts = [...]string{"hundert", "tausend", "honderd", "cento"}

// numberWord is the meaning of a number word such as "ninety" or "thousand". If multiplies is set,
// its value multiplies the number before it; otherwise it is added to that number.
type numberWord struct {
	value      int64
	multiplies bool
}

// numberWords returns the number words of all languages, read from numbers.txt at the first call.
var numberWords = sync.OnceValue(func() map[string]numberWord {
	table := map[string]numberWord{}
	text, _ := lexiconFiles.ReadFile("lexicon/" + numbersFile) // embedded
	for line := range strings.Lines(string(text)) {
		value, entries, _ := strings.Cut(strings.TrimSpace(line), ": ")
		digits, multiplies := strings.CutPrefix(value, "x")
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			continue
		}
		for word := range strings.SplitSeq(entries, ", ") {
			table[word] = numberWord{n, multiplies}
		}
	}
	return table
})

// findSpelled finds the numbers of a hundred or more that a text, in lower case, writes in two or
// more words.
func findSpelled(text string) []spelled {
	var numbers []spelled
	var run numberRun
	for i := 0; i < len(text); {
		end := wordOrRuneEnd(text, i)
		if end == i {
			if text[i] != ' ' && text[i] != '-' && text[i] != '\'' {
				numbers = run.close(numbers)
			}
			i++
			continue
		}
		if !run.addWord(text[i:end], i) {
			numbers = run.close(numbers)
			run.addWord(text[i:end], i)
		}
		i = end
	}
	return run.close(numbers)
}

// wordOrRuneEnd returns the byte offset after the word at text[i] or, in a script without blanks
// such as Chinese, after the character. It returns i if there is neither.
func wordOrRuneEnd(text string, i int) int {
	if c := text[i]; c < utf8.RuneSelf && !isWordByte(c) {
		return i
	}
	if end := wordEnd(text, i); end > i {
		return end
	}
	if r, width := utf8.DecodeRuneInString(text[i:]); unspaced(r) {
		return i + width
	}
	return i
}

// numberRun is the state of computing the value of consecutive number words, such as "two hundred
// ninety". Units may precede tens, as in German.
type numberRun struct {
	start, end int
	// total is the value of the complete thousands, current that of the words since then.
	total, current int64
	// last is the value of the last word.
	last  int64
	words int
	// joined is set after a word that has no value, such as "and".
	joined bool
}

// addWord adds one number word, or several written together, that begins at byte start of the text.
// If there is no number word, or it cannot continue the number read so far, addWord returns false
// and changes nothing.
func (s *numberRun) addWord(text string, start int) bool {
	before := *s
	for i := 0; i < len(text); {
		w, width := longestNumberWord(text[i:])
		if width == 0 || !s.add(w) {
			*s = before
			return false
		}
		i += width
	}
	if s.words > 0 && before.words == 0 {
		s.start = start
	}
	if s.words > before.words {
		s.end = start + len(text)
	}
	return true
}

// maxNumberWord is the maximum number of bytes of one number word.
const maxNumberWord = 32

// longestNumberWord returns the longest number word that text begins with, and its length in bytes,
// which is 0 if there is none.
func longestNumberWord(text string) (w numberWord, width int) {
	table := numberWords()
	for width = min(len(text), maxNumberWord); width > 0; width-- {
		if w, ok := table[text[:width]]; ok {
			return w, width
		}
	}
	return numberWord{}, 0
}

// add adds the next number word to the value of the number read so far, such as "ninety" after "two
// hundred", and reports whether the word can continue that number.
func (s *numberRun) add(w numberWord) bool {
	joined := s.joined
	s.joined = !w.multiplies && w.value == 0
	if s.joined {
		return s.words > 0
	}
	switch {
	case w.multiplies && w.value >= 1000:
		s.total += max(s.current, 1) * w.value
		s.current = 0
	case w.multiplies && w.value == 10:
		s.current += max(s.last, 1)*10 - s.last
	case w.multiplies:
		thousands := s.current / 1000 * 1000
		s.current = thousands + max(s.current%1000, 1)*w.value
	case w.value == 20 && s.current%100 == 4 && !joined: // quatre-vingt
		s.current += 80 - 4
	case !s.hasPlace(w.value):
		return false
	default:
		s.current += w.value
	}
	s.last = w.value
	s.words++
	return s.total+s.current < 1e9
}

// hasPlace reports whether value can be added to the number read so far, as 5 to 20 but not to 6:
// where value has digits, the number must have zeros. Tens may also follow units, as in German
// (fünfundzwanzig), or sixty or eighty, as in French (soixante-dix).
func (s *numberRun) hasPlace(value int64) bool {
	tens := s.current % 100
	switch {
	case value >= 100 && s.current != 0:
		return false
	case value >= 10:
		return tens < 10 || tens == 60 || tens == 80
	default:
		return s.current%10 == 0
	}
}

// close ends the number that is being read, and resets the state for the next one. If the number
// has at least two words and is 100 or more, close appends it to numbers.
func (s *numberRun) close(numbers []spelled) []spelled {
	if n := s.total + s.current; n >= 100 && s.words > 1 {
		numbers = append(numbers, spelled{span{int32(s.start), int32(s.end)}, n * 100})
	}
	*s = numberRun{}
	return numbers
}

package guard

import (
	"unicode"
	"unicode/utf8"
)

func isHan(r rune) bool { return unicode.Is(unicode.Han, r) }

// han cuts a run of Chinese characters into the longest words that the lexicon
// knows; a character it does not know stands alone.
func (s *scanner) han() {
	end := s.at
	for end < len(s.text) {
		r, size := utf8.DecodeRuneInString(s.text[end:])
		if !isHan(r) {
			break
		}
		end += size
	}
	for s.at < end {
		if value, size := hanNumber(s.text[s.at:end]); size > 0 {
			s.emit(token{value: value, written: value, start: s.at, end: s.at + size})
			s.at += size
			continue
		}
		size := longestHan(s.text[s.at:end])
		s.emit(token{text: s.text[s.at : s.at+size], start: s.at, end: s.at + size})
		s.at += size
	}
}

func longestHan(run string) int {
	l := words()
	best, runes := 0, 0
	for i, r := range run {
		runes++
		w := run[:i+utf8.RuneLen(r)]
		if runes > l.longest {
			break
		}
		if _, is := l.units[w]; is || l.foreign[w] != nil || l.phrases[w] != nil {
			best = len(w)
		}
	}
	if best == 0 {
		_, best = utf8.DecodeRuneInString(run)
	}
	return best
}

var hanDigits = map[rune]float64{'零': 0, '〇': 0, '一': 1, '二': 2, '两': 2, '三': 3, '四': 4, '五': 5, '六': 6, '七': 7, '八': 8, '九': 9}
var hanScales = map[rune]float64{'十': 10, '百': 100, '千': 1000, '万': 10000}

// hanNumber reads a number at the start of run. Only one with a scale is taken
// for a number: a lone digit character counts ("a pair").
func hanNumber(run string) (value float64, size int) {
	total, digit, scaled, end := 0.0, 0.0, false, 0
	for i, r := range run[:min(len(run), maxWord)] {
		if d, is := hanDigits[r]; is {
			digit = d
		} else if scale, is := hanScales[r]; is {
			total, digit, scaled = total+max(digit, 1)*scale, 0, true
		} else {
			break
		}
		end = i + utf8.RuneLen(r)
	}
	if !scaled {
		return 0, 0
	}
	return total + digit, end
}

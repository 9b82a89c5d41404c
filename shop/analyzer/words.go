package analyzer

import "unicode/utf8"

var asciiClass = func() (t [utf8.RuneSelf]class) {
	for c := range t {
		switch {
		case c >= '0' && c <= '9':
			t[c] = digit
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			t[c] = letter
		}
	}
	t['_'], t['.'], t['\''], t[':'], t[','], t[';'] = underscore, midBoth, quote, midLetter, midDigit, midDigit
	return t
}()

// asciiWords is the segmentation of text that is ASCII throughout, where a few
// classes are all there is.
func asciiWords(s string, emit func(string)) {
	for i := 0; i < len(s); {
		if c := asciiClass[s[i]]; c != letter && c != digit && c != underscore {
			i++
			continue
		}
		end := asciiWordEnd(s, i, min(len(s), i+maxWord))
		if end == i {
			i++
			continue
		}
		emit(s[i:end])
		i = end
	}
}

// asciiWordEnd is the end of the word that begins at from and ends at limit at
// most; from itself where no letter or digit makes it one.
func asciiWordEnd(s string, from, limit int) (end int) {
	last, worth := other, false
	for i := from; i < limit; i++ {
		switch c := asciiClass[s[i]]; c {
		case letter, digit:
			worth, last = true, c
		case underscore:
			last = c
		default:
			if !joins(c, last) || i+1 == limit || asciiClass[s[i+1]] != last {
				return wordEnd(from, i, worth)
			}
		}
	}
	return wordEnd(from, limit, worth)
}

func wordEnd(from, end int, worth bool) int {
	if worth {
		return end
	}
	return from
}

func joins(mid, last class) bool {
	return last == letter && (mid == midBoth || mid == quote || mid == midLetter) || last == digit && (mid == midBoth || mid == quote || mid == midDigit)
}

// unicodeWords is the segmentation of any text: at each character the longest
// word or emoji; a character that begins neither is left out.
func unicodeWords(s string, emit func(string)) {
	for table := classes(); s != ""; {
		n := max(words.longest(s, table), emoji.longest(s, table))
		if n > 0 {
			emit(s[:n])
		} else {
			_, n = utf8.DecodeRuneInString(s)
		}
		s = s[n:]
	}
}

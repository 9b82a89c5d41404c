package analyzer

import "slices"

// stem cuts and rewrites word in place to its stem and returns the new length:
// Porter, "An algorithm for suffix stripping" (1980), with the two departures
// of its author's later programs (bli becomes ble, logi becomes log). Words of
// one or two letters stay.
func stem[T byte | uint16](word []T) int {
	if len(word) < 3 {
		return len(word)
	}
	s := stemmer[T]{b: word, k: len(word) - 1}
	s.plural()
	s.past()
	if s.ends("y") && s.vowelBefore() {
		s.b[s.k] = 'i'
	}
	s.rewrite(doubleSuffixes)
	s.rewrite(singleSuffixes)
	s.strip()
	s.final()
	return s.k + 1
}

// stemmer holds a word of which b[:k+1] is left; j is the end of the stem
// before the suffix that ends found last.
type stemmer[T byte | uint16] struct {
	b    []T
	k, j int
}

// consonant tells vowels from consonants; y is a vowel after a consonant.
func (s *stemmer[T]) consonant(i int) bool {
	yes := true
	for ; i > 0 && s.b[i] == 'y'; i-- {
		yes = !yes
	}
	switch s.b[i] {
	case 'a', 'e', 'i', 'o', 'u':
		return !yes
	default:
		return yes
	}
}

// measure counts the vowel-consonant sequences of b[:j+1], Porter's m.
func (s *stemmer[T]) measure() (m int) {
	vowel := false
	for i := 0; i <= s.j; i++ {
		c := s.consonant(i)
		if c && vowel {
			m++
		}
		vowel = !c
	}
	return m
}

func (s *stemmer[T]) vowelBefore() bool {
	for i := 0; i <= s.j; i++ {
		if !s.consonant(i) {
			return true
		}
	}
	return false
}

func (s *stemmer[T]) doubled(i int) bool { return i >= 1 && s.b[i] == s.b[i-1] && s.consonant(i) }

// short is consonant, vowel, consonant at the end, the last not w, x or y.
func (s *stemmer[T]) short(i int) bool {
	if i < 2 || !s.consonant(i) || s.consonant(i-1) || !s.consonant(i-2) {
		return false
	}
	return s.b[i] != 'w' && s.b[i] != 'x' && s.b[i] != 'y'
}

func (s *stemmer[T]) ends(suffix string) bool {
	at := s.k - len(suffix) + 1
	if at < 0 {
		return false
	}
	for i := range len(suffix) {
		if s.b[at+i] != T(suffix[i]) {
			return false
		}
	}
	s.j = at - 1
	return true
}

// become replaces the suffix by another, which is never longer than the word
// was.
func (s *stemmer[T]) become(suffix string) {
	for i := range len(suffix) {
		s.b[s.j+1+i] = T(suffix[i])
	}
	s.k = s.j + len(suffix)
}

// plural is step 1a.
func (s *stemmer[T]) plural() {
	switch {
	case s.b[s.k] != 's':
	case s.ends("sses"):
		s.k -= 2
	case s.ends("ies"):
		s.become("i")
	case s.b[s.k-1] != 's':
		s.k--
	}
}

// past is step 1b.
func (s *stemmer[T]) past() {
	if s.ends("eed") {
		if s.measure() > 0 {
			s.k--
		}
		return
	}
	if past := s.ends("ed") || s.ends("ing"); !past || !s.vowelBefore() {
		return
	}
	s.k = s.j
	switch {
	case s.ends("at"):
		s.become("ate")
	case s.ends("bl"):
		s.become("ble")
	case s.ends("iz"):
		s.become("ize")
	case s.doubled(s.k):
		if c := s.b[s.k]; c != 'l' && c != 's' && c != 'z' {
			s.k--
		}
	case s.measure() == 1 && s.short(s.k):
		s.become("e")
	}
}

// suffixes are tried in order; the first that fits decides.
var (
	doubleSuffixes = [][2]string{
		{"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"}, {"anci", "ance"}, {"izer", "ize"}, {"bli", "ble"}, {"alli", "al"},
		{"entli", "ent"}, {"eli", "e"}, {"ousli", "ous"}, {"ization", "ize"}, {"ation", "ate"}, {"ator", "ate"}, {"alism", "al"},
		{"iveness", "ive"}, {"fulness", "ful"}, {"ousness", "ous"}, {"aliti", "al"}, {"iviti", "ive"}, {"biliti", "ble"}, {"logi", "log"},
	}
	singleSuffixes = [][2]string{
		{"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"}, {"ical", "ic"}, {"ful", ""}, {"ness", ""},
	}
	lastSuffixes = []string{
		"al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate", "iti", "ous", "ive", "ize",
	}
)

// rewrite is steps 2 and 3.
func (s *stemmer[T]) rewrite(suffixes [][2]string) {
	for _, p := range suffixes {
		if s.ends(p[0]) {
			if s.measure() > 0 {
				s.become(p[1])
			}
			return
		}
	}
}

// strip is step 4.
func (s *stemmer[T]) strip() {
	fits := func(suffix string) bool {
		return s.ends(suffix) && (suffix != "ion" || s.j >= 0 && (s.b[s.j] == 's' || s.b[s.j] == 't'))
	}
	if slices.ContainsFunc(lastSuffixes, fits) && s.measure() > 1 {
		s.k = s.j
	}
}

// final is step 5.
func (s *stemmer[T]) final() {
	s.j = s.k
	if s.b[s.k] == 'e' {
		if m := s.measure(); m > 1 || m == 1 && !s.short(s.k-1) {
			s.k--
		}
	}
	if s.b[s.k] == 'l' && s.doubled(s.k) && s.measure() > 1 {
		s.k--
	}
}

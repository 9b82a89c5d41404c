package guard

import (
	"fmt"
	"strings"
)

// specIndex finds protected products: by id in what a row rewards or
// recommends, by id or title in what the model wrote.
type specIndex struct {
	byProduct map[string]int
	byTitle   map[string]int
	// titleStart holds the first titleLead words of every title, so that a long
	// answer is searched once, whatever the size of the bank.
	titleStart map[string][]string
}

// titleLead is how many words a title needs to be searched for: shorter ones
// ("Leather Belt") are names of kinds of things, not of one product.
const titleLead = 4

// minProductID is the least length of an id that is searched for in free text:
// shorter digit runs are prices and quantities.
const minProductID = 6

func newSpecIndex(bank []Entry) *specIndex {
	s := &specIndex{byProduct: map[string]int{}, byTitle: map[string]int{}, titleStart: map[string][]string{}}
	for i, e := range bank {
		for _, id := range e.ProductIDs {
			if _, known := s.byProduct[id]; !known && id != "" {
				s.byProduct[id] = i
			}
		}
		for _, t := range e.Titles {
			s.addTitle(t, i)
		}
	}
	return s
}

func (s *specIndex) addTitle(title string, entry int) {
	title = normalised(title)
	if _, known := s.byTitle[title]; known {
		return
	}
	words := strings.Fields(title)
	if len(words) < titleLead {
		return
	}
	s.byTitle[title] = entry
	start := strings.Join(words[:titleLead], " ")
	s.titleStart[start] = append(s.titleStart[start], title)
}

func (s *specIndex) check(c Candidate, bank []Entry) Finding {
	for _, id := range c.ProductIDs {
		if i, protected := s.byProduct[id]; protected {
			return specFinding(bank[i], fmt.Sprintf("product %s is a protected problem's", id))
		}
	}
	for _, text := range c.Answers {
		if i, what := s.inAnswer(text); what != "" {
			return specFinding(bank[i], "the answer names "+what)
		}
	}
	return Finding{}
}

func specFinding(e Entry, evidence string) Finding {
	return Finding{Match: e.ID, Bank: e.Bank, Drop: true, Score: 1, Tier: TierSpec, Evidence: evidence}
}

// inAnswer returns the entry whose product text names, and what it names.
func (s *specIndex) inAnswer(text string) (entry int, what string) {
	if i, id := s.productIn(text); id != "" {
		return i, "product " + id
	}
	if len(s.byTitle) == 0 {
		return 0, ""
	}
	text = normalised(text)
	for at := range wordStarts(text) {
		lead := leadingWords(text[at:], titleLead)
		for _, title := range s.titleStart[lead] {
			if startsWithWords(text[at:], title) {
				return s.byTitle[title], fmt.Sprintf("the title %q", title)
			}
		}
	}
	return 0, ""
}

func (s *specIndex) productIn(text string) (int, string) {
	for start := 0; start < len(text); {
		if !isIDByte(text[start]) {
			start++
			continue
		}
		end := start
		for end < len(text) && isIDByte(text[end]) {
			end++
		}
		if i, protected := s.byProduct[text[start:end]]; protected && end-start >= minProductID {
			return i, text[start:end]
		}
		start = end
	}
	return 0, ""
}

func isIDByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '_'
}

// wordStarts yields the positions at which a word of single-spaced text starts.
func wordStarts(text string) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := range len(text) {
			if text[i] != ' ' && (i == 0 || text[i-1] == ' ') && !yield(i) {
				return
			}
		}
	}
}

// leadingWords returns the first n words of single-spaced text, all of it where
// it has fewer.
func leadingWords(text string, n int) string {
	for i := range len(text) {
		if text[i] == ' ' {
			if n--; n == 0 {
				return text[:i]
			}
		}
	}
	return text
}

func startsWithWords(text, words string) bool {
	return strings.HasPrefix(text, words) && (len(text) == len(words) || text[len(words)] == ' ')
}

package guard

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/guard/disguise"
)

// specIndex finds protected products: by id in what a row rewards or
// recommends, by id or title in what the model wrote.
type specIndex struct {
	byProduct map[string]int
	// titles are found by the hash of their first titleLead words, so that a long
	// answer is read once, whatever the size of the bank.
	titles map[uint64][]title
}

// title is one product's name as the hashes of its words.
type title struct {
	text  string
	words []uint64
	entry int
}

// titleLead is how many words a title needs to be searched for: shorter ones
// ("Leather Belt") are names of kinds of things, not of one product.
const titleLead = 4

// minProductID is the least length of an id that is searched for in free text:
// shorter digit runs are prices and quantities.
const minProductID = 6

func newSpecIndex(bank []Entry) *specIndex {
	s := &specIndex{byProduct: map[string]int{}, titles: map[uint64][]title{}}
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

func (s *specIndex) addTitle(text string, entry int) {
	words := titleWords(text, nil)
	if len(words) < titleLead {
		return
	}
	lead := leadHash(words)
	known := slices.ContainsFunc(s.titles[lead], func(t title) bool { return slices.Equal(t.words, words) })
	if !known {
		s.titles[lead] = append(s.titles[lead], title{text, words, entry})
	}
}

// titleWords hashes the ASCII words of text in lower case. Other scripts and
// signs are left out on both sides: titles are quoted with and without them.
func titleWords(text string, out []uint64) []uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h, in := uint64(offset), false
	for i := range len(text) {
		c := text[i]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		if c >= 'a' && c <= 'z' || isDigit(c) {
			h, in = (h^uint64(c))*prime, true
			continue
		}
		if in {
			out, h, in = append(out, h), offset, false
		}
	}
	if in {
		out = append(out, h)
	}
	return out
}

func leadHash(words []uint64) (h uint64) {
	for _, w := range words[:titleLead] {
		h = h*1099511628211 + w
	}
	return h
}

func (s *specIndex) rewarded(ids []string, bank []Entry) Finding {
	for _, id := range ids {
		if i, protected := s.byProduct[id]; protected {
			return specFinding(bank[i], fmt.Sprintf("the answer is product %s, a protected problem's", id))
		}
	}
	return Finding{}
}

// check looks for ids and titles in a text, beneath its disguises too; whose says
// in words which text that is.
func (s *specIndex) check(whose, text string, bank []Entry) Finding {
	text = disguise.Plain(text)
	for _, r := range append(disguise.Readings(text, nil), disguise.Reading{Text: text}) {
		if i, what := s.named(withoutEscapes(r.Text)); what != "" {
			return specFinding(bank[i], whose+" names "+what)
		}
	}
	return Finding{}
}

func specFinding(e Entry, evidence string) Finding {
	return Finding{Match: e.ID, Bank: e.Bank, Drop: true, Score: 1, Tier: TierSpec, Evidence: evidence}
}

// jsonEscape is an escape of JSON, in JSON that is a string of JSON too.
var jsonEscape = regexp.MustCompile(`\\+(?:u[0-9a-fA-F]{4}|["/bfnrt])`)

// withoutEscapes puts a space for every escape of JSON, so that the arguments of
// a call read as their text does: ids and titles are ASCII, and what is escaped
// stands between words.
func withoutEscapes(text string) string {
	if strings.IndexByte(text, '\\') < 0 {
		return text
	}
	return jsonEscape.ReplaceAllString(text, " ")
}

func (s *specIndex) named(text string) (entry int, what string) {
	if i, id := s.productIn(text); id != "" {
		return i, "product " + id
	}
	if len(s.titles) == 0 {
		return 0, ""
	}
	words := titleWords(text, nil)
	for i := 0; i+titleLead <= len(words); i++ {
		for _, t := range s.titles[leadHash(words[i:])] {
			if len(words)-i >= len(t.words) && slices.Equal(t.words, words[i:i+len(t.words)]) {
				return t.entry, fmt.Sprintf("the title %q", t.text)
			}
		}
	}
	return 0, ""
}

// productIn looks for ids among the words of text: as a whole, and where dashes
// and underscores join an id to other words ("product_1234567", "1234567-the").
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
		word := text[start:end]
		if i, is := s.protectedID(word); is {
			return i, word
		}
		for part := range strings.FieldsFuncSeq(word, func(r rune) bool { return r == '-' || r == '_' }) {
			if i, is := s.protectedID(part); is && len(part) < len(word) {
				return i, part
			}
		}
		start = end
	}
	return 0, ""
}

func (s *specIndex) protectedID(word string) (int, bool) {
	if len(word) < minProductID {
		return 0, false
	}
	i, is := s.byProduct[word]
	return i, is
}

func isIDByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '_'
}

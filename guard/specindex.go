package guard

import (
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/guard/disguise"
	"github.com/trajectory-arena/arena/internal/scripts"
)

// specIndex finds the items of protected problems: by id among the ids that a row rewards or
// answers with, and by id or title in a text.
type specIndex struct {
	byItem map[string]int
	// titles maps the hash of the first titleLead words to the titles that start with them, so that
	// one pass over a long answer is enough for a bank of any size.
	titles map[uint64][]title
}

// title is the name of a protected item, with the hashes of its words and the index of its problem
// in the list of protected problems.
type title struct {
	text  string
	words []uint64
	entry int
}

// titleLead is the minimum number of words in a title that is searched for. A shorter title
// ("Leather Belt") names a kind of item and not one item.
const titleLead = 4

// minItemID is the minimum length in bytes of an item id that is searched for in texts.
// Shorter runs of digits are prices and quantities.
const minItemID = 6

func newSpecIndex(bank []Entry) *specIndex {
	s := &specIndex{
		byItem: map[string]int{},
		titles: map[uint64][]title{},
	}
	for i, e := range bank {
		for _, id := range e.ItemIDs {
			if id != "" {
				setIfAbsent(s.byItem, id, i)
			}
		}
		for _, t := range e.Titles {
			s.addTitle(t, i)
		}
	}
	return s
}

func (s *specIndex) addTitle(text string, entry int) {
	words := appendTitleWords(nil, text)
	if len(words) < titleLead {
		return
	}
	lead := leadHash(words)
	known := slices.ContainsFunc(s.titles[lead], func(t title) bool {
		return slices.Equal(t.words, words)
	})
	if !known {
		s.titles[lead] = append(s.titles[lead], title{text, words, entry})
	}
}

// The parameters of the hash function FNV-1a with 64 bits.
const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

// appendTitleWords appends the hash of each ASCII word of text, in lower case, to words. It ignores
// other scripts and signs in titles and in texts, since titles are quoted with and without them.
func appendTitleWords(words []uint64, text string) []uint64 {
	return slices.AppendSeq(words, wordHashes(text, func(string, int) bool { return false }))
}

// wordHashes returns the hashes of the words of text, in lower case: ASCII letters, digits, and those
// other bytes text[i] for which isPart(text, i) is true.
func wordHashes(text string, isPart func(text string, i int) bool) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		hash := uint64(fnvOffset)
		for i := range len(text) {
			c := text[i]
			if c >= 'A' && c <= 'Z' {
				c |= 0x20
			}
			isPlain := c >= 'a' && c <= 'z' || isDigit(c)
			if isPlain || isPart(text, i) {
				hash = (hash ^ uint64(c)) * fnvPrime
				continue
			}
			if hash != fnvOffset && !yield(hash) {
				return
			}
			hash = fnvOffset
		}
		if hash != fnvOffset {
			yield(hash)
		}
	}
}

// leadHash returns a hash of the first titleLead words of a title. specIndex.titles finds titles by
// it.
func leadHash(words []uint64) uint64 {
	hash := uint64(0)
	for _, w := range words[:titleLead] {
		hash = hash*fnvPrime + w
	}
	return hash
}

// checkRewarded returns a finding to drop the row if one of the item ids that the row rewards or
// answers with belongs to a protected problem. Otherwise it returns the zero Finding.
func (s *specIndex) checkRewarded(ids []string, bank []Entry) Finding {
	for _, id := range ids {
		if i, ok := s.byItem[id]; ok {
			return specFinding(bank[i], fmt.Sprintf("the answer is item %s, a protected problem's", id))
		}
	}
	return Finding{}
}

// check returns a finding to drop the row if a text contains the id or the title of a protected
// item, as written or with encodings such as base64 undone. Otherwise it returns the zero
// Finding. label describes the text in the evidence.
func (s *specIndex) check(label, text string, bank []Entry) Finding {
	hidden := disguise.Hidden(text)
	text = disguise.Plain(text)
	for _, r := range append(disguise.Readings(text, nil), disguise.Reading{Text: text}, disguise.Reading{Text: hidden}) {
		if i, what := s.find(withoutEscapes(r.Text)); what != "" {
			return specFinding(bank[i], label+" names "+what)
		}
	}
	return Finding{}
}

func specFinding(e Entry, evidence string) Finding {
	return Finding{
		Match:    e.ID,
		Bank:     e.Bank,
		Drop:     true,
		Score:    1,
		Tier:     TierSpec,
		Evidence: evidence,
	}
}

// jsonEscape matches an escape sequence of JSON, with more than one backslash if the JSON is within
// a JSON string.
var jsonEscape = regexp.MustCompile(`\\+(?:u[0-9a-fA-F]{4}|["/bfnrt])`)

// withoutEscapes replaces every JSON escape by a space, so that JSON such as call arguments can be
// searched like plain text. Ids and titles are ASCII, and escapes are between their words.
func withoutEscapes(text string) string {
	if strings.IndexByte(text, '\\') < 0 {
		return text
	}
	return jsonEscape.ReplaceAllString(text, " ")
}

// find returns the first protected item that text names: the index of its problem in the list of
// protected problems, and a description of the match. what is empty if text names none.
func (s *specIndex) find(text string) (entry int, what string) {
	if i, id := s.findItem(text); id != "" {
		return i, "item " + id
	}
	if len(s.titles) == 0 {
		return 0, ""
	}
	words := appendTitleWords(nil, text)
	for i := 0; i+titleLead <= len(words); i++ {
		for _, t := range s.titles[leadHash(words[i:])] {
			end := i + len(t.words)
			if end <= len(words) && slices.Equal(t.words, words[i:end]) {
				return t.entry, fmt.Sprintf("the title %q", t.text)
			}
		}
	}
	return 0, ""
}

// findItem returns the first protected item id in text and the index of its problem in the
// bank; id is empty if there is none. An id that has letters must be a full word, or a part of one
// that dashes and underscores join ("product_b1234567", "b1234567-the"). For an id of digits see
// findDigits.
func (s *specIndex) findItem(text string) (entry int, id string) {
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
		if i, ok := s.protectedID(word); ok {
			return i, word
		}
		for part := range strings.FieldsFuncSeq(word, isIDSeparator) {
			if i, ok := s.protectedID(part); ok && len(part) < len(word) {
				return i, part
			}
		}
		start = end
	}
	return s.findDigits(text)
}

// minDigits is the minimum number of digits of an id that is found even if letters touch it or
// signs are between its digits. Among ten million numbers of eight digits, one agrees by chance
// with the start of one of 750 ids of ten digits.
const minDigits = 8

// findDigits returns the first protected id of at least minDigits digits in text that no other digit
// touches, such as in the link "-i1234567890.html", and the index of its problem. One sign that
// separates thousands or groups may be between two digits ("1,234,567,890"). Digits of all scripts
// count.
func (s *specIndex) findDigits(text string) (entry int, id string) {
	if strings.IndexFunc(text, isNotASCII) >= 0 {
		text = strings.Map(scripts.ASCIIDigit, text)
	}
	for i := 0; i < len(text); {
		if !isDigit(text[i]) {
			i++
			continue
		}
		digits, ends := digitGroups(text[i:])
		if entry, id = s.findInGroups(digits, ends); id != "" {
			return entry, id
		}
		for i < len(text) && isDigit(text[i]) {
			i++
		}
	}
	return 0, ""
}

// maxIDDigits is the maximum number of digits of an id that is searched for with signs between its
// digits.
const maxIDDigits = 24

// digitGroups reads up to maxIDDigits digits from the start of text, with at most one separator
// between two of them, and returns them without separators. ends lists after how many digits a
// separator or the end of the number follows.
func digitGroups(text string) (digits string, ends []int) {
	var b [maxIDDigits]byte
	n := 0
	for i := 0; i < len(text) && n < maxIDDigits; i++ {
		switch {
		case isDigit(text[i]):
			b[n] = text[i]
			n++
		case strings.IndexByte(groupSeparators, text[i]) >= 0 && i+1 < len(text) && isDigit(text[i+1]):
			ends = append(ends, n)
		default:
			return string(b[:n]), append(ends, n)
		}
	}
	if n < maxIDDigits {
		ends = append(ends, n)
	}
	return string(b[:n]), ends
}

// groupSeparators are the signs that may separate groups of digits.
const groupSeparators = " ,._'-/"

// findInGroups returns the protected id that the first groups of digits form, such as 1234567890
// for "1,234,567,890 lamps", and the index of its problem in the list of protected problems. ends
// lists where the groups in digits end. id is empty if no problem has such an id.
func (s *specIndex) findInGroups(digits string, ends []int) (entry int, id string) {
	for _, end := range ends {
		if end < minDigits {
			continue
		}
		if i, ok := s.byItem[digits[:end]]; ok {
			return i, digits[:end]
		}
	}
	return 0, ""
}

// protectedID returns the index, in the list of protected problems, of the problem with this item
// id. ok is false if no problem has it, or if word is shorter than minItemID.
func (s *specIndex) protectedID(word string) (entry int, ok bool) {
	if len(word) < minItemID {
		return 0, false
	}
	entry, ok = s.byItem[word]
	return entry, ok
}

func isIDSeparator(r rune) bool { return r == '-' || r == '_' }

func isIDByte(c byte) bool {
	if isDigit(c) || isIDSeparator(rune(c)) {
		return true
	}
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

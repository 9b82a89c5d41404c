package evidence

import (
	"iter"
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/trajectory-arena/arena/internal/calls"
	"github.com/trajectory-arena/arena/internal/cursor"
)

// Pad is the memory that all calls, words and ids of one attempt are cut from,
// so that an attempt takes the same few pieces however long it is.
type Pad struct {
	words []uint64
	ids   []string
	acts  []Act
	tools []Tool
	// harness are the tools of the configuration, asked those that the log shows
	// besides.
	harness Tools
	asked   []string
	// calls are the entries of the log, dispatches and replies what they are;
	// claims are the calls of the dialogue.
	calls      []entry
	dispatches []Dispatch
	replies    []Reply
	claims     []Claim
	behind     []*Dispatch
	// listed is what all results show.
	listed Listing
	// Request is the words of the customer's request, scratch those of the title at hand.
	Request []uint64
	scratch []uint64
	// titles are the words of the titles that quotes are searched for in.
	titles []uint64
	// answered are the words of the titles that were recommended.
	answered []uint64
	// spoken is what the turns rest on.
	spoken []Said
	// json reads replies and keeps their texts without escapes.
	json    *cursor.Cursor
	written calls.Reader
	// argued counts the bytes of the arguments that the reply at hand names as text.
	argued int
	// others are the messages of a reply's further choices.
	others []completion
	// Full reports whether more came than is examined.
	Full bool
}

// Pads keeps used pads: they are most of what an attempt allocates.
var Pads = sync.Pool{New: func() any { return &Pad{json: cursor.New("", replyLimits)} }}

// What is compared of one attempt with everything else of it is bounded as a
// whole, so that no attempt can make its reader compare for minutes. Attempts
// of thirty steps come to a tenth of these.
const (
	maxAllWords = 1 << 16
	maxAllIDs   = 1 << 14
	maxAllActs  = 1 << 12
)

func (p *Pad) room() bool {
	if len(p.words) > maxAllWords || len(p.ids)+len(p.listed.Shown) > maxAllIDs || len(p.acts) > maxAllActs {
		p.Full = true
	}
	return !p.Full
}

// Release gives the pad to the next attempt, unless this one was far above the
// usual. Nothing may hold on to it, and it holds on to no trace.
func (p *Pad) Release() {
	if p.Full || len(p.titles) > maxAllWords {
		return
	}
	p.json.Reset("")
	*p = Pad{
		ids: emptied(p.ids), acts: emptied(p.acts), calls: emptied(p.calls), dispatches: emptied(p.dispatches), replies: emptied(p.replies), claims: emptied(p.claims),
		others: emptied(p.others[:cap(p.others)]), behind: emptied(p.behind[:cap(p.behind)]), listed: Listing{emptied(p.listed.Shown), emptied(p.listed.Titles)},
		words: p.words[:0], tools: p.tools[:0], asked: p.asked[:0], scratch: p.scratch[:0], titles: p.titles[:0], answered: p.answered[:0], spoken: p.spoken[:0], json: p.json,
	}
	Pads.Put(p)
}

func emptied[T any](s []T) []T {
	clear(s)
	return s[:0]
}

// The filter's hashes are FNV-1a over 64 bits: they name words within one
// attempt and habits within one day, and are part of a sample's version.
const (
	HashSeed = 14695981039346656037
	fnvPrime = 1099511628211
)

// HashText is 0 for the empty text.
func HashText(s string) uint64 {
	if s == "" {
		return 0
	}
	h := uint64(HashSeed)
	for i := 0; i < len(s); i++ {
		h = (h ^ uint64(s[i])) * fnvPrime
	}
	return h
}

// Mix joins two hashes; the order counts.
func Mix(a, b uint64) uint64 { return (a*fnvPrime ^ b) * fnvPrime }

// AppendWords appends a hash of every word of s.
func AppendWords(words []uint64, s string) []uint64 {
	for h := range Words(s) {
		words = append(words, h)
	}
	return words
}

// Words are hashes of the words of s: runs of letters, digits and marks in lower case.
// Whatever stands between them separates.
func Words(s string) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for i := 0; i < len(s); {
			if c := s[i]; c < utf8.RuneSelf && folded[c] == 0 {
				i++
				continue
			}
			h, n := NextWord(s[i:])
			if n > 0 && !yield(h) {
				return
			}
			i += max(n, 1)
		}
	}
}

// NextWord hashes the word that s starts with. length is in bytes, 0 where s
// does not start with one.
func NextWord(s string) (h uint64, length int) {
	h = HashSeed
	for length < len(s) {
		c := s[length]
		if c < utf8.RuneSelf {
			if c = folded[c]; c == 0 {
				break
			}
			h = (h ^ uint64(c)) * fnvPrime
			length++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[length:])
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
			break
		}
		h = (h ^ uint64(unicode.ToLower(r))) * fnvPrime
		length += n
	}
	return h, length
}

// folded is the lower case of every ASCII letter and digit, 0 for the others.
var folded = func() (t [utf8.RuneSelf]byte) {
	for c := range byte(utf8.RuneSelf) {
		switch {
		case c >= 'A' && c <= 'Z':
			t[c] = c + 'a' - 'A'
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			t[c] = c
		}
	}
	return t
}()

func (p *Pad) requests(word uint64) bool { return slices.Contains(p.Request, word) }

// Fit is how many words of the request a title holds.
func (p *Pad) Fit(title string) (n int) {
	for word := range Words(title) {
		n += int(Flag(p.requests(word)))
	}
	return n
}

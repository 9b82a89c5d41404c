package redact

import (
	"crypto/sha256"
	"math/big"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/tyler-smith/go-bip39"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// A mnemonic phrase of a wallet (BIP-39) has 12, 15, 18, 21 or 24 words of a list of 2,048, all
// of three to eight letters. Its last bits are a checksum. At most longestGap bytes are between
// two words.
const (
	fewestWords, mostWords    = 12, 24
	shortestWord, longestWord = 3, 8
	longestGap                = 8
)

// phraseLabel matches what people write before a mnemonic phrase, such as "seed phrase:". After
// it a phrase is redacted even if its checksum is wrong because a word is missing.
var phraseLabel = regexp.MustCompile(`(?i)(?:mnemonic|(?:seed|secret|recovery|backup|wallet)[ _-]?(?:phrase|words))[^a-z]{0,6}(?:(?:is|are|was|of|my|the|wallet|coldkey|hotkey|phrase|words)[^a-z]{1,6}){0,4}$`)

// phraseAt records the mnemonic phrases of wallets in the sequence of words around the given one.
func (h *hits) phraseAt(text string, word span) {
	words := wordsAround(text, word)
	if words == nil {
		return
	}
	h.phrased = words[len(words)-1].end
	h.phrases = append(h.phrases, phrasesOf(text, words)...)
}

// phraseNear records the mnemonic phrases around an index in a long sequence of characters. It
// does nothing if the word there is not in the BIP-39 list or was examined before.
func (h *hits) phraseNear(text string, index int) {
	if w := wordAt(text, index); index >= h.phrased && listed(text, w) {
		h.phraseAt(text, w)
	}
}

func phrases(_ string, h *hits) []span { return h.phrases }

// wordsAround returns the longest sequence of words of the BIP-39 list that contains the given
// one. It returns nil if the sequence has fewer than 12 words, the minimum of a phrase.
func wordsAround(text string, word span) []span {
	first := word
	n := 1
	for w := wordBefore(text, first.start); listed(text, w); w = wordBefore(text, w.start) {
		first = w
		n++
	}
	for w := wordAfter(text, word.end); listed(text, w); w = wordAfter(text, w.end) {
		n++
	}
	if n < fewestWords {
		return nil
	}
	words := make([]span, 0, n)
	for w := first; listed(text, w); w = wordAfter(text, w.end) {
		words = append(words, w)
	}
	return words
}

// wordAt returns the extent of the word around an index, in letters. A word that is longer than 8
// letters, the maximum in the BIP-39 list, is cut off, but remains too long for the list.
func wordAt(text string, index int) span {
	start := index
	end := index
	for start > 0 && index-start <= longestWord && letter(text[start-1]) {
		start--
	}
	for end < len(text) && end-index <= longestWord && letter(text[end]) {
		end++
	}
	return span{start, end}
}

func wordBefore(text string, index int) span {
	for floor := max(0, index-longestGap); index > floor && !letter(text[index-1]); {
		index--
	}
	if index == 0 {
		return span{}
	}
	return wordAt(text, index-1)
}

func wordAfter(text string, index int) span {
	for ceiling := min(len(text), index+longestGap); index < ceiling && !letter(text[index]); {
		index++
	}
	if index == len(text) {
		return span{}
	}
	return wordAt(text, index)
}

func listed(text string, w span) bool {
	n := w.end - w.start
	if n < shortestWord || n > longestWord || !phraseBits[packed(text[w.start:w.end])%uint64(len(phraseBits))] {
		return false
	}
	_, is := phraseWords[packed(text[w.start:w.end])]
	return is
}

// phraseWords maps each word of the BIP-39 list, from which mnemonic phrases of wallets are made,
// to its index in the list. The key is the word's letters packed into a number.
var phraseWords = func() map[uint64]int {
	list := map[uint64]int{}
	for i, w := range bip39.GetWordList() {
		list[packed(w)] = i
	}
	return list
}()

// phraseBits is a quick check for words that are not in the BIP-39 list, done before the lookup
// in phraseWords. The element for a packed word modulo the table's length, a prime number, is
// true if some word of the list has the same remainder.
var phraseBits = func() (bits [16381]bool) {
	for word := range phraseWords {
		bits[word%uint64(len(bits))] = true
	}
	return bits
}()

// packed returns the bytes of a word of at most eight letters as one number, with letters in lower
// case. Equal words have equal numbers.
func packed(word string) uint64 {
	n := uint64(0)
	for i := range len(word) {
		n = n<<8 | uint64(word[i]|0x20)
	}
	return n
}

// phrasesOf returns the mnemonic phrases of wallets in a sequence of words of the BIP-39 list. All
// words of a phrase have the same separator between them. A phrase has a permitted number of words
// and a valid checksum, or a label such as "seed phrase:" before it.
func phrasesOf(text string, words []span) []span {
	var items []span
	for len(words) >= fewestWords {
		// A word between two different separators ends one sequence and begins the next.
		n := 2
		for between := gap(text, words[0], words[1]); n < len(words) && gap(text, words[n-1], words[n]) == between; {
			n++
		}
		items = append(items, phrasesIn(text, words[:n])...)
		words = words[n-1:]
	}
	return longestOf(items)
}

// phrasesIn returns the mnemonic phrases of wallets, perhaps overlapping, in a sequence of words
// with equal separators. If no phrase with a valid checksum begins at the first word but a label
// such as "seed phrase:" precedes it, the first words, at most 24, are a phrase.
func phrasesIn(text string, words []span) []span {
	places := slicesx.Map(words, func(w span) int {
		return phraseWords[packed(text[w.start:w.end])]
	})
	var items []span
	for i := range words[:max(0, len(words)-fewestWords+1)] {
		limit := min(len(words)-i, mostWords)
		n := phraseLength(places[i : i+limit])
		if start := words[i].start; n == 0 && i == 0 && phraseLabel.MatchString(text[max(0, start-64):start]) {
			n = limit
		}
		if n > 0 {
			items = append(items, span{words[i].start, words[i+n-1].end})
		}
	}
	return items
}

// longestOf returns the longest of overlapping spans and all spans without overlap, in order.
// Shorter ones are likely errors: one of sixteen sequences of twelve words has a valid checksum
// by chance.
func longestOf(items []span) []span {
	slicesx.SortByKey(items, func(s span) int {
		return -(s.end - s.start)
	})
	var out []span
	for _, s := range items {
		i := sort.Search(len(out), func(i int) bool {
			return out[i].end > s.start
		})
		if i == len(out) || out[i].start >= s.end {
			out = slices.Insert(out, i, s)
		}
	}
	return out
}

// gap returns the separator of two consecutive words: the text between them without digits, so that
// "\n2. " and "\n3. " in a numbered list are equal.
func gap(text string, a, b span) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, text[a.end:b.start])
}

// phraseLength returns the number of words of the longest mnemonic phrase with a valid checksum
// that begins with the first word, 0 if there is none. Words are given by their indices in the
// BIP-39 list, eleven bits each. Of every 33 bits one belongs to the checksum, the first bits of
// the SHA-256 of the others.
func phraseLength(words []int) int {
	var b [mostWords*11/8 + 1]byte
	bits := 0
	stored := 0
	index := 0
	for _, w := range words {
		bits, stored = bits<<11|w, stored+11
		for ; stored >= 8; stored -= 8 {
			b[index] = byte(bits >> (stored - 8))
			index++
		}
	}
	b[index] = byte(bits << (8 - stored))
	for n := len(words) / 3 * 3; n >= fewestWords; n -= 3 {
		entropy := n * 4 / 3
		sumBits := n / 3
		if sum := sha256.Sum256(b[:entropy]); sum[0]>>(8-sumBits) == b[entropy]>>(8-sumBits) {
			return n
		}
	}
	return 0
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

const base58Letters = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

// isWIF reports whether s is a Bitcoin private key in Wallet Import Format, base 58: a version
// byte, 32 bytes of key, an optional byte, and a valid checksum of four bytes.
func isWIF(s string) bool {
	n := new(big.Int)
	for i := range len(s) {
		n.Mul(n, big.NewInt(int64(len(base58Letters))))
		n.Add(n, big.NewInt(int64(strings.IndexByte(base58Letters, s[i]))))
	}
	b := n.Bytes()
	if len(b) != 37 && len(b) != 38 {
		return false
	}
	key := b[:len(b)-4]
	sum := b[len(b)-4:]
	once := sha256.Sum256(key)
	twice := sha256.Sum256(once[:])
	return string(twice[:4]) == string(sum)
}

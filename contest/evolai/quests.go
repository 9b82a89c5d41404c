package evolai

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mathext/prng"
)

// Quest is one side quest: short arithmetic on whole numbers, drawn from the hash
// of a block.
type Quest struct {
	Expression string `json:"expression"`
	Answer     int64  `json:"answer"`
}

// Quests are the first n of a sample's, as the validator's Python draws them.
func Quests(blockHash string, sample, n int) []Quest {
	digest := sha256.Sum256(fmt.Appendf(nil, "%s:%d:sidequest", blockHash, sample))
	r := newPython(binary.BigEndian.Uint64(digest[:8]))
	all := make([]Quest, n)
	for i := range all {
		all[i] = kinds[r.below(int64(len(kinds)))](r)
	}
	return all
}

// Answered reports whether a text has a quest's answer as a whole number; commas
// and underscores inside numbers do not count.
func Answered(text string, q Quest) bool {
	text = strings.NewReplacer(",", "", "_", "").Replace(text)
	want := strconv.FormatInt(q.Answer, 10)
	for at := 0; ; {
		i := strings.Index(text[at:], want)
		if i < 0 {
			return false
		}
		start, end := at+i, at+i+len(want)
		if !digit(text, start-1) && !digit(text, end) {
			return true
		}
		at = start + 1
	}
}

func digit(s string, i int) bool { return i >= 0 && i < len(s) && s[i] >= '0' && s[i] <= '9' }

// kinds are the nine kinds of quests, in the order that they are chosen from.
var kinds = []func(*python) Quest{
	func(r *python) Quest {
		a, b := r.between(100_000_000, 2_000_000_000), r.between(100_000_000, 2_000_000_000)
		return Quest{fmt.Sprintf("%d + %d", a, b), a + b}
	},
	func(r *python) Quest {
		a := r.between(200_000_000, 2_000_000_000)
		b := r.between(0, a-100_000)
		return Quest{fmt.Sprintf("%d - %d", a, b), a - b}
	},
	func(r *python) Quest {
		a, b := r.between(20_000, 200_000), r.between(20_000, 200_000)
		return Quest{fmt.Sprintf("%d * %d", a, b), a * b}
	},
	func(r *python) Quest {
		b, result := r.between(200, 20_000), r.between(100_000, 10_000_000)
		return Quest{fmt.Sprintf("%d / %d", b*result, b), result}
	},
	func(r *python) Quest {
		b, q := r.between(200_000, 2_000_000), r.between(100_000, 2_000_000)
		rest := r.between(100_000, b-1)
		return Quest{fmt.Sprintf("%d mod %d", q*b+rest, b), rest}
	},
	func(r *python) Quest {
		base, exponent := r.between(80, 300), r.between(4, 6)
		power := int64(1)
		for range exponent {
			power *= base
		}
		return Quest{fmt.Sprintf("%d ^ %d", base, exponent), power}
	},
	func(r *python) Quest {
		a, b, c := r.between(2_000, 30_000), r.between(2_000, 30_000), r.between(100_000, 5_000_000)
		return Quest{fmt.Sprintf("(%d * %d) + %d", a, b, c), a*b + c}
	},
	func(r *python) Quest {
		a := r.between(1_000_000, 20_000_000)
		b, c := r.between(0, a-100_000), r.between(200, 2_000)
		return Quest{fmt.Sprintf("(%d - %d) * %d", a, b, c), (a - b) * c}
	},
	func(r *python) Quest {
		a, b := r.between(20_000, 500_000), r.between(20_000, 500_000)
		c, d := r.between(200, 5_000), r.between(100_000, 5_000_000)
		return Quest{fmt.Sprintf("((%d + %d) * %d) - %d", a, b, c, d), (a+b)*c - d}
	},
}

// python draws what Python's random.Random(seed) draws.
type python struct{ source *prng.MT19937 }

func newPython(seed uint64) *python {
	keys := []uint32{uint32(seed)}
	if seed>>32 > 0 {
		keys = append(keys, uint32(seed>>32))
	}
	r := &python{prng.NewMT19937()}
	r.source.SeedFromKeys(keys)
	return r
}

// below is _randbelow: 0 to n-1, for n below 2^32.
func (r *python) below(n int64) int64 {
	shift := 32 - bits.Len32(uint32(n))
	for {
		if v := int64(r.source.Uint32() >> shift); v < n {
			return v
		}
	}
}

// between is randint: both ends included.
func (r *python) between(low, high int64) int64 { return low + r.below(high-low+1) }

package evolai

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"regexp"
	"strings"

	"github.com/trajectory-arena/arena/internal/python"
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
	r := python.NewRandom(binary.BigEndian.Uint64(digest[:8]))
	all := make([]Quest, n)
	for i := range all {
		all[i] = kinds[r.Below(int64(len(kinds)))](r)
	}
	return all
}

// Answered reports whether a text has a quest's answer as a whole number; commas
// and underscores inside numbers do not count.
func Answered(text string, q Quest) bool {
	whole := regexp.MustCompile(fmt.Sprintf(`(^|\D)%d(\D|$)`, q.Answer))
	return whole.MatchString(strings.NewReplacer(",", "", "_", "").Replace(text))
}

// kinds are the nine kinds of quests, in the order that they are chosen from.
var kinds = []func(*python.Random) Quest{
	func(r *python.Random) Quest {
		a, b := r.Between(100_000_000, 2_000_000_000), r.Between(100_000_000, 2_000_000_000)
		return Quest{fmt.Sprintf("%d + %d", a, b), a + b}
	},
	func(r *python.Random) Quest {
		a := r.Between(200_000_000, 2_000_000_000)
		b := r.Between(0, a-100_000)
		return Quest{fmt.Sprintf("%d - %d", a, b), a - b}
	},
	func(r *python.Random) Quest {
		a, b := r.Between(20_000, 200_000), r.Between(20_000, 200_000)
		return Quest{fmt.Sprintf("%d * %d", a, b), a * b}
	},
	func(r *python.Random) Quest {
		b, result := r.Between(200, 20_000), r.Between(100_000, 10_000_000)
		return Quest{fmt.Sprintf("%d / %d", b*result, b), result}
	},
	func(r *python.Random) Quest {
		b, q := r.Between(200_000, 2_000_000), r.Between(100_000, 2_000_000)
		rest := r.Between(100_000, b-1)
		return Quest{fmt.Sprintf("%d mod %d", q*b+rest, b), rest}
	},
	func(r *python.Random) Quest {
		base, exponent := r.Between(80, 300), r.Between(4, 6)
		power := int64(1)
		for range exponent {
			power *= base
		}
		return Quest{fmt.Sprintf("%d ^ %d", base, exponent), power}
	},
	func(r *python.Random) Quest {
		a, b, c := r.Between(2_000, 30_000), r.Between(2_000, 30_000), r.Between(100_000, 5_000_000)
		return Quest{fmt.Sprintf("(%d * %d) + %d", a, b, c), a*b + c}
	},
	func(r *python.Random) Quest {
		a := r.Between(1_000_000, 20_000_000)
		b, c := r.Between(0, a-100_000), r.Between(200, 2_000)
		return Quest{fmt.Sprintf("(%d - %d) * %d", a, b, c), (a - b) * c}
	},
	func(r *python.Random) Quest {
		a, b := r.Between(20_000, 500_000), r.Between(20_000, 500_000)
		c, d := r.Between(200, 5_000), r.Between(100_000, 5_000_000)
		return Quest{fmt.Sprintf("((%d + %d) * %d) - %d", a, b, c, d), (a+b)*c - d}
	},
}

package evolai

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"regexp"
	"strings"

	"github.com/trajectory-arena/arena/internal/python"
)

// Quest is one side quest: a short calculation with whole numbers, derived from the hash of a
// block.
type Quest struct {
	Expression string `json:"expression"`
	Answer     int64  `json:"answer"`
}

// Quests returns the first n side quests of a sample. They are the same as those of the
// validator's Python code.
func Quests(blockHash string, sample, n int) []Quest {
	digest := sha256.Sum256(fmt.Appendf(nil, "%s:%d:sidequest", blockHash, sample))
	r := python.NewRandom(binary.BigEndian.Uint64(digest[:8]))
	quests := make([]Quest, n)
	for i := range quests {
		draw := kinds[r.Below(int64(len(kinds)))]
		quests[i] = draw(r)
	}
	return quests
}

// Answered reports whether a text contains a side quest's answer as a whole number. Commas and
// underscores in the text are ignored.
func Answered(text string, q Quest) bool {
	number := regexp.MustCompile(fmt.Sprintf(`(^|\D)%d(\D|$)`, q.Answer))
	return number.MatchString(strings.NewReplacer(",", "", "_", "").Replace(text))
}

// kinds are the functions that generate the nine kinds of side quests (short calculations that
// models must solve). Their order, and the order in which each uses random numbers, are those of
// the validator, so that the same seed gives the same quests.
var kinds = []func(*python.Random) Quest{
	addition, subtraction, multiplication, division, modulo, power, productPlus, differenceTimes, sumTimesMinus,
}

func addition(r *python.Random) Quest {
	a := r.Between(100_000_000, 2_000_000_000)
	b := r.Between(100_000_000, 2_000_000_000)
	return Quest{fmt.Sprintf("%d + %d", a, b), a + b}
}

func subtraction(r *python.Random) Quest {
	a := r.Between(200_000_000, 2_000_000_000)
	b := r.Between(0, a-100_000)
	return Quest{fmt.Sprintf("%d - %d", a, b), a - b}
}

func multiplication(r *python.Random) Quest {
	a := r.Between(20_000, 200_000)
	b := r.Between(20_000, 200_000)
	return Quest{fmt.Sprintf("%d * %d", a, b), a * b}
}

func division(r *python.Random) Quest {
	b := r.Between(200, 20_000)
	quotient := r.Between(100_000, 10_000_000)
	return Quest{fmt.Sprintf("%d / %d", b*quotient, b), quotient}
}

func modulo(r *python.Random) Quest {
	b := r.Between(200_000, 2_000_000)
	q := r.Between(100_000, 2_000_000)
	remainder := r.Between(100_000, b-1)
	return Quest{fmt.Sprintf("%d mod %d", q*b+remainder, b), remainder}
}

func power(r *python.Random) Quest {
	base := r.Between(80, 300)
	exponent := r.Between(4, 6)
	result := int64(1)
	for range exponent {
		result *= base
	}
	return Quest{fmt.Sprintf("%d ^ %d", base, exponent), result}
}

func productPlus(r *python.Random) Quest {
	a := r.Between(2_000, 30_000)
	b := r.Between(2_000, 30_000)
	c := r.Between(100_000, 5_000_000)
	return Quest{fmt.Sprintf("(%d * %d) + %d", a, b, c), a*b + c}
}

func differenceTimes(r *python.Random) Quest {
	a := r.Between(1_000_000, 20_000_000)
	b := r.Between(0, a-100_000)
	c := r.Between(200, 2_000)
	return Quest{fmt.Sprintf("(%d - %d) * %d", a, b, c), (a - b) * c}
}

func sumTimesMinus(r *python.Random) Quest {
	a := r.Between(20_000, 500_000)
	b := r.Between(20_000, 500_000)
	c := r.Between(200, 5_000)
	d := r.Between(100_000, 5_000_000)
	return Quest{fmt.Sprintf("((%d + %d) * %d) - %d", a, b, c, d), (a+b)*c - d}
}

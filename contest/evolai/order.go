package evolai

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"regexp"
	"strings"

	"github.com/trajectory-arena/arena/internal/python"
)

// Event is one step of a round: lock, seed or evaluate.
type Event struct {
	Epoch int64  `json:"epoch"`
	Event string `json:"event"`
	UID   int64  `json:"uid"`
	// Block is when; 0 where the file's order says it.
	Block    int64  `json:"block"`
	Revision string `json:"revision"`
	// Seed is of the set that is published, or that is evaluated.
	Seed string `json:"seed"`
	// Set is current or next, of an evaluation; next where it is empty.
	Set string `json:"set"`
}

// Violation is an event that the order of a round forbids.
type Violation struct {
	Line  int    `json:"line"`
	Epoch int64  `json:"epoch"`
	UID   int64  `json:"uid"`
	Why   string `json:"why"`
}

// order is the state of the rounds so far: every revision is locked before the
// seed of the next set is published, and evaluated only after; the next set of
// one epoch is the current one of the following.
type order struct {
	epoch   int64
	block   int64
	seed    string             // of this epoch's next set
	current string             // the seed of the epoch before
	locked  map[int64]string   // revisions by uid
	done    map[[2]string]bool // evaluations by uid and set
}

func (o *order) add(e *Event) string {
	if o.locked == nil || e.Epoch > o.epoch {
		before := o.seed
		if o.locked != nil && e.Epoch != o.epoch+1 {
			before = ""
		}
		*o = order{epoch: e.Epoch, block: o.block, current: before, locked: map[int64]string{}, done: map[[2]string]bool{}}
	}
	switch {
	case e.Epoch < o.epoch:
		return fmt.Sprintf("epoch %d comes after %d", e.Epoch, o.epoch)
	case e.Block > 0 && e.Block < o.block:
		return fmt.Sprintf("block %d comes after %d", e.Block, o.block)
	}
	o.block = max(o.block, e.Block)
	switch e.Event {
	case "lock":
		return o.lock(e)
	case "seed":
		return o.publish(e)
	case "evaluate":
		return o.evaluate(e)
	default:
		return fmt.Sprintf("event %q is none of lock, seed and evaluate", e.Event)
	}
}

func (o *order) lock(e *Event) string {
	switch {
	case e.Revision == "":
		return "no revision is locked"
	case o.seed != "":
		return "locked after the seed was published: the revision may have been fitted to it"
	case o.locked[e.UID] != "" && o.locked[e.UID] != e.Revision:
		return "locked twice, to another revision"
	}
	o.locked[e.UID] = e.Revision
	return ""
}

func (o *order) publish(e *Event) string {
	switch {
	case e.Seed == "":
		return "no seed is published"
	case o.seed != "":
		return "a second seed in one epoch"
	case len(o.locked) == 0:
		return "the seed is published before any revision is locked"
	case e.Seed == o.current:
		return "the seed is that of the epoch before: miners have seen its rows"
	}
	o.seed = e.Seed
	return ""
}

func (o *order) evaluate(e *Event) string {
	set, seed := e.Set, o.seed
	if set == "" {
		set = "next"
	}
	if set == "current" {
		seed = o.current
	}
	key := [2]string{fmt.Sprint(e.UID), set}
	switch {
	case set != "current" && set != "next":
		return fmt.Sprintf("set %q is neither current nor next", set)
	case o.seed == "":
		return "evaluated before the seed was published"
	case o.locked[e.UID] == "":
		return "evaluated without a locked revision"
	case o.locked[e.UID] != e.Revision:
		return fmt.Sprintf("revision %q is evaluated, %q is locked", e.Revision, o.locked[e.UID])
	case seed != "" && e.Seed != seed:
		return fmt.Sprintf("evaluated on seed %q, the %s set has %q", e.Seed, set, seed)
	case o.done[key]:
		return "evaluated twice on one set"
	}
	o.done[key] = true
	return ""
}

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

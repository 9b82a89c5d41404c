package habits

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/filters/evidence"
)

// Honest agents reach 0.07. Who makes up products, too, makes up both.
var _ = listed(&Proofs, Proof{
	Check: "replayed_text_v1", Reason: "replayed_text", Odds: -8,
	Doc: "Over the agent's day thoughts give numbers that stood nowhere before, about products that the shop did show.",
	Why: "over 0.12 of 20 numbers and more stood nowhere before, and under 0.05 of products: the text is from elsewhere",
	Holds: func(s *Sample, a *Agent) bool {
		n := ungrounded.Total(a)
		return speaks(s, a) && n.Whole >= grounds && n.Share() > 0.12 && unseen.Total(a).Share() < 0.05
	},
})

var (
	ungrounded = counted("numbers in thoughts that stood nowhere before", func(a *evidence.Attempt) Ratio { return Ratio{Part: a.Part, Whole: a.Whole} })
	unseen     = counted("products in calls that nothing had shown", func(a *evidence.Attempt) Ratio {
		n := 0
		for i := range a.Claims {
			if c := &a.Claims[i].Act; c.Tool.TakesProducts() {
				n += len(c.IDs)
			}
		}
		return Ratio{Part: a.Invented, Whole: n}
	})
)

// An agent is one program all day: what it did where the log can tell, it did where
// the log holds nothing to read.
var _ = listed(&Proofs, Proof{
	Check: "scripted_agent_v1", Reason: "scripted_agent", Odds: -3,
	Doc: "The attempt's log holds nothing to read, and a program made nearly all other attempts of the agent's day.",
	Why: "0.95 of 12 attempts and more of the agent's day are a program's, and the log of this one holds nothing else",
	Holds: func(s *Sample, a *Agent) bool {
		return s.Silent && a.Scripted.Whole >= few && a.Scripted.Share() >= 0.95
	},
})

// No model makes up an id of ten digits that the shop has: one is hardly chance and
// two of a day are none.
var _ = listed(&Proofs, Proof{
	Check: "told_answers_v2", Reason: "told_answers", Odds: -8,
	Doc: "The answer was known before the shop showed it: a recommended product that no result of the attempt held was found by others, or made-up products of the agent's day turned out to be real.",
	Why: "a product that no result of the attempt held was found by others, or made-up products turned out to be real: no model knows an id",
	Holds: func(s *Sample, a *Agent) bool {
		found := slices.ContainsFunc(s.Unseen, func(id uint64) bool { return a.found.taken[id] })
		return found || s.Invented > 0 && told.Total(a).Part > 1
	},
})

var told = counted("attempts in which a reply named a product before the shop showed it", func(a *evidence.Attempt) (t Ratio) {
	t.add(a.Prescient > 0)
	return t
})

// maxTaken bounds the products of one recommendation; requests ask for at most
// three or four.
const maxTaken = 8

// answer notes which products were recommended, and which of them no result
// held.
func (s *Sample) answer(a *evidence.Attempt) {
	if a.Recommended == nil {
		return
	}
	ids := a.Recommended.Act.IDs
	for _, id := range ids[:min(len(ids), maxTaken)] {
		if a.Known(id, len(a.Claims)) {
			s.Taken = append(s.Taken, evidence.HashText(id))
		} else {
			s.Unseen = append(s.Unseen, evidence.HashText(id))
		}
	}
}

// Index is what the day of all agents holds, by hashes. None of its maps has pointers: a
// season has millions of replies.
type Index struct {
	// taken are the products that the shop showed and somebody took, by which an id that a
	// model made up is told from one that it was told.
	taken map[uint64]bool
	// replies say when each reply first came, in Unix milliseconds.
	replies   map[uint64]int64
	dialogues map[uint64]first
}

// NewIndex is a day without attempts.
func NewIndex() Index {
	return Index{map[uint64]bool{}, map[uint64]int64{}, map[uint64]first{}}
}

// Add takes in what an agent's attempt took, was told and wrote.
func (f Index) Add(s *Sample, agent string) {
	for _, id := range s.Taken {
		f.taken[id] = true
	}
	begun := cmp.Or(s.Begun, math.MaxInt64)
	for _, reply := range s.Replies {
		if x, known := f.replies[reply]; !known || begun < x {
			f.replies[reply] = begun
		}
	}
	if s.Dialogue != 0 {
		f.dialogues[s.Dialogue] = f.dialogues[s.Dialogue].add(begun, evidence.HashText(agent))
	}
}

// A second item follows a first. Who counts steps begins with one, who counts tools gives
// each tool one number; who numbers first calls of one tool in several ways picked them
// from a list that is in no reply, so somebody else wrote it.
var _ = listed(&Proofs, Proof{
	Check: "unseen_menu_v1", Reason: "unseen_menu",
	Doc: "Over the agent's day first calls stand under changing numbers or letters, of lists that no reply holds.",
	Why: "12 first calls and more stand under numbers or letters, and one tool's under several: they were picked from lists that the log does not hold",
	Holds: func(_ *Sample, a *Agent) bool {
		n := labels.Total(a)
		_, same := n.Interval()
		return n.Whole >= few && same < 0.9
	},
})

// Where a reply before the first call was turned down, steps may begin with two.
var labels = marked("first calls under the commonest number or letter of their tool", func(a *evidence.Attempt) []Mark {
	if len(a.Log.Dispatches) == 0 || a.Log.Dispatches[0].Last != 0 {
		return nil
	}
	path := a.Log.Dispatches[0].Call.Path
	for line := range strings.Lines(a.Words(0)) {
		if found := label.FindStringSubmatch(line); found != nil && strings.Contains(line, evidence.Endpoint(path)) {
			return []Mark{{Group: evidence.HashText(path), Value: evidence.HashText(found[1])}}
		}
	}
	return nil
})

// label is a number or letter at the start of a line, behind one word at most.
var label = regexp.MustCompile(`^\W*(?:[A-Za-z]+\W+)?(\d|[A-H])[:.)\]]`)

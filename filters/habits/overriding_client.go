package habits

import (
	"slices"

	"github.com/trajectory-arena/arena/filters/evidence"
)

// Clients with validators turn fresh calls down now and then, not before a tenth of
// searches; who never sends the first reply takes a vote.
var _ = proof(Proof{
	Check: "overriding_client_v4", Reason: "overriding_client", Odds: -7,
	Doc: "Over the agent's day the client replaces what replies ask for in most attempts, chooses the answer after the last result without asking, or turns replies down until one suits it.",
	Why: "replies are overruled, or none is asked for the answer, in most attempts, or turned down until one suits: where they stand, a program let them",
	holds: func(s *Sample, a *Agent) bool {
		often, _ := replaced.In(a).Interval()
		down, _ := refusals.In(a).Interval()
		return speaks(s, a) && (often > 0.4 || down > 0.15 && atOnce.In(a).Share() > 0.05)
	},
})

var (
	replaced = counted("attempts with calls overridden", func(a *evidence.Attempt) (t Tally) {
		if len(a.Log.Dispatches) > 0 && len(a.Log.Replies) > 0 {
			t.add(a.Links[evidence.LinkOverride] > 0 || pickedAmid(&a.Log) || a.Unasked())
		}
		return t
	})
	refusals = counted("searches after replies turned down", func(a *evidence.Attempt) (t Tally) {
		judged(a, func(_, refused int) { t.add(refused > maxAskedAgain) })
		return t
	})
	atOnce = counted("searches that the first reply named", func(a *evidence.Attempt) (t Tally) {
		judged(a, func(replies, _ int) { t.add(replies == 1) })
		return t
	})
)

// judged calls see with each turn that ends in a search and whose replies all name
// calls: how many replies it has, and how many fresh calls were turned down before
// one was sent. Clients ask again for what they cannot send: text that does not
// parse, a repeat, a product that nobody showed. Of calls that could have been sent
// only a program that waits for its own turns down one after the other.
func judged(a *evidence.Attempt, see func(replies, refused int)) {
	newest := -1
	for i := range a.Log.Dispatches {
		d := &a.Log.Dispatches[i]
		if d.Last <= newest {
			continue
		}
		turn := a.Log.Replies[newest+1 : d.Last+1]
		newest = d.Last
		if d.Act.Tool != evidence.ToolFind || !deliberate(turn, a.Log.Slack) {
			continue
		}
		refused := 0
		for j := range turn[:len(turn)-1] {
			refused += int(evidence.Flag(turnedDown(a, &turn[j])))
		}
		see(len(turn), refused)
	}
}

// maxAskedAgain is how many fresh calls in a row a client may turn down: a
// draft is refined once.
const maxAskedAgain = 1

// deliberate reports whether each reply of a turn names calls and was asked for when
// the one before it had ended. Requests that race are one decision, and words
// between two calls are a critic's.
func deliberate(turn []evidence.Reply, slack float64) bool {
	for i := range turn {
		if len(turn[i].Named) == 0 || i > 0 && turn[i].Start < turn[i-1].End-slack {
			return false
		}
	}
	return true
}

// turnedDown reports whether the shop could have answered each call of a reply, and
// that none was sent before or after.
func turnedDown(a *evidence.Attempt, r *evidence.Reply) bool {
	for i := range r.Named {
		n := &r.Named[i]
		if !n.Tool.Catalogue() || sent(&a.Log, n) {
			return false
		}
		for _, id := range n.IDs {
			if !a.ShownBefore(id, r.Start) {
				return false
			}
		}
	}
	return true
}

// sent reports whether a dispatch asked for what was named, or for a part of it.
func sent(l *evidence.ProxyLog, named *evidence.Act) bool {
	if named.Used {
		return true
	}
	for i := range l.Dispatches {
		if d := &l.Dispatches[i].Act; d.SameRequest(named) || evidence.Covers(named, d) || evidence.Covers(d, named) {
			return true
		}
	}
	return false
}

// pickedAmid reports whether a call was sent out of the middle of a reply's list, and
// neither one before it nor one after it ever was. Clients that send one call a
// turn send the first, models that weigh several in one reply end on theirs;
// who takes from the middle has the model name many and chooses itself. What
// stands in several choices is no list.
func pickedAmid(l *evidence.ProxyLog) bool {
	return slices.ContainsFunc(l.Replies, func(r evidence.Reply) bool { return !r.Voted && amid(l, r.Named) })
}

func amid(l *evidence.ProxyLog, named []evidence.Act) bool {
	const left, picked, leftAgain = 1, 2, 3
	seen := 0
	for i := range named {
		n := &named[i]
		switch sent := sent(l, n); {
		case !n.Tool.Catalogue():
			return false
		case sent && seen == left:
			seen = picked
		case !sent && seen == 0:
			seen = left
		case !sent && seen == picked:
			seen = leftAgain
		}
	}
	return seen == leftAgain
}

package filters

import (
	"math"

	"github.com/trajectory-arena/arena"
)

// attempt is one trace under examination: the dialogue, the log, and how they
// hang together.
type attempt struct {
	trace    *arena.Trace
	dialogue *arena.Dialogue
	log      proxyLog
	claims   []claim
	links    [len(linkWords)]int
	// inference counts the chat completions that may have said something.
	inference int
	// readable and naming count the answers that can be read, and those of them
	// that name a call or hold its words.
	readable int
	naming   int
	// score is the log-odds of the first pass.
	score float64
	// recorded are the times of the turns, in Unix milliseconds.
	recorded []float64
	signals  RankSignals
	facts
	pad *pad
	// query is the request, as far as it is searched for ids and numbers.
	query string
	// searched counts the bytes of results searched for citations, titled the
	// claims whose titles are among the pad's words of titles.
	searched, titled int
}

// maxQuery is how much of a request is looked at; real ones have a thousand
// bytes.
const maxQuery = 1 << 16

// facts are counts that several rules and checks read; each is measured once
// by the function that has its name.
type facts struct {
	phantoms, edits         int
	invented, inventedNamed int
	prescient, prescientBy  int
	told, dispatchedTurns   int
	agree, disagree         int
	hidden                  int
	impossible              int
	forged                  int
	callTurns               int
	tokens                  int
	recommended             *claim
	recommendationNamed     bool
	recommendationHeard     bool
}

// examine reads an attempt; its pad may be released when nothing more is asked of
// it.
func examine(t *arena.Trace, d *arena.Dialogue) *attempt {
	p := pads.Get().(*pad)
	a := &attempt{trace: t, dialogue: d, pad: p, query: t.Query[:min(len(t.Query), maxQuery)]}
	p.hear(a.query)
	a.log = readLog(t, p)
	a.claims = readClaims(d, p)
	p.lists(a.claims)
	a.log.match(a.claims, p)
	a.show()
	a.commands()
	a.unnumber()
	a.log.link()
	a.hearVerbatim()
	for i := range a.log.dispatches {
		a.links[a.log.dispatches[i].link]++
	}
	for i := range a.log.replies {
		r := &a.log.replies[i]
		if r.readable {
			a.readable++
		}
		if len(r.queue) > 0 || r.heard {
			a.naming++
		}
	}
	a.inference = a.log.inferences(t.InferenceTotal)
	a.signals = signals(d, a.claims)
	a.measure()
	return a
}

func (a *attempt) measure() {
	a.recorded = a.times()
	a.phantoms, a.edits = a.countFabrications()
	a.invented, a.inventedNamed = a.countInvented()
	a.prescient, a.prescientBy = a.countPrescient()
	a.told, a.dispatchedTurns = a.countNarrated()
	a.agree, a.disagree = a.compareLengths()
	a.hidden = a.countHidden()
	a.impossible = a.countImpossible()
	a.forged = a.forgedReplies()
	a.callTurns = a.countCallTurns()
	a.tokens = Tokens(a.dialogue)
	a.recommended = a.lastRecommendation()
	a.recommendationNamed = a.recommended != nil && a.recommender(a.recommended) > 0
	a.recommendationHeard = a.recommended != nil && len(a.log.replies) > 0 && (a.says(len(a.log.replies)-1, &a.recommended.act) || a.buys(len(a.log.replies)-1, a.recommended))
}

// bound counts the dispatches that a model's own words named.
func (a *attempt) bound() int {
	return a.links[linkNamed] + a.links[linkLoose] + a.links[linkDerived]
}

// unbound counts the dispatches that readable replies did not name.
func (a *attempt) unbound() int {
	return a.links[linkNone] + a.links[linkOverride] + a.links[linkNoReply] + a.links[linkStale]
}

// richness is the share of decided dispatches that the model named with these
// arguments; NaN where no dispatch is decided.
func (a *attempt) richness() float64 {
	return share(a.bound(), a.bound()+a.unbound())
}

func share(part, whole int) float64 {
	if whole == 0 {
		return math.NaN()
	}
	return float64(part) / float64(whole)
}

// countCallTurns counts the turns that make calls.
func (a *attempt) countCallTurns() (n int) {
	for i := range a.dialogue.Turns {
		if len(a.dialogue.Turns[i].Calls) > 0 {
			n++
		}
	}
	return n
}

// lastRecommendation is the last one of the dialogue, nil where none.
func (a *attempt) lastRecommendation() *claim {
	for i := len(a.claims) - 1; i >= 0; i-- {
		if a.claims[i].act.tool == toolRecommend {
			return &a.claims[i]
		}
	}
	return nil
}

// recommender is the reply, counted from 1, that named a recommendation with
// these products, which a client may have cut short; 0 where none did.
func (a *attempt) recommender(c *claim) int {
	for i := range a.log.replies {
		for j := range a.log.replies[i].named {
			if recommends(&a.log.replies[i].named[j], c.act.ids) {
				return i + 1
			}
		}
	}
	return 0
}

// recommends reports whether a named call recommends these products; none are
// recommended by a call that names none.
func recommends(n *act, ids []string) bool {
	if len(ids) == 0 {
		return n.tool == toolRecommend && len(n.ids) == 0
	}
	return (n.tool == toolRecommend || n.tool == toolOther && !n.used) && (n.computed || subset(ids, n.ids))
}

// otherAnswer reports whether replies named recommendations, with other products than
// the dialogue shows.
func (a *attempt) otherAnswer() bool {
	for i := range a.log.replies {
		for j := range a.log.replies[i].named {
			if n := &a.log.replies[i].named[j]; n.tool == toolRecommend && len(n.ids) > 0 {
				return true
			}
		}
	}
	return false
}

// unreadable lists the faults of reading and the vetoes of the reader: each is
// a reject of its own.
func (a *attempt) unreadable() []string {
	var all []string
	all = append(all, a.trace.Vetoes...)
	return append(all, a.dialogue.Faults...)
}

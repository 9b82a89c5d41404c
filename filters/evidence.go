package filters

import (
	"strconv"
	"strings"
)

// countFabrications counts results of the dialogue that no dispatch returned, and
// such that differ from what was returned.
func (a *attempt) countFabrications() (phantoms, edits int) {
	for i := range a.claims {
		if a.claims[i].phantom {
			phantoms++
		}
		if a.claims[i].edited {
			edits++
		}
	}
	return phantoms, edits
}

// countHidden counts dispatches that the dialogue does not show.
func (a *attempt) countHidden() (n int) {
	for i := range a.log.dispatches {
		d := &a.log.dispatches[i]
		if d.claimed < 0 && d.link != linkRetry && answered(d.call) {
			n++
		}
	}
	return n
}

// countImpossible counts entries of the log that cannot be: durations below
// zero, and results that the dialogue had recorded before the proxy sent them.
func (a *attempt) countImpossible() (n int) {
	for i := range a.log.dispatches {
		d := &a.log.dispatches[i]
		if d.call.DurationMS < 0 {
			n++
		}
		if d.claimed >= 0 && d.link != linkRetry && a.recordedBefore(d) {
			n++
		}
	}
	for i := range a.log.replies {
		if a.log.replies[i].call.DurationMS < 0 {
			n++
		}
	}
	return n
}

// recordedBefore reports whether the step with the result carries a time well before
// the moment that any dispatch which could have brought it ended.
func (a *attempt) recordedBefore(d *dispatch) bool {
	at, known := a.recordedAt(d)
	if !known || d.call.AtMS <= 0 || at+recordSlack >= float64(d.call.AtMS) {
		return false
	}
	asked := &a.claims[d.claimed].act
	for i := range a.log.dispatches {
		e := &a.log.dispatches[i]
		if at+recordSlack >= float64(e.call.AtMS) && (asked.sameRequest(&e.act) || covers(asked, &e.act) || follows(asked, &e.act)) {
			return false
		}
	}
	return true
}

// recordedAt is the time of the step that shows the dispatch's result.
func (a *attempt) recordedAt(d *dispatch) (ms float64, known bool) {
	at := a.recorded[a.claims[d.claimed].turn]
	return at, at > 0
}

// times are when the turns were recorded, 0 where that is not known.
func (a *attempt) times() []float64 {
	all := make([]float64, len(a.dialogue.Turns))
	for i := range all {
		step := a.dialogue.Turns[i].Step
		if step >= len(a.trace.Steps) {
			continue
		}
		if at, err := strconv.ParseFloat(string(a.trace.Steps[step].Timestamp), 64); err == nil {
			all[i] = at
		}
	}
	return all
}

// recordSlack, in milliseconds, allows for the clocks of two machines.
const recordSlack = 2000

// countPrescient counts products that a reply named before it can have read of
// them, and that the shop then turned out to have; by is how many replies did.
// A reply reads what was there when it was asked for, not when it ended.
func (a *attempt) countPrescient() (n, by int) {
	for i := range a.log.replies {
		r, before := &a.log.replies[i], n
		for j := range r.named {
			for _, id := range r.named[j].ids {
				n += int(flag(a.shown(id) && !a.shownBefore(id, r.start)))
			}
		}
		by += int(flag(n > before))
	}
	return n, by
}

// shownBefore reports whether the request or a result that came before the moment
// held this id.
func (a *attempt) shownBefore(id string, at float64) bool {
	for i := range a.log.dispatches {
		d := &a.log.dispatches[i]
		if d.end <= at+a.log.slack && (d.blind || hasID(d.shown, id) || strings.Contains(string(d.call.Response), id)) {
			return true
		}
	}
	return strings.Contains(a.query, id)
}

// shown reports whether any result held this id.
func (a *attempt) shown(id string) bool {
	for i := range a.log.dispatches {
		if hasID(a.log.dispatches[i].shown, id) {
			return true
		}
	}
	return false
}

// show notes which ids each dispatch returned: those in its answer, those the
// log kept of a cut one, or what the dialogue shows for it.
func (a *attempt) show() {
	for i := range a.log.dispatches {
		d := &a.log.dispatches[i]
		switch {
		case !answered(d.call):
		case d.act.tool == toolView:
			d.shown = a.details(d)
		case d.verbatim:
			d.shown = a.claims[d.claimed].shown
		case d.call.Response != "":
			d.shown = a.pad.list(d.call.Response).shown
		case d.call.ProductIDs != nil:
			d.shown = d.call.ProductIDs
		case d.claimed >= 0:
			d.shown = a.claims[d.claimed].shown
		default:
			d.blind = true
		}
	}
}

// details are the products whose details a dispatch returned: those asked for
// that its answer holds, since who asks for a product that does not exist gets
// nothing; all of them where nobody kept the answer.
func (a *attempt) details(d *dispatch) []string {
	answer, shown := d.call.Response, []string(nil)
	if answer == "" && d.claimed >= 0 {
		c := &a.claims[d.claimed]
		answer, shown = c.call.Result, c.shown
	}
	if answer == "" {
		return d.act.ids
	}
	return a.pad.held(d.act.ids, shown, answer)
}

// countInvented counts products that calls of the dialogue name although no
// result before them, nor the request, held them. named counts those of them
// that a reply named itself: the model's own hallucination.
func (a *attempt) countInvented() (invented, named int) {
	for i := range a.claims {
		c := &a.claims[i]
		if c.act.tool != toolView && c.act.tool != toolRecommend && c.act.tool != toolMatch {
			continue
		}
		for _, id := range c.act.ids {
			if a.known(id, i) {
				continue
			}
			invented++
			if a.replied(id) {
				named++
			}
		}
	}
	return invented, named
}

// known reports whether the request, or a result before claim i, held the id; most
// ids come from the newest results.
func (a *attempt) known(id string, i int) bool {
	for j := i - 1; j >= 0; j-- {
		if hasID(a.claims[j].shown, id) {
			return true
		}
	}
	for j := range a.log.dispatches {
		if d := &a.log.dispatches[j]; d.blind || hasID(d.shown, id) {
			return true
		}
	}
	return strings.Contains(a.query, id)
}

// replied reports whether a reply named the id in a call.
func (a *attempt) replied(id string) bool {
	for i := range a.log.replies {
		for j := range a.log.replies[i].named {
			if hasID(a.log.replies[i].named[j].ids, id) {
				return true
			}
		}
	}
	return false
}

// countNarrated counts turns with a dispatch that were recorded only after a
// model had been asked once more, without naming a call: told afterwards. It
// goes by times alone, since words can be changed at will.
func (a *attempt) countNarrated() (told, turns int) {
	for i := range a.claims {
		c := &a.claims[i]
		if c.dispatch < 0 {
			continue
		}
		turns++
		d := &a.log.dispatches[c.dispatch]
		recorded, known := a.recordedAt(d)
		if !known {
			continue
		}
		for j := range a.log.replies {
			r := &a.log.replies[j]
			if r.readable && len(r.queue) == 0 && r.start >= d.end-a.log.slack && r.end <= recorded+a.log.slack {
				told++
				break
			}
		}
	}
	return told, turns
}

// compareLengths asks of each dispatch whose reply was cut whether the reply's
// length fits the recorded step with its call in it. What fits neither with the
// call nor without it was not the step's own reply, so it disagrees, too.
func (a *attempt) compareLengths() (agree, disagree int) {
	shell, compared, of := a.shell(), -1, 0
	for i := range a.log.dispatches {
		d := &a.log.dispatches[i]
		if d.link != linkUnknown || d.claimed < 0 {
			continue
		}
		last := d.last
		if last < 0 || a.log.replies[last].readable || a.log.replies[last].call.Length <= 0 {
			continue
		}
		c := &a.claims[d.claimed]
		if last == compared && c.turn != of {
			continue // one reply is one turn's: what follows without another is a plan worked off
		}
		compared, of = last, c.turn
		turn := &a.dialogue.Turns[c.turn]
		said := quoted(turn.Think) + quoted(turn.Text)
		over := a.log.replies[last].call.Length - shell - said
		// A call costs its arguments, its name and some twenty signs around them.
		cost := quoted(string(c.call.Arguments)) + len(c.call.Name) + 20
		switch {
		case over > cost/2 && over < 4*cost:
			agree++
		default:
			disagree++
		}
	}
	return agree, disagree
}

// shell is the usual length of a reply around its content, from the replies
// that can be read; the length of a plain chat completion where none can.
func (a *attempt) shell() int {
	const plainShell = 330
	sum, n := 0, 0
	for i := range a.log.replies {
		if r := &a.log.replies[i]; r.readable {
			sum += r.shell
			n++
		}
	}
	if n == 0 {
		return plainShell
	}
	return sum / n
}

// quoted is the length of s as an ASCII JSON string without its quotes.
func quoted(s string) (n int) {
	for _, r := range s {
		switch {
		case r == '"' || r == '\\' || r == '\n' || r == '\t' || r == '\r':
			n += 2
		case r < 0x20 || (r > 0x7e && r <= 0xffff):
			n += 6
		case r > 0xffff:
			n += 12
		default:
			n++
		}
	}
	return n
}

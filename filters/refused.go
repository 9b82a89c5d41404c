package filters

// refusals looks at the turns that end in a search and whose replies all name
// calls: Judged counts them, AtOnce those with one reply, Refused those in which
// more than maxAskedAgain fresh calls were turned down before one was sent.
// Clients ask again for what they cannot send: text that does not parse, a
// repeat, a product that nobody showed. Of calls that could have been sent only
// a program that waits for its own turns down one after the other.
func (a *attempt) refusals(s *Sample) {
	newest := -1
	for i := range a.log.dispatches {
		d := &a.log.dispatches[i]
		if d.last <= newest {
			continue
		}
		turn := a.log.replies[newest+1 : d.last+1]
		newest = d.last
		if d.act.tool != toolFind || !deliberate(turn, a.log.slack) {
			continue
		}
		refused := 0
		for j := range turn[:len(turn)-1] {
			refused += int(flag(a.turnedDown(&turn[j])))
		}
		s.Judged++
		s.AtOnce += int(flag(len(turn) == 1))
		s.Refused += int(flag(refused > maxAskedAgain))
	}
}

// maxAskedAgain is how many fresh calls in a row a client may turn down: a
// draft is refined once.
const maxAskedAgain = 1

// deliberate reports whether each reply of a turn names calls and was asked for when
// the one before it had ended. Requests that race are one decision, and words
// between two calls are a critic's.
func deliberate(turn []reply, slack float64) bool {
	for i := range turn {
		if len(turn[i].named) == 0 || i > 0 && turn[i].start < turn[i-1].end-slack {
			return false
		}
	}
	return true
}

// turnedDown reports whether the shop could have answered each call of a reply, and
// that none was sent before or after.
func (a *attempt) turnedDown(r *reply) bool {
	for i := range r.named {
		n := &r.named[i]
		if !n.tool.catalogue() || n.computed || a.log.sent(n) {
			return false
		}
		for _, id := range n.ids {
			if !a.shownBefore(id, r.start) {
				return false
			}
		}
	}
	return true
}

// sent reports whether a dispatch asked for what was named, or for a part of it.
func (l *proxyLog) sent(named *act) bool {
	if named.used {
		return true
	}
	for i := range l.dispatches {
		if d := &l.dispatches[i].act; d.sameRequest(named) || covers(named, d) || covers(d, named) {
			return true
		}
	}
	return false
}

// pickedAmid reports whether a call was sent out of the middle of a reply's list, and
// neither one before it nor one after it ever was. Clients that send one call a
// turn send the first, models that weigh several in one reply end on theirs;
// who takes from the middle has the model name many and chooses itself. What
// stands in several choices or in a program of the model's is no list.
func (l *proxyLog) pickedAmid() bool {
	for i := range l.replies {
		if r := &l.replies[i]; !r.voted && l.amid(r.named) {
			return true
		}
	}
	return false
}

func (l *proxyLog) amid(named []act) bool {
	const left, picked, leftAgain = 1, 2, 3
	seen := 0
	for i := range named {
		n := &named[i]
		switch sent := l.sent(n); {
		case !n.tool.catalogue() || n.computed:
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

package habits

import (
	"slices"

	"github.com/trajectory-arena/arena/filters/evidence"
)

// An honest client sends what the model wrote. Where it does not in many attempts of a
// day, a program has a part in the others, too, though their logs do not show it: a
// wish may have been overruled and another one dictated. Validators turn calls down in
// fewer, and who drafts every call anew cannot be told from who is overruled.
var _ = listed(&Proofs, Proof{
	Check: "mixed_day_v1", Reason: "mixed_day",
	Doc: "In two of five attempts of the agent's day and more something was sent or answered that no model wrote, or calls that the model wrote were turned down, or chosen from lists.",
	Why: "in two of five attempts of the day and more some call or the answer is no model's, or its own calls were turned down: what a program left alone is not known",
	Holds: func(s *Sample, a *Agent) bool {
		often, _ := mixed.Total(a).Interval()
		program, _ := a.Scripted.Interval()
		first, last := firstSent.Total(a).Interval()
		return a.Known && (often > 0.4 || program > 0.4 || first > 0.1 && last < 0.9)
	},
})

var (
	mixed = counted("attempts with something sent that no model wrote, or calls turned down", func(a *evidence.Attempt) (t Ratio) {
		if len(a.Log.Dispatches) > 0 && len(a.Log.Replies) > 0 && !a.ClocksApart {
			amid := false
			lists(a, func(first, last bool) { amid = amid || !first && !last })
			t.add(amid || a.Foreign() || refused(a))
		}
		return t
	})
	firstSent = counted("lists of which the first call was sent, not the last", func(a *evidence.Attempt) (t Ratio) {
		lists(a, func(first, last bool) {
			if first || last {
				t.add(first)
			}
		})
		return t
	})
)

// lists calls see with each list of calls of which one alone was sent, and with where it
// stood. Clients that send one call a turn send the first, models that weigh several end
// on theirs, so who does both chooses. Several choices are no list.
func lists(a *evidence.Attempt, see func(first, last bool)) {
	for _, r := range evidence.Each(a.Log.Replies) {
		at, n := 0, 0
		for j := range r.Named {
			if r.Named[j].Tool.IsCatalogue() && sent(a, &r.Named[j]) {
				at, n = j, n+1
			}
		}
		if !r.Voted && n == 1 && len(r.Named) > 1 {
			see(at == 0, at == len(r.Named)-1)
		}
	}
}

// refused reports whether a reply was turned down for more than every fourth request, those
// left out that agree with another one on what was sent, as votes do. Validators turn down
// fewer. What is named last is not sent where the attempt ends.
func refused(a *evidence.Attempt) bool {
	down := 0
	for i := range a.Log.Replies[:len(a.Log.Replies)-1] {
		r := &a.Log.Replies[i]
		same := func(e evidence.Reply) bool { return len(e.Named) > 0 && e.Named[0].SameRequest(&r.Named[0]) }
		if len(r.Named) > 0 && turnedDown(a, r) {
			down++
		} else if len(r.Named) > 0 && slices.ContainsFunc(a.Log.Replies[:i], same) {
			down--
		}
	}
	return 4*down > len(a.Log.Dispatches)
}

// turnedDown reports whether the shop could have answered each call of a reply, and
// that none was sent before or after. Clients ask again for what they cannot send.
func turnedDown(a *evidence.Attempt, r *evidence.Reply) bool {
	return !slices.ContainsFunc(r.Named, func(n evidence.Act) bool {
		unseen := func(id string) bool { return !a.ShownBefore(id, r.Start) }
		return !n.Tool.IsCatalogue() || sent(a, &n) || slices.ContainsFunc(n.IDs, unseen)
	})
}

// sent reports whether a dispatch asked for what was named, or for a part of it, or the
// client did it by itself.
func sent(a *evidence.Attempt, named *evidence.Act) bool {
	return named.Used || named.Begun || slices.ContainsFunc(a.Log.Dispatches, func(d evidence.Dispatch) bool {
		return d.Act.SameRequest(named) || evidence.Covers(named, &d.Act) || evidence.Covers(&d.Act, named)
	}) || slices.ContainsFunc(a.Claims, func(c evidence.Claim) bool { return c.Act.SameRequest(named) })
}

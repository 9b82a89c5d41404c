package habits

import (
	"slices"

	"github.com/trajectory-arena/arena/filters/evidence"
)

// An honest client sends what the model wrote. Where it does not in most attempts of a
// day, a program has a part in the others, too, though their logs do not show it: a
// wish may have been overruled and another one dictated. Validators turn calls down in
// fewer, and who drafts every call anew cannot be told from who is overruled.
var _ = proof(Proof{
	Check: "mixed_day_v1", Reason: "mixed_day",
	Doc: "In most attempts of the agent's day something was sent or answered that no model wrote, or calls that the model wrote were turned down, or chosen from lists.",
	Why: "in most attempts of the day some call or the answer is no model's, or its own calls were turned down: what a program left alone is not known",
	holds: func(s *Sample, a *Agent) bool {
		often, _ := mixed.In(a).Interval()
		return a.Known && often > 0.5
	},
})

var mixed = counted("attempts with something sent that no model wrote, or calls turned down", func(a *evidence.Attempt) (t Tally) {
	if len(a.Log.Dispatches) > 0 && len(a.Log.Replies) > 0 && !a.ClocksApart {
		t.add(a.Foreign() || refused(a) || chosen(a))
	}
	return t
})

// chosen reports whether calls were chosen out of lists that the model wrote: one of the
// middle alone was sent, or here the first and there the last. Clients that send one call a
// turn send the first, models that weigh several end on theirs; several choices are no
// list.
func chosen(a *evidence.Attempt) bool {
	first, last := false, false
	for i := range a.Log.Replies {
		r, at, n := &a.Log.Replies[i], 0, 0
		for j := range r.Named {
			if r.Named[j].Tool.Catalogue() && sent(a, &r.Named[j]) {
				at, n = j, n+1
			}
		}
		if r.Voted || n != 1 || len(r.Named) < 2 {
			continue
		}
		first, last = first || at < len(r.Named)-1, last || at > 0
	}
	return first && last
}

// refused reports whether more replies were turned down than agree with another one
// on what was sent, as votes do. What is named last is not sent where the attempt ends.
func refused(a *evidence.Attempt) bool {
	down, agreed := 0, 0
	for i := range a.Log.Replies[:len(a.Log.Replies)-1] {
		r := &a.Log.Replies[i]
		same := func(e evidence.Reply) bool { return len(e.Named) > 0 && e.Named[0].SameRequest(&r.Named[0]) }
		switch {
		case len(r.Named) == 0:
		case turnedDown(a, r):
			down++
		case slices.ContainsFunc(a.Log.Replies[:i], same):
			agreed++
		}
	}
	return down > agreed
}

// turnedDown reports whether the shop could have answered each call of a reply, and
// that none was sent before or after. Clients ask again for what they cannot send.
func turnedDown(a *evidence.Attempt, r *evidence.Reply) bool {
	return !slices.ContainsFunc(r.Named, func(n evidence.Act) bool {
		unseen := func(id string) bool { return !a.ShownBefore(id, r.Start) }
		return !n.Tool.Catalogue() || sent(a, &n) || slices.ContainsFunc(n.IDs, unseen)
	})
}

// sent reports whether a dispatch asked for what was named, or for a part of it, or the
// client did it by itself.
func sent(a *evidence.Attempt, named *evidence.Act) bool {
	return named.Used || named.Begun || slices.ContainsFunc(a.Log.Dispatches, func(d evidence.Dispatch) bool {
		return d.Act.SameRequest(named) || evidence.Covers(named, &d.Act) || evidence.Covers(&d.Act, named)
	}) || slices.ContainsFunc(a.Claims, func(c evidence.Claim) bool { return c.Act.SameRequest(named) })
}

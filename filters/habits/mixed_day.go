package habits

import (
	"slices"

	"github.com/trajectory-arena/arena/filters/evidence"
)

// An honest client sends what the model wrote. If it does not in many attempts of a day, a
// program influenced the others, too, even though their logs do not show it: it may have
// overruled one call and dictated another. Validators reject calls in fewer attempts. A
// model that drafts every call anew looks like one that is overruled.
var mixedDay = Proof{
	Check: "mixed_day_v1", Reason: "mixed_day",
	Doc: "In two of five attempts of the agent's day and more something was sent or answered that no model wrote, or calls that the model wrote were turned down, or chosen from lists.",
	Why: "in two of five attempts of the day and more some call or the answer is no model's, or its own calls were turned down: what a program left alone is not known",
	Holds: func(_ *Sample, a *Agent) bool {
		minMixed, _ := mixedAttempts.Total(a).Interval()
		minScripted, _ := a.Scripted.Interval()
		minFirst, maxFirst := firstCallsSent.Total(a).Interval()
		choosesFromLists := minFirst > 0.1 && maxFirst < 0.9
		return a.Known && (minMixed > 0.4 || minScripted > 0.4 || choosesFromLists)
	},
}

var mixedAttempts = &Count{
	Name: "attempts with something sent that no model wrote, or calls turned down",
	ratio: func(a *evidence.Attempt) Ratio {
		var r Ratio
		if len(a.Log.Dispatches) == 0 || len(a.Log.Replies) == 0 || a.ClocksDiffer {
			return r
		}
		isMixed := sendsFromMiddle(a) || a.ClientDecided() || isOftenRejected(a)
		isWhole := a.Lost == 0 && a.Readable == len(a.Log.Replies)
		if isMixed || isWhole {
			r.add(isMixed)
		}
		return r
	},
}

var firstCallsSent = &Count{
	Name: "lists of which the first call was sent, not the last",
	ratio: func(a *evidence.Attempt) Ratio {
		var r Ratio
		for i := range a.Log.Replies {
			reply := &a.Log.Replies[i]
			switch soleCallSent(a, reply) {
			case -1:
			case 0:
				r.add(true)
			case len(reply.Named) - 1:
				r.add(false)
			}
		}
		return r
	},
}

// loosensSearches reports whether the client left out words of nearly all searches that the model
// named. A client that shortens long searches does so, and a program that chooses what is searched
// for.
func loosensSearches(a *Agent) bool {
	r := shortenedSearches.Total(a)
	return r.Whole >= minAgreeing && r.Share() > 0.8
}

var shortenedSearches = &Count{
	Name: "searches of which the client left out words",
	ratio: func(a *evidence.Attempt) Ratio {
		var r Ratio
		for i := range a.Log.Dispatches {
			d := &a.Log.Dispatches[i]
			isNamed := d.Link == evidence.LinkNamed || d.Link == evidence.LinkLoose
			if isNamed && d.Act.Tool == evidence.ToolFind {
				r.add(d.Shortened)
			}
		}
		return r
	},
}

// namedRequests counts the requests that a reply named, of those that the log decides. What
// it leaves undecided in a day is like the rest.
var namedRequests = &Count{
	Name: "requests that a reply named",
	ratio: func(a *evidence.Attempt) Ratio {
		named := a.Links[evidence.LinkNamed] + a.Links[evidence.LinkLoose] + a.Links[evidence.LinkDerived]
		return Ratio{Part: named, Whole: named + a.Unbound()}
	},
}

// namesRequests reports whether the model named nearly all requests of the day that the log
// decides, and they are many.
func namesRequests(a *Agent) bool {
	r := namedRequests.Total(a)
	return r.Whole >= minAgreeing && r.Share() >= 0.95
}

// sendsFromMiddle reports whether the client sent only one call of a reply that names
// several, neither the first nor the last one.
func sendsFromMiddle(a *evidence.Attempt) bool {
	for i := range a.Log.Replies {
		reply := &a.Log.Replies[i]
		if sole := soleCallSent(a, reply); sole > 0 && sole < len(reply.Named)-1 {
			return true
		}
	}
	return false
}

// soleCallSent returns the index of the call that was sent if a reply names several calls
// and only one was sent, else -1. Clients that send one call a turn send the first one,
// models that weigh several end with the one that they mean, so a client that does both
// chooses. Several choices are not a list.
func soleCallSent(a *evidence.Attempt, reply *evidence.Reply) int {
	if reply.MultipleChoices || len(reply.Named) < 2 {
		return -1
	}
	sole := -1
	for i := range reply.Named {
		named := &reply.Named[i]
		if !named.Tool.IsCatalogue() || !wasSent(a, named) {
			continue
		}
		if sole >= 0 {
			return -1
		}
		sole = i
	}
	return sole
}

// isOftenRejected reports whether the client rejected replies more often than one for every
// four requests. A rejected reply does not count if its call equals another one that was
// sent, as votes do. Validators reject fewer. The last reply does not count, since an
// attempt may end before its call is sent.
func isOftenRejected(a *evidence.Attempt) bool {
	rejected := 0
	for i := range a.Log.Replies[:len(a.Log.Replies)-1] {
		r := &a.Log.Replies[i]
		if len(r.Named) == 0 {
			continue
		}
		namesSame := func(e evidence.Reply) bool {
			return len(e.Named) > 0 &&
				e.Named[0].SameRequest(&r.Named[0])
		}
		if isRejected(a, r) {
			rejected++
		} else if slices.ContainsFunc(a.Log.Replies[:i], namesSame) {
			rejected--
		}
	}
	return 4*rejected > len(a.Log.Dispatches)
}

// isRejected reports whether the client could have carried out every call of a reply, a
// recommendation included, and carried out none, before or after. Clients ask the model again
// for what they cannot send.
func isRejected(a *evidence.Attempt, r *evidence.Reply) bool {
	wasUnknown := func(id string) bool {
		return !a.ShownBefore(id, r.Start)
	}
	for i := range r.Named {
		named := &r.Named[i]
		canBeSent := named.Tool.IsCatalogue() || named.Tool == evidence.ToolRecommend
		if !canBeSent || wasSent(a, named) || slices.ContainsFunc(named.IDs, wasUnknown) {
			return false
		}
	}
	return true
}

// wasSent reports whether a dispatch requested a named call or a part of it, or a call of
// the dialogue equals it.
func wasSent(a *evidence.Attempt, named *evidence.Act) bool {
	if named.Used || named.Started {
		return true
	}
	isRequested := func(d evidence.Dispatch) bool {
		return d.Act.SameRequest(named) || evidence.Covers(named, &d.Act) ||
			evidence.Covers(&d.Act, named)
	}
	isClaimed := func(c evidence.Claim) bool { return c.Act.SameRequest(named) }
	return slices.ContainsFunc(a.Log.Dispatches, isRequested) || slices.ContainsFunc(a.Claims, isClaimed)
}

package habits

import (
	"slices"

	"github.com/trajectory-arena/arena/filters/evidence"
)

// mixedDay is the doubt about all attempts of an agent whose client, in more than two of five
// attempts, did not send what the model wrote. A program then influenced the other attempts as
// well, even if their logs do not show it. Clients that only validate calls differ from the model
// in fewer attempts. A model that drafts every call again cannot be told from one whose calls are
// rejected.
var mixedDay = Proof{
	Check: "mixed_day_v1", Reason: "mixed_day",
	Doc: "In at least 40 % of the agent's attempts of the day, the client sent or answered something that no model wrote, rejected calls that the model wrote, or chose among them.",
	Why: "in at least 40 % of the agent's attempts of the day, some call or the answer is not from a model, or the model's calls were rejected, so it is unknown which calls a program left unchanged",
	Holds: func(_ *Sample, a *Agent) bool {
		minMixed, _ := mixedAttempts.Total(a).Interval()
		minScripted, _ := a.Scripted.Interval()
		minFirst, maxFirst := firstCallsSent.Total(a).Interval()
		choosesFromLists := minFirst > 0.1 && maxFirst < 0.9
		return a.Known && (minMixed > 0.4 || minScripted > 0.4 || choosesFromLists)
	},
}

// mixedAttempts counts the attempts whose log has requests and replies, and among them those in
// which the client did not do what the model wrote: it chose among the calls or rejected them. An
// attempt with missing or unreadable replies counts only if the other replies show that the client
// did so.
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

// firstCallsSent counts the replies with several calls of which the client sent only the first or
// only the last, and among them those of which it sent the first. A client with a fixed rule sends
// always the same one.
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

// loosensSearches reports whether the client removed words from more than 80 % of the searches
// that the model asked for, out of at least minAgreeing. Such a client either shortens long
// searches or chooses itself what is searched for.
func loosensSearches(a *Agent) bool {
	r := shortenedSearches.Total(a)
	return r.Whole >= minAgreeing && r.Share() > 0.8
}

// shortenedSearches counts the searches that the model asked for, and among them those from
// which the client removed words.
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

// namedRequests counts the logged tool requests for which the log shows whether a reply of their own
// turn asked for them, and among them those for which one did. Retries are left out.
var namedRequests = &Count{
	Name: "requests that a reply named",
	ratio: func(a *evidence.Attempt) Ratio {
		named := a.Links[evidence.LinkNamed] + a.Links[evidence.LinkLoose] + a.Links[evidence.LinkDerived]
		return Ratio{Part: named, Whole: named + a.Unbound()}
	},
}

// namesRequests reports whether the model asked for at least 95 % of the agent's tool requests.
// Only requests for which the log shows who asked are counted, and there must be at least
// minAgreeing.
func namesRequests(a *Agent) bool {
	r := namedRequests.Total(a)
	return r.Whole >= minAgreeing && r.Share() >= 0.95
}

// sendsFromMiddle reports whether some reply has several calls of which the client sent a single
// one that is neither the first nor the last.
func sendsFromMiddle(a *evidence.Attempt) bool {
	for i := range a.Log.Replies {
		reply := &a.Log.Replies[i]
		if sole := soleCallSent(a, reply); sole > 0 && sole < len(reply.Named)-1 {
			return true
		}
	}
	return false
}

// soleCallSent returns the index of the only call of a reply that the client sent. It returns -1 if
// the reply has fewer than two calls or several alternative answers, or if the client sent none of
// its calls or several. A client that sends one call per reply should always send the first or, as
// the model's final choice, always the last. One that does both makes the choice itself.
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

// isOftenRejected reports whether the client rejected more than one reply for every four requests
// to the tool server. A reply that was carried out and begins with the same call as an earlier
// reply, as happens if a client takes the majority of several replies, offsets one rejection. The
// last reply does not count, since an attempt may end before its calls are sent. Clients that only
// validate calls reject fewer replies.
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

// isRejected reports whether the client carried out none of a reply's calls, at any time, although
// all of them were possible: calls to the tool server, and commit calls of items that the model had
// been shown. Clients ask the model again if they cannot send a call, so such replies do not count.
func isRejected(a *evidence.Attempt, r *evidence.Reply) bool {
	wasUnknown := func(id string) bool {
		return !a.ShownBefore(id, r.Start)
	}
	for i := range r.Named {
		named := &r.Named[i]
		canBeSent := named.Tool.IsCatalogue() || named.Tool == evidence.ToolCommit
		if !canBeSent || wasSent(a, named) || slices.ContainsFunc(named.IDs, wasUnknown) {
			return false
		}
	}
	return true
}

// wasSent reports whether a call of a reply was sent: a logged request carries out the call or a
// part of it, or a call of the dialogue is equal to it.
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

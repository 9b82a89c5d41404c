package habits

import (
	"math"
	"slices"

	"github.com/trajectory-arena/arena/filters/evidence"
)

// fixedHabit is the habit of calling tools without regard to results. Its certainty is the minimum
// of three: that the order of tools, the opened items and the committed item do not depend on
// results. The minimum is used since a single dependence makes the agent adaptive.
var fixedHabit = Habit{
	Check: "fixed_habit_v4", Reason: "fixed_habit",
	Doc: "During the agent's day, no call depends on results: the order of tools is always the same, the first items of a list are always opened, and the first is the answer.",
	estimate: func(a *Agent) Estimate {
		views := rankOrderViews.Total(a).neverBroken()
		committed := firstCommitted.Total(a).ramp(0.51, 1)
		return minEstimate(fixedCourse(a), minEstimate(views, committed))
	},
}

// fixedPlan is the habit of planning the calls without regard to results, in one of two ways.
// Either all searches have one form, and the order of tools or the choice of items to open is
// fixed. Or all searches consist of words of the customer's request in the request's order, and
// both are fixed.
var fixedPlan = Habit{
	Check: "fixed_plan_v5", Reason: "fixed_plan",
	Doc: "During the agent's day, all searches are built in the same way, or consist of words of the request in its order, whatever the results are. In addition, the order of tools is always the same, or only the first items of a list are opened.",
	estimate: func(a *Agent) Estimate {
		searches := searchForms.Total(a).neverBroken()
		views := rankOrderViews.Total(a).neverBroken()
		course := fixedCourse(a)
		inOneWay := minEstimate(searches, maxEstimate(course, views))

		// Real agents take words in the order of the request in up to all of their searches, or
		// always open the first item of a list. They do not do both with a fixed order of
		// tools.
		inOrder := orderedSearches.Total(a).neverBroken()
		return maxEstimate(inOneWay, minEstimate(inOrder, minEstimate(views, course)))
	},
}

// rankOrderViews counts the calls that open items after a search, and among them those that open
// the first items of its results, as a program that ignores results does.
var rankOrderViews = &Count{
	Name: "openings in rank order",
	ratio: func(a *evidence.Attempt) Ratio {
		var r Ratio
		for i := range a.Claims {
			c := &a.Claims[i]
			if !isOpening(c) {
				continue
			}
			if first, hasList := areFirst(a, i, c.Act.IDs); hasList && len(c.Act.IDs) > 0 {
				r.add(first)
			}
		}
		return r
	},
}

// firstCommitted counts the committed items (items of the answer) that an earlier search shows, and
// among them those that are the first result of a search or are committed together with all results
// above them. An agent that compares items commits another item in at least a quarter of the cases.
var firstCommitted = &Count{
	Name: "the first item in the answer",
	ratio: func(a *evidence.Attempt) Ratio {
		var r Ratio
		for i := range a.Claims {
			c := &a.Claims[i]
			if c.Act.Tool != evidence.ToolCommit {
				continue
			}
			areTop, _ := areFirst(a, i, c.Act.IDs)
			for _, id := range c.Act.IDs {
				if shown, first := isListedFirst(a, i, id); shown {
					r.add(first || areTop)
				}
			}
		}
		return r
	},
}

// isOpening reports whether a claim (a call of the dialogue) opens items or matches them
// against the request.
func isOpening(c *evidence.Claim) bool {
	return c.Act.Tool == evidence.ToolView || c.Act.Tool == evidence.ToolMatch
}

// isListedFirst returns shown, whether any search before a.Claims[claim] shows the item with this
// id, and first, whether any shows it as the first result.
func isListedFirst(
	a *evidence.Attempt,
	claim int,
	id string,
) (shown, first bool) {
	for i := range a.Claims[:claim] {
		list := &a.Claims[i]
		if list.Act.Tool != evidence.ToolFind {
			continue
		}
		switch rank := slices.Index(list.Shown, id); {
		case rank == 0:
			return true, true
		case rank > 0:
			shown = true
		}
	}
	return shown, false
}

// areFirst returns first, whether ids are the first len(ids) results, in any order, of one search
// before the call a.Claims[claim], as a program that ignores results would take them. hasList is
// whether any search before that call has results. The order of ids does not matter, since a
// program can shuffle them easily.
func areFirst(
	a *evidence.Attempt,
	claim int,
	ids []string,
) (first, hasList bool) {
	for i := range a.Claims[:claim] {
		list := &a.Claims[i]
		if list.Act.Tool != evidence.ToolFind || len(list.Shown) == 0 {
			continue
		}
		hasList = true
		if len(ids) <= len(list.Shown) && evidence.SameIDs(list.Shown[:len(ids)], ids) {
			return true, true
		}
	}
	return false, hasList
}

// fixedCourse returns the certainty that the order of the agent's tools does not depend on
// results: all attempts have the same sequence of tools, or the same sequence of requests to the
// tool server and the same number of opened items. Models stay below 0.75, programs reach 1.
func fixedCourse(a *Agent) Estimate {
	tools := toolSequences.Total(a).ramp(0.3, 1)
	requests := requestSequences.Total(a).ramp(0.3, 1)
	breadths := viewBreadths.Total(a).neverBroken()
	return maxEstimate(tools, minEstimate(requests, breadths))
}

// plainShare is the share of an agent's attempts with the same sequence of tools from which on a
// program may have fixed the sequence (see hasPlainTools). Real agents with several tools to choose
// from reach 0.8.
const plainShare = 0.95

// hasPlainTools reports whether at least plainShare (95 %) of the agent's attempts use the sequence
// of tools that is most frequent among the attempts of their size (see hashSize).
func hasPlainTools(a *Agent) bool {
	r := toolSequences.Total(a)
	return r.Whole > 0 && r.Share() >= plainShare
}

// toolSequences counts an agent's attempts, and among them those with the sequence of tools that is
// most frequent among attempts of the same size (see hashSize). An attempt without another of its
// size is left out. If nearly all have it, a program may have fixed the order.
var toolSequences = &Count{
	Name: "the commonest tools for the size",
	marks: func(a *evidence.Attempt) []Mark {
		anyTool := func(evidence.Tool) bool { return true }
		return []Mark{{
			Group: hashSize(a),
			Value: hashSequence(a, anyTool),
		}}
	},
}

// requestSequences counts attempts, and among them those with the sequence of tools that is most
// frequent among attempts of equal size (see hashSize) and equal first tool. The first tool is
// chosen before there is a result, so it is no sign. The tool that computes a total is left out, since a
// request with a discount needs it, whoever makes the calls.
var requestSequences = &Count{
	Name: "the commonest requests for the size",
	marks: func(a *evidence.Attempt) []Mark {
		isRequest := func(t evidence.Tool) bool { return t != evidence.ToolTotal }
		first := evidence.ToolOther
		for i := range a.Claims {
			first = a.Claims[i].Act.Tool
			if isRequest(first) {
				break
			}
		}
		return []Mark{{
			Group: evidence.Mix(hashSize(a), uint64(first)),
			Value: hashSequence(a, isRequest),
		}}
	},
}

// viewBreadths counts attempts that open items of a list, and among them those in which each call
// opens the same number of items, the most frequent such number of the agent. A fixed number shows
// that results do not matter. Calls that open all items of a list are left out, since they leave no
// choice.
var viewBreadths = &Count{
	Name: "attempts that open as many each time",
	marks: func(a *evidence.Attempt) []Mark {
		breadth := 0
		hasOpened := false
		for i := range a.Claims {
			opened := len(a.Claims[i].Act.IDs)
			list := listOfOpening(a, i)
			switch {
			case list == nil || opened >= len(list.Shown):
			case !hasOpened:
				breadth = opened
				hasOpened = true
			case breadth != opened:
				breadth = 0
			}
		}
		if !hasOpened {
			return nil
		}
		return []Mark{{Value: uint64(breadth)}}
	},
}

// listOfOpening returns the search result from which the call a.Claims[claim] opens its items: the
// latest earlier search that shows all of them. It returns nil if there is none, or if the call
// opens nothing.
func listOfOpening(a *evidence.Attempt, claim int) *evidence.Claim {
	c := &a.Claims[claim]
	if !isOpening(c) {
		return nil
	}
	for i := claim - 1; i >= 0; i-- {
		list := &a.Claims[i]
		if list.Act.Tool == evidence.ToolFind && evidence.IsSubset(c.Act.IDs, list.Shown) {
			return list
		}
	}
	return nil
}

// hashSize returns a hash of two properties of an attempt: its number of committed items,
// and whether its first search found nothing. Only attempts with equal hashes are compared with
// each other, since even a fixed program stops when it finds nothing.
func hashSize(a *evidence.Attempt) uint64 {
	items := 0
	foundNothing := uint64(0)
	hasSearched := false
	for i := range a.Claims {
		c := &a.Claims[i]
		isSearch := c.Act.Tool == evidence.ToolFind || c.Act.Tool == evidence.ToolFindWithin
		if isSearch && !hasSearched {
			hasSearched = true
			if len(c.Shown) == 0 {
				foundNothing = 1
			}
		}
		if c.Act.Tool == evidence.ToolCommit {
			items = len(c.Act.IDs)
		}
	}
	return evidence.Mix(uint64(items), foundNothing)
}

// hashSequence returns a hash of the tools of all calls in their order, without the tools for which
// counts returns false.
func hashSequence(a *evidence.Attempt, counts func(evidence.Tool) bool) uint64 {
	h := uint64(0)
	for i := range a.Claims {
		if t := a.Claims[i].Act.Tool; counts(t) {
			h = evidence.Mix(h, uint64(t)+1)
		}
	}
	return evidence.Mix(h, 1)
}

// maxForms is the maximum number of searches of one attempt whose form (the order of their parts,
// see searchForm) is stored. Attempts have about five searches.
const maxForms = 16

// searchForms counts the searches with two or more parts (runs of words of the request, see
// searchForm), and among them those whose kinds of parts are in the order most frequent for these
// kinds. Models use another order in 0.08 to 0.25 of the searches on every measured day, so that
// twelve searches without an exception are evidence.
var searchForms = &Count{
	Name: "searches put together in one way",
	marks: func(a *evidence.Attempt) []Mark {
		marks := make([]Mark, 0, min(len(a.Claims), maxForms))
		for i := range a.Claims {
			c := &a.Claims[i]
			if c.Act.Tool != evidence.ToolFind || len(marks) == maxForms {
				continue
			}
			if mark, parts := searchForm(a.Request(), c.Act.Words); parts > 1 {
				marks = append(marks, mark)
			}
		}
		return marks
	},
}

// orderedSearches counts the searches of two or more words, and among them those that consist of
// words of the customer's request in the request's order, as a program would copy them.
var orderedSearches = &Count{
	Name: "searches with words of the request in its order",
	ratio: func(a *evidence.Attempt) Ratio {
		var r Ratio
		for i := range a.Claims {
			c := &a.Claims[i]
			if c.Act.Tool == evidence.ToolFind && len(c.Act.Words) > 1 {
				r.add(evidence.IsSubsequence(c.Act.Words, a.Request()))
			}
		}
		return r
	},
}

// searchForm describes in which order a search uses the words of the customer's request. m.Group is
// a hash of the kinds of the search's parts, m.Value a hash of the order of these kinds. parts is
// the number of parts.
//
// A part is a run of words that are also consecutive in the request. Its kind is the last word
// before the part in the request that the search omits, with the distance to that word. For
// example, "brand" is before a brand, and "a" before the item or, with the brand between, two words
// before it. All words that are not in the request, and its first word, have one kind.
func searchForm(request, words []uint64) (m Mark, parts int) {
	order := uint64(evidence.HashSeed)
	kinds := uint64(0)
	next := -1
	for _, w := range words {
		pos := slices.Index(request, w)
		if pos > 0 && pos == next {
			next++
			continue
		}
		kind := uint64(1)
		if pos > 0 {
			omitted := pos - 1
			for omitted > 0 && slices.Contains(words, request[omitted]) {
				omitted--
			}
			kind = evidence.Mix(request[omitted], uint64(pos-omitted))
		}
		order = evidence.Mix(order, kind)
		kinds += evidence.Mix(evidence.HashSeed, kind)
		next = pos + 1
		parts++
	}
	return Mark{Group: kinds & math.MaxUint32, Value: order & math.MaxUint32}, parts
}

package evidence

import "slices"

// relation is a function that reports whether the logged request req carries out named, a call
// in a reply or in the dialogue. Each relation allows the client another kind of change.
type relation func(named, req *Act) bool

// linkRelations are the tests of whether a logged request carries out a call in a reply: it is
// equal, or the client changed it in a certain way, such as by removing words. The surest test
// comes first. Each has the link (how the model asked for the request) that it shows.
var linkRelations = [...]struct {
	related relation
	link    Link
	// shortens reports whether the client removed words of a search.
	shortens bool
}{
	{related: (*Act).SameRequest, link: LinkNamed},
	{related: Covers, link: LinkNamed},
	{related: isRefiltered, link: LinkLoose},
	{related: isShortened, link: LinkLoose, shortens: true},
	{related: isRenamed, link: LinkLoose},
}

// isSameTool reports whether both calls have the same kind of tool, such as one that searches.
func isSameTool(named, req *Act) bool { return named.Tool == req.Tool }

// Covers reports whether req opens some or all of the items that the call named opens.
// Clients open items one by one.
func Covers(named, req *Act) bool {
	return named.Tool == ToolView && req.Tool == ToolView &&
		len(req.IDs) > 0 && IsSubset(req.IDs, named.IDs)
}

// isRenamed reports whether named calls a tool that the harness does not have, but with the
// arguments of the logged request req: the same query words or other arguments, at least the same
// items, or as many queries. The agent's author then renamed the tools, and only the author's
// client knows which name means which tool.
func isRenamed(named, req *Act) bool {
	if named.Tool != ToolOther {
		return false
	}
	switch req.Tool {
	case ToolFind:
		return len(named.Words) > 0 && slices.Equal(named.Words, req.Words)
	case ToolFindWithin:
		return len(named.specs) > 0 && len(named.specs) == len(req.specs)
	case ToolTotal:
		return named.OtherArgs == req.OtherArgs
	case ToolView, ToolMatch:
		return len(req.IDs) > 0 && IsSubset(req.IDs, named.IDs)
	case ToolOther, ToolAsk, ToolCommit, ToolTerminate:
	}
	return false
}

// isRefiltered reports whether req has the tool, words, items and page of the call named, but
// filters that the client added or changed. The two must not search different scopes.
func isRefiltered(named, req *Act) bool {
	return named.sameSubject(req) && named.Page == req.Page && isScopeCompatible(named, req)
}

// isScopeCompatible reports whether two searches cover the same items: both those of one owner, or
// at least one of them all items.
func isScopeCompatible(a, b *Act) bool {
	return a.Scope == b.Scope || a.Scope == 0 || b.Scope == 0
}

// MinExcerpt is the minimum number of consecutive words of the customer's request that count as
// a quote. Names of brands and items have up to four words.
const MinExcerpt = 5

// isShortened reports whether req is the search named with fewer words. Clients shorten long
// queries, or remove words that the tool server does not index. At least half of the words must remain,
// in their order, or at least the first MinExcerpt words; otherwise the client chose the query.
func isShortened(named, req *Act) bool {
	areSearches := named.Tool == ToolFind && req.Tool == ToolFind
	isShorter := len(req.Words) < len(named.Words)
	if !areSearches || named.Page != req.Page || !isScopeCompatible(named, req) || !isShorter {
		return false
	}
	if 2*len(req.Words) >= len(named.Words) && IsSubsequence(req.Words, named.Words) {
		return true
	}
	return len(req.Words) >= MinExcerpt && isPrefix(req.Words, named.Words)
}

// isFollowUp reports whether req is one of several requests that carry out the call named. These
// are one search for each item of a scope, the details of an item to match, or a repeated
// search in one scope with fewer words or filters.
func isFollowUp(named, req *Act) bool {
	switch {
	case named.Tool == ToolMatch && req.Tool == ToolView:
		return len(req.IDs) > 0 && IsSubset(req.IDs, named.IDs)
	case named.Tool == ToolFindWithin && req.Tool == ToolFind:
		for _, spec := range named.specs {
			if isPrefix(req.Words, spec) {
				return true
			}
		}
	case named.Tool == ToolFind && req.Tool == ToolFind:
		return named.Scope != 0 && named.Scope == req.Scope && named.Page == req.Page &&
			len(req.Words) > 0 && isPrefix(req.Words, named.Words)
	}
	return false
}

// isPrefix reports whether words starts with prefix; both are lists of word hashes. An empty prefix
// matches only empty words.
func isPrefix(prefix, words []uint64) bool {
	if len(prefix) == 0 {
		return len(words) == 0
	}
	return len(prefix) <= len(words) &&
		slices.Equal(prefix, words[:len(prefix)])
}

// IsSubsequence reports whether words contains all words of part in the same order. Other words
// may be between them.
func IsSubsequence(part, words []uint64) bool {
	for _, w := range words {
		if len(part) > 0 && part[0] == w {
			part = part[1:]
		}
	}
	return len(part) == 0
}

package evidence

import "slices"

// relation reports whether the request req, which was sent, carries out a named call, in one way. In the
// comparison of claims the call of the dialogue takes the place of the named one.
type relation func(named, req *Act) bool

// linkRelations are the relations by which a dispatch is linked to a named call, the
// surest first.
var linkRelations = [...]struct {
	related relation
	link    Link
	// shortens reports whether the client left out words of a search.
	shortens bool
}{
	{related: (*Act).SameRequest, link: LinkNamed},
	{related: Covers, link: LinkNamed},
	{related: isRefiltered, link: LinkLoose},
	{related: isShortened, link: LinkLoose, shortens: true},
	{related: isRenamed, link: LinkLoose},
}

// isSameTool reports whether both calls are of the same tool.
func isSameTool(named, req *Act) bool { return named.Tool == req.Tool }

// Covers reports whether req asks for some of the named products: the client opens them
// one by one.
func Covers(named, req *Act) bool {
	return named.Tool == ToolView && req.Tool == ToolView &&
		len(req.IDs) > 0 && IsSubset(req.IDs, named.IDs)
}

// isRenamed reports whether a call of a tool that the shop does not have asks for exactly
// what req does: the author renamed the tools, and only his client knows the names.
func isRenamed(named, req *Act) bool {
	if named.Tool != ToolOther {
		return false
	}
	switch req.Tool {
	case ToolFind:
		return len(named.Words) > 0 && slices.Equal(named.Words, req.Words)
	case ToolShop:
		return len(named.specs) > 0 && len(named.specs) == len(req.specs)
	case ToolVoucher:
		return named.OtherArgs == req.OtherArgs
	case ToolView, ToolMatch:
		return len(req.IDs) > 0 && IsSubset(req.IDs, named.IDs)
	case ToolOther, ToolAsk, ToolRecommend, ToolTerminate:
	}
	return false
}

// isRefiltered reports whether req has the named subject and page, but another filter,
// which the client added.
func isRefiltered(named, req *Act) bool {
	return named.sameSubject(req) && named.Page == req.Page && isShopCompatible(named, req)
}

// isShopCompatible reports whether two searches are in the same shop, or one of them in any.
func isShopCompatible(a, b *Act) bool {
	return a.Shop == b.Shop || a.Shop == 0 || b.Shop == 0
}

// MinExcerpt is the minimum number of consecutive words of the request that are a quote of
// it; brands and names of products have up to four.
const MinExcerpt = 5

// isShortened reports whether req is the named search without some of its words: the
// client shortens long queries, or removes words that the shop does not index. At least
// half of the words must remain, in their order, or a prefix that is longer than a name;
// otherwise the client chose the subject.
func isShortened(named, req *Act) bool {
	areSearches := named.Tool == ToolFind && req.Tool == ToolFind
	isShorter := len(req.Words) < len(named.Words)
	if !areSearches || named.Page != req.Page || !isShopCompatible(named, req) || !isShorter {
		return false
	}
	if 2*len(req.Words) >= len(named.Words) && IsSubsequence(req.Words, named.Words) {
		return true
	}
	return len(req.Words) >= MinExcerpt && isPrefix(req.Words, named.Words)
}

// isFollowUp reports whether req is one of the requests that the named tool makes: a
// search in one shop for each product, the details of a product to match, or the search
// again with fewer words or filters.
func isFollowUp(named, req *Act) bool {
	switch {
	case named.Tool == ToolMatch && req.Tool == ToolView:
		return len(req.IDs) > 0 && IsSubset(req.IDs, named.IDs)
	case named.Tool == ToolShop && req.Tool == ToolFind:
		for _, spec := range named.specs {
			if isPrefix(req.Words, spec) {
				return true
			}
		}
	case named.Tool == ToolFind && req.Tool == ToolFind:
		return named.Shop != 0 && named.Shop == req.Shop && named.Page == req.Page &&
			len(req.Words) > 0 && isPrefix(req.Words, named.Words)
	}
	return false
}

// isPrefix reports whether words starts with prefix. An empty prefix matches only empty
// words.
func isPrefix(prefix, words []uint64) bool {
	if len(prefix) == 0 {
		return len(words) == 0
	}
	return len(prefix) <= len(words) &&
		slices.Equal(prefix, words[:len(prefix)])
}

// IsSubsequence reports whether words contains part in the same order, with gaps or not.
func IsSubsequence(part, words []uint64) bool {
	for _, w := range words {
		if len(part) > 0 && part[0] == w {
			part = part[1:]
		}
	}
	return len(part) == 0
}

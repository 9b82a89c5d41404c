package evidence

import "slices"

// relation reports whether a sent request carries out a named call, in one way. In the
// comparison of claims the call of the dialogue takes the place of the named one.
type relation func(named, sent *Act) bool

// linkRelations are the relations by which a dispatch is linked to a named call, the
// surest first.
var linkRelations = [...]struct {
	related relation
	link    Link
}{
	{(*Act).SameRequest, LinkNamed},
	{Covers, LinkNamed},
	{isRefiltered, LinkLoose},
	{isShortened, LinkLoose},
	{isRenamed, LinkLoose},
}

// isSameTool reports whether both calls are of the same tool.
func isSameTool(named, sent *Act) bool { return named.Tool == sent.Tool }

// Covers reports whether sent requests some of the named products: the client opens them
// one by one.
func Covers(named, sent *Act) bool {
	return named.Tool == ToolView && sent.Tool == ToolView && len(sent.IDs) > 0 && IsSubset(sent.IDs, named.IDs)
}

// isRenamed reports whether a call of a tool that the shop does not have asks for exactly
// what was sent: the author renamed the tools, and only his client knows the names.
func isRenamed(named, sent *Act) bool {
	if named.Tool != ToolOther {
		return false
	}
	switch sent.Tool {
	case ToolFind:
		return len(named.Words) > 0 && slices.Equal(named.Words, sent.Words)
	case ToolShop:
		return len(named.specs) > 0 && len(named.specs) == len(sent.specs)
	case ToolVoucher:
		return named.OtherArgs == sent.OtherArgs
	case ToolView, ToolMatch:
		return len(sent.IDs) > 0 && IsSubset(sent.IDs, named.IDs)
	case ToolOther, ToolAsk, ToolRecommend, ToolTerminate:
	}
	return false
}

// isRefiltered reports whether sent has the named subject and page, but another filter,
// which the client added.
func isRefiltered(named, sent *Act) bool {
	return named.sameSubject(sent) && named.Page == sent.Page && isShopCompatible(named, sent)
}

// isShopCompatible reports whether two searches are in the same shop, or one of them in any.
func isShopCompatible(a, b *Act) bool { return a.Shop == b.Shop || a.Shop == 0 || b.Shop == 0 }

// MinExcerpt is the minimum number of consecutive words of the request that are a quote of
// it; brands and names of products have up to four.
const MinExcerpt = 5

// isShortened reports whether sent is the named search without some of its words: the
// client shortens long queries, or removes words that the shop does not index. At least
// half of the words must remain, in their order, or a prefix that is longer than a name;
// otherwise the client chose the subject.
func isShortened(named, sent *Act) bool {
	areSearches := named.Tool == ToolFind && sent.Tool == ToolFind
	if !areSearches || named.Page != sent.Page || !isShopCompatible(named, sent) || len(sent.Words) >= len(named.Words) {
		return false
	}
	if 2*len(sent.Words) >= len(named.Words) && isSubsequence(sent.Words, named.Words) {
		return true
	}
	return len(sent.Words) >= MinExcerpt && isPrefix(sent.Words, named.Words)
}

// isFollowUp reports whether sent is one of the requests that the named tool makes: a
// search in one shop for each product, the details of a product to match, or the search
// again with fewer words or filters.
func isFollowUp(named, sent *Act) bool {
	switch {
	case named.Tool == ToolMatch && sent.Tool == ToolView:
		return len(sent.IDs) > 0 && IsSubset(sent.IDs, named.IDs)
	case named.Tool == ToolShop && sent.Tool == ToolFind:
		for _, spec := range named.specs {
			if isPrefix(sent.Words, spec) {
				return true
			}
		}
	case named.Tool == ToolFind && sent.Tool == ToolFind:
		return named.Shop != 0 && named.Shop == sent.Shop && named.Page == sent.Page &&
			len(sent.Words) > 0 && isPrefix(sent.Words, named.Words)
	}
	return false
}

// isPrefix reports whether words starts with prefix. An empty prefix matches only empty
// words.
func isPrefix(prefix, words []uint64) bool {
	if len(prefix) == 0 {
		return len(words) == 0
	}
	return len(prefix) <= len(words) && slices.Equal(prefix, words[:len(prefix)])
}

// isSubsequence reports whether words contains part in the same order, with gaps or not.
func isSubsequence(part, words []uint64) bool {
	for _, w := range words {
		if len(part) > 0 && part[0] == w {
			part = part[1:]
		}
	}
	return len(part) == 0
}

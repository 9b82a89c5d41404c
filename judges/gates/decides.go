package gates

import "slices"

// lack is what the fourth gate missed, from nothing found to all but one.
type lack uint8

const (
	lacksRivals lack = iota
	lacksReason
	lacksUse
	lacksTruth
)

// String says it in a judgement's detail.
func (l lack) String() string {
	return [...]string{
		"no step names two returned candidates",
		"two candidates are named in one step, but none is preferred to a rival for a stated reason",
		"two candidates are weighed, but neither is what was recommended",
		"the candidate recommended is preferred as the cheaper one, and costs more",
	}[l]
}

// revision is a choice between two candidates of which the other one was
// recommended: it counts if a later thought takes that one up again.
type revision struct {
	finding
	product, than int32
}

// decides reports whether the preference of sentence i, for the reason of
// sentence k, led to what was recommended: one of both is, and where nothing but
// a lower price speaks for it, it costs no more than the other. Every language
// says in ways of its own which of both it prefers; one sign is common to all:
// who names both and then one again concludes for that one. Where nothing was
// recommended there is nothing to lead to.
func (r *reading) decides(a, b *candidate, i, k int) bool {
	cheap := r.onlyCheaper(k)
	again := r.namedAgain(k, a, b)
	return again != b && r.leads(a, b, i, cheap) || again != a && r.leads(b, a, i, cheap)
}

// namedAgain is the candidate that the sentence of a lower price ends on after
// naming both; nil where there is none.
func (r *reading) namedAgain(i int, a, b *candidate) (last *candidate) {
	if !r.onlyCheaper(i) {
		return nil
	}
	named := map[*candidate]int{}
	for _, c := range r.citesOf(i) {
		for _, x := range [...]*candidate{a, b} {
			if c.kind == citeID && c.product >= 0 && slices.Contains(x.products, c.product) || c.kind == citeBrand && x.brand != "" && r.folded[c.start:c.end] == x.brand {
				named[x]++
				last = x
			}
		}
	}
	if len(named) < 2 || named[last] < 2 {
		return nil
	}
	return last
}

// leads is decides for a recommended from a.
func (r *reading) leads(a, b *candidate, i int, cheap bool) bool {
	for _, p := range a.products {
		for _, q := range b.products {
			kept, other := &r.shelf.products[p], &r.shelf.products[q]
			switch {
			case p == q || !r.rival(kept, other):
			case len(r.chosen) > 0 && !slices.Contains(r.chosen, kept.id):
				r.lacks = max(r.lacks, lacksUse)
			case cheap && other.cents > 0 && kept.cents > other.cents:
				r.lacks = max(r.lacks, lacksTruth)
				s := r.sentences[i].span
				r.revised = append(r.revised, revision{*r.found(s, s, "weighs two returned candidates, and a later step says why it took the other"), p, q})
			default:
				return true
			}
		}
	}
	return false
}

// onlyCheaper reports whether a sentence has no ground beside a lower price.
func (r *reading) onlyCheaper(i int) bool {
	const other = rejectWord | contrastWord | requireWord
	s := &r.sentences[i]
	ground := func(m mark) bool { return m.class&compareWord != 0 && m.class&cheapWord == 0 }
	values, _ := r.groundsIn(i)
	return s.classes&cheapWord != 0 && s.classes&other == 0 && !values && !slices.ContainsFunc(r.marks[s.marks.start:s.marks.end], ground)
}

// revise looks for the thought that went back on an earlier choice: it names the
// one recommended, not the one preferred before, and concludes for it.
func (w *weigher) revise(r *reading) {
	for i := range w.revised {
		v := &w.revised[i]
		if at, taken := r.names(v.product); taken && r.concludesAfter(at) {
			if _, again := r.names(v.than); !again {
				w.choice = &v.finding
				return
			}
		}
	}
}

// names finds a sentence that cites a product by its id or brand.
func (r *reading) names(product int32) (sentence int, found bool) {
	p := &r.shelf.products[product]
	at := slices.IndexFunc(r.cites, func(c cite) bool {
		return c.kind == citeID && c.product == product || c.kind == citeBrand && p.isBrand(r.folded[c.start:c.end])
	})
	if at < 0 {
		return 0, false
	}
	return r.cites[at].sentence, true
}

// concludesAfter reports whether sentence i, which says something of a product
// beside its id, or the one after it makes the choice.
func (r *reading) concludesAfter(i int) bool {
	said := slices.ContainsFunc(r.citesOf(i), func(c cite) bool { return c.kind != citeID && c.kind != citeUnknown && !c.asked })
	end := min(i+2, len(r.sentences))
	return said && slices.ContainsFunc(r.sentences[i:end], func(s sentence) bool { return s.classes&chooseWord != 0 })
}

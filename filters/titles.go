package filters

import "slices"

// hear takes in the customer's request, by which titles are measured.
func (p *pad) hear(query string) {
	from := len(p.words)
	p.words = appendWords(p.words, query)
	p.request.hold(p.words[from:len(p.words):len(p.words)])
}

// answers reports whether a title of the list holds at least half of the words that
// were searched for.
func (p *pad) answers(c *claim) bool {
	for _, title := range c.titles {
		p.scratch = appendWords(p.scratch[:0], title)
		if named := count(p.scratch, func(w uint64) bool { return slices.Contains(c.act.words, w) }); 2*named >= len(c.act.words) {
			return true
		}
	}
	return false
}

// fit is how many words of the request the title at that rank of the list holds.
// Each title is measured once, and only where somebody asks.
func (p *pad) fit(c *claim, rank int) int {
	if c.fits == nil {
		from := len(p.fits)
		p.fits = append(p.fits, make([]uint16, len(c.titles))...)
		c.fits = p.fits[from:len(p.fits):len(p.fits)]
	}
	if c.fits[rank] == 0 {
		p.scratch = appendWords(p.scratch[:0], c.titles[rank])
		c.fits[rank] = uint16(min(count(p.scratch, p.request.has), maxFit)) + 1 // 0 is not yet measured
	}
	return int(c.fits[rank]) - 1
}

// maxFit is far beyond the words of any title.
const maxFit = 255

func count(words []uint64, is func(uint64) bool) (n int) {
	for _, w := range words {
		n += int(flag(is(w)))
	}
	return n
}

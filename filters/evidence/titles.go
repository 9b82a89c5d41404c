package evidence

// hear takes in the customer's request, by which titles are measured.
func (p *Pad) hear(query string) {
	from := len(p.words)
	p.words = AppendWords(p.words, query)
	p.Request.hold(p.words[from:len(p.words):len(p.words)])
}

// Fit is how many words of the request the title at that rank of the list holds.
// Each title is measured once, and only where somebody asks.
func (p *Pad) Fit(c *Claim, rank int) int {
	if c.fits == nil {
		from := len(p.fits)
		p.fits = append(p.fits, make([]uint16, len(c.Titles))...)
		c.fits = p.fits[from:len(p.fits):len(p.fits)]
	}
	if c.fits[rank] == 0 {
		p.scratch = AppendWords(p.scratch[:0], c.Titles[rank])
		c.fits[rank] = uint16(min(count(p.scratch, p.Request.Has), maxFit)) + 1 // 0 is not yet measured
	}
	return int(c.fits[rank]) - 1
}

// maxFit is far beyond the words of any title.
const maxFit = 255

func count(words []uint64, is func(uint64) bool) (n int) {
	for _, w := range words {
		n += int(Flag(is(w)))
	}
	return n
}

package filters

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// titleKey is looked for without its first quote: letters are rarer in results.
const titleKey = `title"`

// hear takes in the customer's request, by which titles are measured.
func (p *pad) hear(query string) {
	from := len(p.words)
	p.words = appendWords(p.words, query)
	p.request.hold(p.words[from:len(p.words):len(p.words)])
}

// fit measures the titles that a search shows, in the order of its products,
// by the words of the request and by those of the search itself.
func (p *pad) fit(c *claim) {
	if len(p.request.words) == 0 {
		return
	}
	from := len(p.fits)
	s := string(c.call.Result)
	if c.call.Result.Kind() == arena.String && strings.Contains(s, `\"title\"`) {
		s = gjson.Parse(s).Str
	}
	for len(p.fits)-from < len(c.shown) {
		_, rest, found := strings.Cut(s, titleKey)
		if !found {
			break
		}
		var title string
		title, s = scalar(valueAfter(rest))
		first := len(p.titles)
		p.titles = appendWords(p.titles, title)
		words := p.titles[first:]
		wanted := 0
		for _, w := range words {
			wanted += int(flag(p.request.has(w)))
		}
		p.fits = append(p.fits, uint8(min(wanted, 255)))
		c.answered = c.answered || names(words, c.act.words)
	}
	c.titles = len(p.titles)
	if len(p.fits)-from == len(c.shown) {
		c.fits = p.fits[from:len(p.fits):len(p.fits)]
	}
}

// names says that a title holds at least half of the words searched for.
func names(title, asked []uint64) bool {
	named := 0
	for _, w := range title {
		named += int(flag(slices.Contains(asked, w)))
	}
	return 2*named >= len(asked)
}

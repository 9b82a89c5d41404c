package filters

import (
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
	p.request = newWordSet(p.words[from:len(p.words):len(p.words)])
}

// fit measures the titles that a search shows, in the order of its products,
// by the words of the request and by those of the search itself.
func (p *pad) fit(c *claim) {
	if len(p.request.words) == 0 {
		return
	}
	from, asked := len(p.fits), newWordSet(c.act.words)
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
		title, s = scalar(strings.TrimLeft(rest, " \t\r\n:"))
		first := len(p.titles)
		p.titles = appendWords(p.titles, title)
		wanted, named := 0, 0
		for _, w := range p.titles[first:] {
			wanted += int(flag(p.request.has(w)))
			named += int(flag(asked.has(w)))
		}
		p.fits = append(p.fits, uint8(min(wanted, 255)))
		c.answered = c.answered || 2*named >= len(asked.words)
	}
	c.titles = len(p.titles)
	if len(p.fits)-from == len(c.shown) {
		c.fits = p.fits[from:len(p.fits):len(p.fits)]
	}
}

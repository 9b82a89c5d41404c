package redact

import (
	"hash/maphash"
	"sync/atomic"
)

// clean remembers texts that hold no finding: the attempts of a day share most
// of theirs, such as a system prompt and what one search answers, and a text is
// read when its tokens are counted and again in each file that it stands in. The
// seeds are drawn by each process, so that nobody can write a text that is taken
// for another.
type clean struct {
	place, name maphash.Seed
	names       [1 << 17]atomic.Uint64
}

// shortestKnown is the least length of what is remembered, below that of an attempt's
// id, which is in five tables: a shorter text is read as fast.
const shortestKnown = 64

func newClean() *clean { return &clean{place: maphash.MakeSeed(), name: maphash.MakeSeed()} }

// has reports whether a text was added, unless a later one took its place.
func (c *clean) has(text string) bool {
	if len(text) < shortestKnown {
		return false
	}
	at, name := c.entry(text)
	return at.Load() == name
}

func (c *clean) add(text string) {
	if len(text) >= shortestKnown {
		at, name := c.entry(text)
		at.Store(name)
	}
}

func (c *clean) entry(text string) (*atomic.Uint64, uint64) {
	return &c.names[maphash.String(c.place, text)%uint64(len(c.names))], maphash.String(c.name, text) | 1
}

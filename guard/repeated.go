package guard

import (
	"strings"
	"sync"
	"sync/atomic"
)

// repeated remembers what was found in long texts: a system prompt and the
// definitions of tools are those of every row. It is safe for concurrent use.
type repeated struct {
	found sync.Map // text to Finding
	n     atomic.Int64
}

// leastRepeated is the least length in bytes of a text that is remembered (a tool's
// definition is a few hundred bytes), and mostRepeated how many are: some MiB.
const (
	leastRepeated = 64
	mostRepeated  = 1024
)

func (r *repeated) check(text string, check func(string) Finding) Finding {
	if f, known := r.found.Load(text); known {
		return f.(Finding)
	}
	f := check(text)
	if len(text) >= leastRepeated && r.n.Add(1) <= mostRepeated {
		r.found.Store(strings.Clone(text), f) // a row's texts live as long as its batch
	}
	return f
}

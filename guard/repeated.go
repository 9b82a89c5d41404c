package guard

import (
	"strings"
	"sync"
)

// repeated remembers what was found in long texts: a system prompt and the
// definitions of tools are those of every row. It is safe for concurrent use.
type repeated struct {
	mu    sync.Mutex
	found map[string]Finding
}

// leastRepeated is the least length in bytes of a text that is remembered, and
// mostRepeated how many are: some MiB.
const (
	leastRepeated = 512
	mostRepeated  = 1024
)

func (r *repeated) check(text string, check func(string) Finding) Finding {
	if len(text) < leastRepeated {
		return check(text)
	}
	r.mu.Lock()
	f, known := r.found[text]
	r.mu.Unlock()
	if known {
		return f
	}
	f = check(text)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.found == nil {
		r.found = map[string]Finding{}
	}
	if len(r.found) < mostRepeated {
		r.found[strings.Clone(text)] = f // a row's texts live as long as its batch
	}
	return f
}

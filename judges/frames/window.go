package frames

import "sync"

// maxRecent is the maximum number of passages that a Window compares with.
const maxRecent = 256

// Window holds the deciding passages of an environment's recent episodes. An episode alone cannot
// show that its passage is a frame, and an environment sees no day.
type Window struct {
	mu     sync.Mutex
	recent []windowed
}

type windowed struct {
	problem string
	runs    map[string]bool
}

// IsFrame reports whether a passage is similar to at least minShared recent passages at other
// problems, and to the share maxShared of them, and adds the passage to the window.
func (w *Window) IsFrame(problem, text string) bool {
	if text == "" {
		return false
	}
	runs := passageRuns(text)
	w.mu.Lock()
	defer w.mu.Unlock()
	others := 0
	alike := 0
	for _, p := range w.recent {
		if p.problem == problem {
			continue
		}
		others++
		if p.shares(runs) {
			alike++
		}
	}
	w.recent = append(w.recent, windowed{problem, runs})
	w.recent = w.recent[max(0, len(w.recent)-maxRecent):]
	return alike >= minShared && float64(alike) >= maxShared*float64(others)
}

func (p *windowed) shares(runs map[string]bool) bool {
	for r := range runs {
		if p.runs[r] {
			return true
		}
	}
	return false
}

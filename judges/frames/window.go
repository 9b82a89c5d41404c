package frames

import (
	"slices"
	"sync"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

const (
	// maxRecent is the maximum number of passages that a Window keeps, the most recent ones of an
	// environment's episodes. A new passage is compared with these.
	maxRecent = 1024
	// minRepeated is the minimum share, 0 to 1, of the recent passages at other problems that must
	// have the same wording as a new passage to show that it is from a template. Of a set of fifty
	// sentences used in turn, each has a share of 0.02, four times the limit.
	minRepeated = 0.005
	// lately is the number of the most recent passages that show whether an environment's episodes
	// fill templates now.
	lately = 32
	// maxRepeats is the share, 0 to 1, of these from which passages with the wording of any earlier one at
	// another problem show that a set of sentences is in use. Of honest agents it is at most 7 of 32.
	maxRepeats = 0.25
	// MinProblems is the number of problems at which a Window must have seen passages before it can tell
	// a set of sentences from reasons: a sentence is recognised once it occurred minAlike times, and
	// the largest sets that were tried have fifty. Passages at one problem are not compared.
	MinProblems = 50 * minAlike
)

// Window is a store of the deciding passages of an environment's recent episodes. A single
// episode cannot show that its passage is a template.
type Window struct {
	mu     sync.Mutex
	recent []windowed
	// problems are the first MinProblems problems of passages.
	problems map[string]bool
}

type windowed struct {
	problem, request string
	// isFrame reports whether many earlier passages were similar, isRepeat whether one had the same
	// wording.
	isFrame, isRepeat bool

	wordings []string
	runs     map[string]bool
}

// Check reports whether a passage is similar to at least minShared recent passages at other
// problems, and to the share maxShared of them, or has a wording of minAlike and of the share
// minRepeated. If the share maxAlike of the last passages are such frames, as in a flagged day, or
// the share maxRepeats of them repeat any earlier one, one earlier passage is enough. problem is
// the problem's ID and request its text (see identify). isMeasured reports whether the window had
// seen passages at MinProblems problems. Check adds the passage to the window.
func (w *Window) Check(problem, request, text string) (isFrame, isMeasured bool) {
	if text == "" {
		return false, true
	}
	runs := passageRuns(text)
	wordings := wordingsOf(text)
	w.mu.Lock()
	defer w.mu.Unlock()
	problems := w.identify(problem, request)
	own := problems[len(w.recent)]
	others := 0
	alike := 0
	repeated := 0
	for i, p := range w.recent {
		if problems[i] == own {
			continue
		}
		others++
		if p.shares(runs) {
			alike++
		}
		if slices.ContainsFunc(p.wordings, func(wording string) bool { return slices.Contains(wordings, wording) }) {
			repeated++
		}
	}
	isRepeated := repeated >= minAlike && float64(repeated) >= minRepeated*float64(others)
	isFrame = isRepeated || alike >= minShared && float64(alike) >= maxShared*float64(others)
	isSimilar := isFrame || repeated+alike > 0 && w.hasFrames()
	w.recent = append(w.recent, windowed{problem, request, isFrame, repeated > 0, wordings, runs})
	w.recent = w.recent[max(0, len(w.recent)-maxRecent):]
	isMeasured = len(w.problems) >= MinProblems
	if !isMeasured {
		w.addProblem(own)
	}
	return isSimilar, isMeasured
}

// identify returns what identifies the problems of the recent passages and of one more.
func (w *Window) identify(problem, request string) []string {
	passages := make([]Passage, 0, len(w.recent)+1)
	for _, p := range w.recent {
		passages = append(passages, Passage{Problem: p.problem, Request: p.request})
	}
	return identify(append(passages, Passage{Problem: problem, Request: request}))
}

func (w *Window) addProblem(problem string) {
	if w.problems == nil {
		w.problems = map[string]bool{}
	}
	w.problems[problem] = true
}

// hasFrames reports whether at least the share maxAlike of the last passages are frames, or the share
// maxRepeats of them repeat an earlier one.
func (w *Window) hasFrames() bool {
	last := w.recent[max(0, len(w.recent)-lately):]
	framed := slicesx.CountFunc(last, func(p *windowed) bool { return p.isFrame })
	repeated := slicesx.CountFunc(last, func(p *windowed) bool { return p.isRepeat })
	return float64(framed) >= maxAlike*lately || float64(repeated) >= maxRepeats*lately
}

func (p *windowed) shares(runs map[string]bool) bool {
	for r := range runs {
		if p.runs[r] {
			return true
		}
	}
	return false
}

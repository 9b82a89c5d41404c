// Package thinking finds which sentences of a dialogue's thinking are in no logged reply of the model,
// so that a client wrote them.
package thinking

import (
	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters/evidence"
)

// Unsaid is how much of the thinking in a dialogue no model wrote.
type Unsaid struct {
	// Sentences counts the sentences of the thinking that are long enough to be recognised.
	// Missing counts those that are in no logged reply. Both are 0 if the log is incomplete.
	Sentences int
	Missing   int
	// Origin is who wrote the thinking, of sentences of any length.
	Origin arena.Origin
}

// Share returns the share of the sentences that are in no logged reply, NaN if the log is
// incomplete.
func (u Unsaid) Share() float64 { return float64(u.Missing) / float64(u.Sentences) }

// The minimum length of a sentence that can be recognised: minSentenceWords words or, since some
// languages write few blanks, minSentenceLetters letters.
const (
	minSentenceWords   = 4
	minSentenceLetters = 24
)

// maxLabelWords is the maximum number of words, such as "Step 3:", that a client may prepend to
// a sentence of the model.
const maxLabelWords = 3

// maxThoughtWords is the maximum number of words of a dialogue's thinking that are searched for,
// and maxComparedThoughts that of their comparisons with replies. Attempts of thirty steps have
// a hundredth. Larger ones are not measured.
const (
	maxThoughtWords     = 1 << 18
	maxComparedThoughts = 1 << 26
)

// Measure returns how much of the thinking is in no logged reply, and the turns of the dialogue
// without what no reply contains: sentences of any length, and words that a client put before a
// sentence or at the end of a turn. It compares words, so that case, blanks, punctuation, markup
// and escapes do not matter. If the log lacks a reply or a part of one, u has only the origin,
// graded are the turns as they are, and logged are those that graded would be otherwise. logged is
// nil if the log is whole or has all.
func Measure(a *evidence.Attempt) (u Unsaid, graded, logged []arena.Turn) {
	turns := a.Dialogue.Turns
	m := matchers.Get().(*matcher)
	defer m.release()
	m.read(turns)
	for escapes := range maxEscapes + 1 {
		for i := range a.Log.Replies {
			m.searchReply(&a.Log.Replies[i], escapes)
		}
	}
	isWhole := a.HasWholeReplies() && !m.tooMany
	origin := m.origin(isWhole)
	if !isWhole {
		return Unsaid{Origin: origin}, turns, m.logged(turns)
	}
	u = m.count()
	u.Origin = origin
	return u, m.cut(turns), nil
}

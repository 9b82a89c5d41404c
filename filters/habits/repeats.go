package habits

import (
	"cmp"
	"iter"
	"maps"

	"github.com/trajectory-arena/arena/filters/evidence"
)

// Trait is a hash of what attempts can have in common: a reply, the dialogue, or an item of the answer.
type Trait struct {
	kind traitKind
	hash uint64
	// start is that of the attempt in Unix milliseconds, or noTime. It is 0 for an item.
	start int64
	// agent is the hash of the agent's name for a dialogue, and 0 for all else.
	agent uint64
}

type traitKind uint8

const (
	traitReply traitKind = iota
	traitDialogue
	// traitTaken is an item that a result contained, traitUnseen one that no result contained.
	traitTaken
	traitUnseen
)

// Hash returns the hash, by which equal traits are found.
func (t Trait) Hash() uint64 { return t.hash }

// Traits returns the traits of an attempt of the named agent.
func (s *Sample) Traits(agent string) []Trait {
	var out []Trait
	start := cmp.Or(s.Begun, noTime)
	for _, reply := range s.Replies {
		out = append(out, Trait{kind: traitReply, hash: reply, start: start})
	}
	if s.Dialogue != 0 {
		out = append(out, Trait{traitDialogue, s.Dialogue, start, evidence.HashText(agent)})
	}
	for _, id := range s.Taken {
		out = append(out, Trait{kind: traitTaken, hash: id})
	}
	for _, id := range s.Unseen {
		out = append(out, Trait{kind: traitUnseen, hash: id})
	}
	return out
}

// SharedOf returns an index of those of the traits that are evidence of copies: replies of attempts that
// began at different times, dialogues of several agents, and items that only some attempts were shown.
// For the proofs it equals an index of all traits, and takes less memory. traits are all traits with
// the same hashes, each with whether its attempt counts. It is no copy then.
func SharedOf(traits iter.Seq2[Trait, bool]) Index {
	x := NewIndex()
	starts := map[uint64]int64{}
	differ := map[uint64]bool{} // replies of attempts that began at different times
	unseen := map[uint64]bool{}
	for t, counts := range traits {
		switch t.kind {
		case traitReply:
			if first, ok := starts[t.hash]; ok && first != t.start {
				differ[t.hash] = true
			}
			starts[t.hash] = t.start
		case traitUnseen:
			unseen[t.hash] = true
		case traitDialogue, traitTaken:
		}
		if counts {
			x.add(t)
		}
	}
	maps.DeleteFunc(x.items, func(id uint64, _ bool) bool { return !unseen[id] })
	maps.DeleteFunc(x.replies, func(reply uint64, _ int64) bool { return !differ[reply] })
	maps.DeleteFunc(x.dialogues, func(_ uint64, o origin) bool { return !o.shared })
	return x
}

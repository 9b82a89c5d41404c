package records

import (
	"context"

	"github.com/trajectory-arena/arena/filters/habits"
	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/judges/frames"
	"github.com/trajectory-arena/arena/pipeline/shuffle"
)

// addKeys writes a passage by the keys by which it is compared with those of all agents.
func addKeys(pos Position, p *frames.Passage, out *shuffle.Store) {
	named := *p
	named.Text = digest.SHA256([]byte(p.Text)) // only compared
	for _, key := range p.Keys() {
		out.Add(keyStream, shuffle.PartitionOf(key), func(b []byte) []byte {
			return habits.AppendText(appendPassage(pos.Append(b), &named), key)
		})
	}
}

// appendPassage appends a passage, without its day.
func appendPassage(b []byte, p *frames.Passage) []byte {
	for _, text := range [...]string{p.Agent, p.Problem, p.Request, p.Text} {
		b = habits.AppendText(b, text)
	}
	return b
}

func unpackPassage(u *habits.Unpacker) frames.Passage {
	return frames.Passage{Agent: u.Text(), Problem: u.Text(), Request: u.Text(), Text: u.Text()}
}

// comparePassages finds the passages that other agents have too, or a wording of them. Copies of
// attempts do not count.
func (c *Comparison) comparePassages(_ context.Context, part int, out *shuffle.Store) error {
	type use struct {
		positions []Position
		passages  []frames.Passage
	}
	uses := map[string]*use{}
	err := c.Each(keyStream, part, func(u *habits.Unpacker) {
		pos := UnpackPosition(u)
		p := unpackPassage(u)
		key := u.Text()
		if c.CopyOf(pos) != Original {
			return
		}
		if uses[key] == nil {
			uses[key] = &use{}
		}
		uses[key].positions = append(uses[key].positions, pos)
		uses[key].passages = append(uses[key].passages, p)
	})
	for _, key := range slicesx.SortedKeys(uses) {
		u := uses[key]
		for i, m := range frames.Compare(key, u.passages) {
			if m == (frames.Marks{}) {
				continue
			}
			out.Add(markStream, shuffle.PartitionOf(u.passages[i].Agent), func(b []byte) []byte {
				return habits.AppendFlag(habits.AppendFlag(u.positions[i].Append(b), m.IsShared), m.IsCopied)
			})
		}
	}
	return err
}

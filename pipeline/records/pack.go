package records

import (
	"encoding/binary"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters/habits"
	"github.com/trajectory-arena/arena/pipeline/block"
	"github.com/trajectory-arena/arena/pipeline/choose"
)

// Position is the position of an entry (the stored result of one record): the index of its input, the
// index of the entry within the input, and its byte range in the index file.
type Position struct {
	Input int `json:"i"`
	Entry int `json:"e"`
	block.Place
}

// Append appends the two indexes of p to b.
func (p Position) Append(b []byte) []byte { return AppendInts(b, p.Input, p.Entry) }

// UnpackPosition reads what Position.Append wrote.
func UnpackPosition(u *habits.Unpacker) Position { return Position{Input: u.Int(), Entry: u.Int()} }

// Visit is called for an entry and its position. The entry is valid only during the call.
type Visit = func(pos Position, x *block.Entry) error

// AppendInts appends numbers to b, which Unpacker.Int reads.
func AppendInts(b []byte, numbers ...int) []byte {
	for _, n := range numbers {
		b = binary.AppendVarint(b, int64(n))
	}
	return b
}

// AppendDecision appends d to b.
func AppendDecision(b []byte, d *choose.Decision) []byte {
	for _, text := range [...]string{d.Stage, d.Reason, d.Split, d.Better, string(d.Axis)} {
		b = habits.AppendText(b, text)
	}
	b = habits.AppendFlag(habits.AppendFlag(b, d.Failed), d.Stripped)
	return habits.AppendFloat(AppendInts(b, d.Rank, d.Place), d.Similarity)
}

// UnpackDecision reads what AppendDecision wrote.
func UnpackDecision(u *habits.Unpacker) choose.Decision {
	return choose.Decision{
		Stage:      u.Text(),
		Reason:     u.Text(),
		Split:      u.Text(),
		Better:     u.Text(),
		Axis:       arena.Axis(u.Text()),
		Failed:     u.Flag(),
		Stripped:   u.Flag(),
		Rank:       u.Int(),
		Place:      u.Int(),
		Similarity: u.Float(),
	}
}

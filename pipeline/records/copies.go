package records

import (
	"cmp"
	"context"

	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/filters/habits"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/pipeline/block"
	"github.com/trajectory-arena/arena/pipeline/shuffle"
)

// Copy says whether a record is a copy of another one with its trace ID.
type Copy uint8

// Original is a record that counts, Duplicate one with the same content as the one that counts, and
// Collision one with another content.
const (
	Original Copy = iota
	Duplicate
	Collision
)

// addID writes an ID of an attempt. Attempts with one ID are compared.
func addID(pos Position, x *block.Entry, id string, out *shuffle.Store) {
	out.Add(idStream, shuffle.PartitionOf(id), func(b []byte) []byte {
		b = habits.AppendText(pos.Append(b), id)
		b = habits.AppendText(b, x.RecordSHA256)
		return habits.AppendText(b, x.Agent)
	})
}

// identified is an attempt as the search for copies reads it.
type identified struct {
	Position
	id, record, agent string
}

// precedes reports whether x, and not y, counts if both have the same ID.
func (x *identified) precedes(y *identified) bool {
	return cmp.Or(
		filters.CompareCopies(
			[]byte(x.record),
			x.agent,
			[]byte(y.record),
			y.agent,
		),
		cmp.Compare(x.Input, y.Input),
		cmp.Compare(x.Entry, y.Entry),
	) < 0
}

// findCopies finds attempts with the same trace ID, such as those of a file that was uploaded
// twice. The first counts, in the order of filters.CompareCopies.
func (c *Comparison) findCopies(_ context.Context, part int, out *shuffle.Store) error {
	var all []identified
	first := map[string]int{} // index in all
	err := c.Each(idStream, part, func(u *habits.Unpacker) {
		x := identified{Position: UnpackPosition(u), id: u.Text(), record: u.Text(), agent: u.Text()}
		if k, ok := first[x.id]; !ok || x.precedes(&all[k]) {
			first[x.id] = len(all)
		}
		all = append(all, x)
	})
	for k := range all {
		x := &all[k]
		counted := &all[first[x.id]]
		if counted == x {
			continue
		}
		kind := Collision
		if counted.record == x.record {
			kind = Duplicate
		}
		out.Add(copyStream, part, func(b []byte) []byte {
			return AppendInts(x.Append(b), int(kind))
		})
	}
	return err
}

func (c *Comparison) loadCopies() error {
	return c.All(copyStream, func(u *habits.Unpacker) {
		pos := UnpackPosition(u)
		list := &c.copies[pos.Input]
		*list = slicesx.Extended(*list, pos.Entry)
		kind := Copy(u.Int()) //nolint:gosec // packed above
		if (*list)[pos.Entry] != Duplicate {
			(*list)[pos.Entry] = kind
		}
	})
}

// CopyOf returns whether the record at pos is a copy.
func (c *Comparison) CopyOf(pos Position) Copy {
	list := c.copies[pos.Input]
	if pos.Entry >= len(list) {
		return Original
	}
	return list[pos.Entry]
}

// findShared finds the replies, dialogues and items in a partition that several attempts share.
func (c *Comparison) findShared(_ context.Context, part int, out *shuffle.Store) error {
	var err error
	shared := habits.SharedOf(func(yield func(t habits.Trait, counts bool) bool) {
		err = c.Each(traitStream, part, func(u *habits.Unpacker) {
			pos := UnpackPosition(u)
			yield(u.Trait(), c.CopyOf(pos) == Original)
		})
	})
	out.Add(sharedStream, part, shared.Append)
	return err
}

func (c *Comparison) loadShared() error {
	return c.All(sharedStream, func(u *habits.Unpacker) {
		u.Index(c.index)
	})
}

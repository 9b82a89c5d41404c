package rows

import flatbuffers "github.com/google/flatbuffers/go"

// The slots of the tables Message, Schema, Field, KeyValue and of batches in Arrow's schemas
// (Message.fbs, Schema.fbs), and the types whose tables hold more than numbers.
const (
	slotMessage  = 6
	slotHeader   = 8
	slotBody     = 10
	slotBatch    = 6 // of DictionaryBatch
	slotBuffers  = 8
	slotCounts   = 12
	slotFields   = 6
	slotNotes    = 8 // of Schema
	slotName     = 4
	slotKind     = 8
	slotType     = 10
	slotEncoding = 12
	slotChildren = 14
	slotOwnNotes = 16
	slotFirst    = 4
	slotSecond   = 6

	kindTimestamp = 10
	kindUnion     = 14
	kindBytesView = 23
	kindTextView  = 24
)

const (
	// deepestColumn is also that of the reader beneath.
	deepestColumn = 64
	// maxColumns counts columns, those inside of them, and notes on them: the
	// reader beneath takes up to a kilobyte for each in every batch.
	maxColumns = 1 << 16
)

// described counts what a description makes of memory. Its parts may stand in more
// than one place, so that few bytes can be columns without end.
type described struct {
	items, text int
	// views counts the columns of a batch that have any number of buffers,
	// dictionaries those of each dictionary.
	views        int
	dictionaries map[int64]int
}

func (c *described) field(t flatbuffers.Table, depth int) {
	if depth > deepestColumn {
		panic("its columns are nested too deeply")
	}
	outside := c.views
	c.count(1, text(t, slotName))
	switch t.GetByteSlot(slotKind, 0) {
	case kindTimestamp:
		c.count(0, text(child(t, slotType), slotFirst))
	case kindBytesView, kindTextView:
		c.views++
	case kindUnion:
		if kind := child(t, slotType); kind.Offset(slotSecond) > 0 {
			c.count(kind.VectorLen(flatbuffers.UOffsetT(kind.Offset(slotSecond))), 0)
		}
	}
	c.notes(t, slotOwnNotes)
	each(t, slotChildren, func(inner flatbuffers.Table) { c.field(inner, depth+1) })
	if t.Offset(slotEncoding) > 0 {
		encoding := child(t, slotEncoding)
		c.dictionaries[encoding.GetInt64Slot(slotFirst, 0)] = c.views - outside
		c.views = outside
	}
}

func (c *described) notes(t flatbuffers.Table, slot flatbuffers.VOffsetT) {
	each(t, slot, func(pair flatbuffers.Table) { c.count(1, text(pair, slotFirst)+text(pair, slotSecond)) })
}

func (c *described) count(items, text int) {
	if c.items, c.text = c.items+items, c.text+text; c.items > maxColumns || c.text > arrowMetaBytes {
		panic("it has more columns than are read")
	}
}

// child is a table in a table; one that is left out panics.
func child(t flatbuffers.Table, slot flatbuffers.VOffsetT) flatbuffers.Table {
	o := t.Offset(slot)
	if o == 0 {
		panic("a part of its columns is missing")
	}
	return flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(t.Pos + flatbuffers.UOffsetT(o))}
}

// each calls visit for every table of a list.
func each(t flatbuffers.Table, slot flatbuffers.VOffsetT, visit func(flatbuffers.Table)) {
	o := flatbuffers.UOffsetT(t.Offset(slot))
	if o == 0 {
		return
	}
	start := t.Vector(o)
	for i := range t.VectorLen(o) {
		at := start + flatbuffers.UOffsetT(i*flatbuffers.SizeUOffsetT)
		visit(flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(at)})
	}
}

// text is the length of a string.
func text(t flatbuffers.Table, slot flatbuffers.VOffsetT) int {
	o := t.Offset(slot)
	if o == 0 {
		return 0
	}
	return len(t.ByteVector(t.Pos + flatbuffers.UOffsetT(o)))
}

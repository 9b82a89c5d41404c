package batches

import flatbuffers "github.com/google/flatbuffers/go"

// table reads a table by the numbers that its fields have in the format's schemas
// (Message.fbs and Schema.fbs of Apache Arrow). It panics where it leaves its bytes.
type table struct{ flatbuffers.Table }

func rootOf(b []byte) table {
	return table{flatbuffers.Table{Bytes: b, Pos: flatbuffers.GetUOffsetT(b)}}
}

// place is where a field lies; 0 if it was left out.
func (t table) place(field int) flatbuffers.UOffsetT {
	o := t.Offset(slot(field))
	if o == 0 {
		return 0
	}
	return t.Pos + flatbuffers.UOffsetT(o)
}

// slot is where the place of a field is looked up: behind the sizes of the list
// of places and of the table.
func slot(field int) flatbuffers.VOffsetT { return flatbuffers.VOffsetT(4 + 2*field) }

func (t table) byte(field int) byte { return t.GetByteSlot(slot(field), 0) }

func (t table) long(field int) int64 { return t.GetInt64Slot(slot(field), 0) }

func (t table) child(field int) (table, bool) {
	at := t.place(field)
	if at == 0 {
		return table{}, false
	}
	return table{flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(at)}}, true
}

// textLen is the length of a string; one that ends behind the table's bytes panics.
func (t table) textLen(field int) int {
	at := t.place(field)
	if at == 0 {
		return 0
	}
	return len(t.ByteVector(at))
}

// vector is where the items of a list begin and how many there are; if they are
// more than the table's bytes, it panics.
func (t table) vector(field, itemBytes int) (flatbuffers.UOffsetT, int) {
	at := t.place(field)
	if at == 0 {
		return 0, 0
	}
	n, start := t.VectorLen(at-t.Pos), t.Vector(at-t.Pos)
	_ = t.Bytes[start:][:n*itemBytes]
	return start, n
}

// tables calls visit for each of a list of tables.
func (t table) tables(field int, visit func(table) error) error {
	start, n := t.vector(field, flatbuffers.SizeUOffsetT)
	for i := range n {
		at := start + flatbuffers.UOffsetT(i*flatbuffers.SizeUOffsetT)
		if err := visit(table{flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(at)}}); err != nil {
			return err
		}
	}
	return nil
}

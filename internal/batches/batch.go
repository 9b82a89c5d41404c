package batches

import (
	"fmt"

	flatbuffers "github.com/google/flatbuffers/go"
)

// Fields of the table RecordBatch, and the bytes of its items.
const (
	batchRows        = 0
	batchNodes       = 1
	batchBuffers     = 2
	batchCompression = 3
	batchCounts      = 4

	pairBytes  = 16
	countBytes = 8
)

// bareLength is how many rows and elements are read that no bytes bear out. Each
// takes a bit at least, but for those of columns of nothing but nulls or repeated
// values, which take none however many they are.
const bareLength = 1 << 20

// batch is a record batch, or the one of a dictionary.
type batch struct {
	rows int64
	// nodes are the lengths of columns and their numbers of nulls, buffers the
	// places in the body and their lengths.
	nodes, buffers [][2]int64
	// counts are numbers of buffers of the columns that have any number.
	counts []int64
	body   []byte
}

// batchOf holds a batch against its bytes and against what its columns need: the
// reader beneath goes on behind the end of a list.
func batchOf(t table, body []byte, columns needs) (batch, error) {
	b := batch{rows: t.long(batchRows), nodes: t.pairs(batchNodes), buffers: t.pairs(batchBuffers), body: body}
	start, n := t.vector(batchCounts, countBytes)
	for i := range n {
		b.counts = append(b.counts, t.GetInt64(start+flatbuffers.UOffsetT(i*countBytes)))
	}
	if packing, ok := t.child(batchCompression); ok {
		if err := b.unpack(packing.byte(compressionCodec)); err != nil {
			return b, err
		}
	}
	if len(b.nodes) < columns.nodes || len(b.counts) < columns.counts {
		return b, fmt.Errorf("%w: a batch has less than all columns", ErrBroken)
	}
	return b, b.checkLengths()
}

func (t table) pairs(field int) [][2]int64 {
	start, n := t.vector(field, pairBytes)
	out := make([][2]int64, n)
	for i := range out {
		at := start + flatbuffers.UOffsetT(i*pairBytes)
		out[i] = [2]int64{t.GetInt64(at), t.GetInt64(at + pairBytes/2)}
	}
	return out
}

func (b *batch) checkLengths() error {
	longest := int64(8*len(b.body) + bareLength)
	outside := b.rows < 0 || b.rows > longest
	for _, node := range b.nodes {
		outside = outside || node[0] < 0 || node[0] > longest
	}
	for _, n := range b.counts {
		outside = outside || n < 0 || n > int64(len(b.buffers))
	}
	if outside {
		return fmt.Errorf("%w: a batch has more rows than its %d bytes can hold", ErrBroken, len(b.body))
	}
	return nil
}

// message writes a batch, uncompressed, with the version of the message that it
// came in and as the content of a dictionary if it was one.
func (b *batch) message(from table, dictionary *table) []byte {
	w := flatbuffers.NewBuilder(pairBytes * (len(b.nodes) + len(b.buffers)))
	kind, header := from.byte(messageKind), b.write(w)
	if dictionary != nil {
		w.StartObject(3)
		w.PrependInt64Slot(dictionaryID, dictionary.long(dictionaryID), 0)
		w.PrependUOffsetTSlot(dictionaryBatch, header, 0)
		w.PrependBoolSlot(dictionaryDelta, dictionary.GetBoolSlot(slot(dictionaryDelta), false), false)
		header = w.EndObject()
	}
	w.StartObject(5)
	w.PrependInt16Slot(messageVersion, from.GetInt16Slot(slot(messageVersion), 0), 0)
	w.PrependByteSlot(messageKind, kind, 0)
	w.PrependUOffsetTSlot(messageHeader, header, 0)
	w.PrependInt64Slot(messageBody, int64(len(b.body)), 0)
	w.Finish(w.EndObject())
	return w.FinishedBytes()
}

func (b *batch) write(w *flatbuffers.Builder) flatbuffers.UOffsetT {
	nodes, buffers := writePairs(w, b.nodes), writePairs(w, b.buffers)
	w.StartVector(countBytes, len(b.counts), countBytes)
	for i := len(b.counts) - 1; i >= 0; i-- {
		w.PrependInt64(b.counts[i])
	}
	counts := w.EndVector(len(b.counts))
	w.StartObject(5)
	w.PrependInt64Slot(batchRows, b.rows, 0)
	w.PrependUOffsetTSlot(batchNodes, nodes, 0)
	w.PrependUOffsetTSlot(batchBuffers, buffers, 0)
	w.PrependUOffsetTSlot(batchCounts, counts, 0)
	return w.EndObject()
}

func writePairs(w *flatbuffers.Builder, pairs [][2]int64) flatbuffers.UOffsetT {
	w.StartVector(pairBytes, len(pairs), pairBytes/2)
	for i := len(pairs) - 1; i >= 0; i-- {
		w.PrependInt64(pairs[i][1])
		w.PrependInt64(pairs[i][0])
	}
	return w.EndVector(len(pairs))
}

package footer

import (
	"encoding/binary"
	"errors"
)

// The types of the compact protocol that the walk tells apart
// (thrift-compact-protocol.md of Apache Thrift); the others are varints.
const (
	typeTrue      = 1
	typeFalse     = 2
	typeByte      = 3
	typeDouble    = 7
	typeBinary    = 8
	typeList      = 9
	typeSet       = 10
	typeMap       = 11
	typeStructure = 12
)

const (
	// deepest nesting of a footer: Parquet's own goes to six.
	deepest = 32
	// maxItems in all lists together, some dozen for a column of a row group. The
	// reader takes up to 200 bytes for each.
	maxItems = 8 << 20
)

var (
	errShort = errors.New("ends in the middle of a value")
	errLong  = errors.New("has a list longer than itself")
	errDeep  = errors.New("is nested too deeply")
)

// walk goes through a value of the compact protocol and keeps nothing.
type walk struct {
	rest  []byte
	items uint64
}

// structure walks fields up to the one that ends them.
func (w *walk) structure(depth int) error {
	if depth > deepest {
		return errDeep
	}
	for {
		head, err := w.byte()
		if err != nil || head == 0 {
			return err
		}
		if head>>4 == 0 { // the number of the field follows
			if _, err := w.varint(); err != nil {
				return err
			}
		}
		if kind := head & 0xf; kind == typeTrue || kind == typeFalse { // the value itself
			continue
		} else if err := w.value(kind, depth); err != nil {
			return err
		}
	}
}

func (w *walk) value(kind byte, depth int) error {
	switch kind {
	case typeTrue, typeFalse, typeByte:
		return w.skip(1)
	case typeDouble:
		return w.skip(8)
	case typeBinary:
		n, err := w.varint()
		if err != nil {
			return err
		}
		return w.skip(n)
	case typeList, typeSet:
		return w.list(depth)
	case typeMap:
		return w.pairs(depth)
	case typeStructure:
		return w.structure(depth + 1)
	default:
		_, err := w.varint()
		return err
	}
}

func (w *walk) list(depth int) error {
	head, err := w.byte()
	if err != nil {
		return err
	}
	n := uint64(head >> 4)
	if n == 15 {
		if n, err = w.varint(); err != nil {
			return err
		}
	}
	return w.times(n, depth, head&0xf)
}

func (w *walk) pairs(depth int) error {
	n, err := w.varint()
	if err != nil || n == 0 {
		return err
	}
	kinds, err := w.byte()
	if err != nil {
		return err
	}
	return w.times(n, depth, kinds>>4, kinds&0xf)
}

// times walks n items of the given types; none is shorter than a byte.
func (w *walk) times(n uint64, depth int, kinds ...byte) error {
	if w.items += n; n > uint64(len(w.rest)) || w.items > maxItems {
		return errLong
	}
	if depth > deepest {
		return errDeep
	}
	for range n {
		for _, kind := range kinds {
			if err := w.value(kind, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *walk) byte() (byte, error) {
	if len(w.rest) == 0 {
		return 0, errShort
	}
	b := w.rest[0]
	w.rest = w.rest[1:]
	return b, nil
}

func (w *walk) varint() (uint64, error) {
	v, n := binary.Uvarint(w.rest)
	if n <= 0 {
		return 0, errShort
	}
	w.rest = w.rest[n:]
	return v, nil
}

func (w *walk) skip(n uint64) error {
	if n > uint64(len(w.rest)) {
		return errShort
	}
	w.rest = w.rest[n:]
	return nil
}

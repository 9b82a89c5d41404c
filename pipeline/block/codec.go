package block

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/fxamacker/cbor/v2"
	"github.com/klauspost/compress/s2"
)

// errShort is what a frame that is cut off, or larger than any that is written, is
// refused with.
var errShort = errors.New("frame is cut off or corrupt")

// decoding takes what attempts hold: lists of any length that a body may have, and
// text that is no UTF-8.
var decoding = func() cbor.DecMode {
	mode, err := cbor.DecOptions{MaxArrayElements: maxBody, UTF8: cbor.UTF8DecodeInvalid}.DecMode()
	if err != nil {
		panic(err) // the options are constants
	}
	return mode
}()

// coder stores values as CBOR (RFC 8949), compressed by s2, in memory that it keeps. It
// belongs to one goroutine.
type coder struct {
	plain  bytes.Buffer
	packed []byte
	read   []byte
}

// pack gives the bytes of values, one behind another; they are valid until the next.
func (c *coder) pack(values ...any) ([]byte, error) {
	c.plain.Reset()
	for _, v := range values {
		if err := cbor.MarshalToBuffer(v, &c.plain); err != nil {
			return nil, fmt.Errorf("encode a part of a block: %w", err)
		}
	}
	c.packed = s2.Encode(c.packed[:cap(c.packed)], c.plain.Bytes())
	return c.packed, nil
}

// unpack reads the first of what was packed into at most so many bytes.
func (c *coder) unpack(b []byte, most int, values ...any) error {
	n, err := s2.DecodedLen(b)
	if err == nil && n > most {
		err = errShort
	}
	if err == nil {
		c.read, err = s2.Decode(c.read[:cap(c.read)], b)
	}
	rest := c.read
	for _, v := range values {
		if err == nil {
			rest, err = decoding.UnmarshalFirst(rest, v)
		}
	}
	return err
}

// layoutOf names what is stored of a type: blocks of another layout are made again.
func layoutOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return t.Kind().String() + " " + layoutOf(t.Elem())
	case reflect.Struct:
		var b strings.Builder
		for i := range t.NumField() {
			fmt.Fprintf(&b, "%s %s;", t.Field(i).Name, layoutOf(t.Field(i).Type))
		}
		return "{" + b.String() + "}"
	default:
		return t.Kind().String()
	}
}

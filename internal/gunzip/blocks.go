package gunzip

import (
	"encoding/binary"
	"errors"
	"io"
)

const (
	// window is how far back a copy may reach.
	window = 32 << 10
	// outputBytes is what is decoded before it is given away: small enough to
	// stay in the nearest caches.
	outputBytes = 128 << 10
	// overrun is what one step may write: a few literals and a copy by the last
	// turn of the fast loop, another copy by symbol, the rest of its last step.
	overrun = 8 + 2*258 + copyStep
	// copyStep is how many bytes one step of a copy moves.
	copyStep = 16
)

// blocks decodes the deflate blocks of one member.
type blocks struct {
	in *input
	// started reports whether a member was begun.
	started bool
	// last reports whether no block follows, within that one is being decoded.
	last, within bool
	// stored is what is left of a block that is not compressed; -1 for another.
	stored int

	lengths, distances table

	out [outputBytes]byte
	// given and made are how much of out was given away and decoded; copies
	// reach back to oldest.
	given, made, oldest int
	// err ends the member once all that was decoded is given away.
	err error
}

func (b *blocks) reset() {
	b.started, b.last, b.within = true, false, false
	b.given, b.oldest, b.err = b.made, b.made, nil
}

// read gives what was decoded; io.EOF after the last block.
func (b *blocks) read(p []byte) (int, error) {
	if b.given == b.made && b.err == nil {
		b.slide()
		b.err = b.decode()
	}
	if b.given == b.made {
		return 0, b.err
	}
	n := copy(p, b.out[b.given:b.made])
	b.given += n
	return n, nil
}

// slide makes room and keeps the window.
func (b *blocks) slide() {
	if b.made < outputBytes-overrun {
		return
	}
	copy(b.out[:], b.out[b.made-window:b.made])
	b.oldest = max(0, b.oldest-(b.made-window))
	b.given, b.made = window, window
}

// decode goes on until the output is full or the last block ends.
func (b *blocks) decode() error {
	for b.made < outputBytes-overrun {
		if err := b.step(); err != nil {
			return err
		}
	}
	return nil
}

func (b *blocks) step() error {
	switch {
	case !b.within && b.last:
		return io.EOF
	case !b.within:
		return b.header()
	case b.stored >= 0:
		return b.copyStored()
	}
	if b.in.end-b.in.pos < ahead {
		if err := b.in.fill(); err != nil {
			return err
		}
	}
	if b.in.end-b.in.pos >= ahead {
		return b.fast()
	}
	return b.symbol()
}

func (b *blocks) header() error {
	v, err := b.in.read(3)
	if err != nil {
		return err
	}
	b.last, b.stored = v&1 != 0, -1
	switch v >> 1 {
	case 0:
		err = b.storedHeader()
	case 1:
		b.fixed()
	case 2:
		err = b.dynamic()
	default:
		err = ErrCorrupt
	}
	b.within = err == nil
	return err
}

func (b *blocks) storedHeader() error {
	b.in.align()
	var size [4]byte
	if err := b.in.octets(size[:]); err != nil {
		return err
	}
	n := binary.LittleEndian.Uint16(size[:])
	if n != ^binary.LittleEndian.Uint16(size[2:]) {
		return ErrCorrupt
	}
	b.stored = int(n)
	return nil
}

// copyStored copies a part of a stored block. Bytes that are already ready as
// bits come first.
func (b *blocks) copyStored() error {
	if b.stored == 0 {
		b.within = false
		return nil
	}
	if b.in.count > 0 || b.in.pos == b.in.end {
		c, err := b.in.octet()
		if err != nil {
			return err
		}
		b.out[b.made] = c
		b.made++
		b.stored--
		return nil
	}
	n := copy(b.out[b.made:], b.in.data[b.in.pos:min(b.in.end, b.in.pos+b.stored)])
	b.in.pos += n
	b.made += n
	b.stored -= n
	return nil
}

// symbol decodes one literal or copy where the end of the input is near.
func (b *blocks) symbol() error {
	e, err := b.lookup(&b.lengths, lengthBits)
	switch {
	case err != nil:
		return err
	case e&literal != 0:
		b.out[b.made] = byte(e >> 16)
		b.made++
		return nil
	case e.is(end):
		b.within = false
		return nil
	}
	length, err := b.value(e)
	if err != nil {
		return err
	}
	if e, err = b.lookup(&b.distances, distanceBits); err != nil {
		return err
	}
	distance, err := b.value(e)
	if err != nil || distance > b.made-b.oldest {
		return orCorrupt(err)
	}
	for range length {
		b.out[b.made] = b.out[b.made-distance]
		b.made++
	}
	return nil
}

func orCorrupt(err error) error {
	if err != nil {
		return err
	}
	return ErrCorrupt
}

// lookup takes the next code of a table, without its extra bits.
func (b *blocks) lookup(t *table, first uint) (entry, error) {
	err := b.in.need(longestCode) // fewer may be enough
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, err
	}
	e := t[b.in.bits&(1<<first-1)]
	if e.is(link) && b.in.count >= first {
		b.in.take(first)
		e = t[uint64(e.base())+b.in.bits&(1<<e.code()-1)]
	}
	switch {
	case e.is(invalid) || e.is(link):
		return 0, orCorrupt(err)
	case e.code() > b.in.count:
		return 0, err
	}
	b.in.take(e.code())
	return e, nil
}

// value adds the extra bits of an entry whose code was taken.
func (b *blocks) value(e entry) (int, error) {
	extra, err := b.in.read(e.take() - e.code())
	return e.base() + extra, err
}

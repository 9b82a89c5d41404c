package gunzip

import "encoding/binary"

// fast decodes literals and copies while the ends of input and output are far,
// with all state in registers. What a first look does not tell, it leaves to
// symbol: long codes, the end of the block and all that is wrong.
func (b *blocks) fast() error {
	in, out := b.in.data[:b.in.end], &b.out
	pos, made, bits, count := b.in.pos, b.made, b.in.bits, b.in.count
	for pos <= len(in)-ahead && made < outputBytes-overrun {
		bits, pos, count = refill(in, bits, pos, count)
		e := b.lengths[bits&(1<<lengthBits-1)]
		for e&literal != 0 && count >= 2*lengthBits {
			out[made] = byte(e >> 16)
			made++
			bits, count = bits>>(e&63), count-e.take()
			e = b.lengths[bits&(1<<lengthBits-1)]
		}
		if e&literal != 0 {
			continue
		}
		if count < longestCopy {
			bits, pos, count = refill(in, bits, pos, count)
		}
		length, rest := e.value(bits), bits>>(e&63)
		d := b.distances[rest&(1<<distanceBits-1)]
		distance := d.value(rest)
		if (e|d)&special != 0 || distance > made-b.oldest {
			break
		}
		bits, count = rest>>(d&63), count-e.take()-d.take()
		if distance < copyStep || length > 2*copyStep {
			repeat(out, made, distance, length)
		} else { // of most copies the processor need not guess the length
			step(out, made, distance)
			step(out, made+copyStep, distance)
		}
		made += length
	}
	b.in.pos, b.made, b.in.bits, b.in.count = pos, made, bits&(1<<(count&63)-1), count
	return b.symbol()
}

// longestCopy is the most bits of a copy: the codes of length and distance with
// 5 and 13 extra bits.
const longestCopy = 2*longestCode + 5 + 13

// refill makes at least 56 bits ready. Bits of the next byte may stand above
// count already; they are what the next refill puts there.
func refill(in []byte, bits uint64, pos int, count uint) (uint64, int, uint) {
	return bits | binary.LittleEndian.Uint64(in[pos:])<<(count&63), pos + int(63-count)>>3, count | 56
}

// repeat copies length bytes from distance bytes back, and some more.
func repeat(out *[outputBytes]byte, made, distance, length int) {
	if distance < copyStep {
		for i := made; i < made+length; i++ {
			out[i] = out[i-distance]
		}
		return
	}
	for i := made; i < made+length; i += copyStep {
		step(out, i, distance)
	}
}

func step(out *[outputBytes]byte, to, distance int) {
	*(*[copyStep]byte)(out[to:]) = *(*[copyStep]byte)(out[to-distance:])
}

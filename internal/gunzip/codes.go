package gunzip

// fixed sets the codes of blocks that bring none (RFC 1951, 3.2.6).
func (b *blocks) fixed() {
	var size [maxSymbols]uint8
	for i := range size {
		switch {
		case i < 144 || i >= 280:
			size[i] = 8
		case i < 256:
			size[i] = 9
		default:
			size[i] = 7
		}
	}
	b.lengths.build(size[:], lengthSymbols, lengthBits)
	for i := range 32 {
		size[i] = 5
	}
	b.distances.build(size[:32], distanceSymbols, distanceBits)
}

const (
	// maxLengths and maxDistances are how many symbols a block may code.
	maxLengths   = 286
	maxDistances = 30
	countBits    = 7
)

// countOrder is the order in which the sizes of the code of code lengths come
// (RFC 1951, 3.2.7).
var countOrder = [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// dynamic reads the codes of a block that brings its own.
func (b *blocks) dynamic() error {
	v, err := b.in.read(14)
	if err != nil {
		return err
	}
	lengths, distances, counts := v&31+257, v>>5&31+1, v>>10+4
	if lengths > maxLengths || distances > maxDistances {
		return ErrCorrupt
	}
	if err := b.countCode(counts); err != nil {
		return err
	}
	var size [maxLengths + maxDistances]uint8
	if err := b.sizes(size[:lengths+distances]); err != nil {
		return err
	}
	if !b.lengths.build(size[:lengths], lengthSymbols, lengthBits) ||
		!b.distances.build(size[lengths:lengths+distances], distanceSymbols, distanceBits) {
		return ErrCorrupt
	}
	return nil
}

// countCode reads the code of code lengths. Its table stands where that of the
// distances will.
func (b *blocks) countCode(n int) error {
	var size [19]uint8
	for _, s := range countOrder[:n] {
		v, err := b.in.read(3)
		if err != nil {
			return err
		}
		size[s] = uint8(v)
	}
	if !b.distances.build(size[:], countSymbols, countBits) {
		return ErrCorrupt
	}
	return nil
}

// sizes reads code lengths, which are run-length coded.
func (b *blocks) sizes(size []uint8) error {
	for i := 0; i < len(size); {
		e, err := b.lookup(&b.distances, countBits)
		if err != nil {
			return err
		}
		if e.base() < 16 {
			size[i] = uint8(e.base())
			i++
			continue
		}
		n, err := b.run(e.base())
		if err != nil {
			return err
		}
		if i+n > len(size) || e.base() == 16 && i == 0 {
			return ErrCorrupt
		}
		if e.base() == 16 {
			for j := range n {
				size[i+j] = size[i-1]
			}
		}
		i += n
	}
	return nil
}

// run is how often a code length is repeated: the one before for symbol 16,
// else 0.
func (b *blocks) run(symbol int) (int, error) {
	least, extra := 3, uint(2)
	switch symbol {
	case 17:
		extra = 3
	case 18:
		least, extra = 11, 7
	}
	more, err := b.in.read(extra)
	return least + more, err
}

package lexical

import "math"

// keyCounter finds the requests of a block that share so many common keys with a text that the score may
// reach the threshold. Each key has a whole number as its weight, and the sums of the weights are
// computed for 64 requests at once: each bit of a sum is in another word.
type keyCounter struct {
	keys []countedKey
	// isAll reports that a request may reach the threshold without a common key.
	isAll bool
}

// countedKey is a set of requests with a key, and for each bit of the key's weight a word whose bits are
// all equal to it.
type countedKey struct {
	set  []uint64
	bits [5]uint64
}

// enough is the sum of weights from which on the score of a request may reach the threshold.
const enough = 1<<len(countedKey{}.bits) - 1

// weigh prepares the method count for the text t and a block of requests. It returns false if no request
// in the block that shares only common keys with the text can reach the threshold.
func (c *keyCounter) weigh(t *joinText, r *joinRange) bool {
	pairs := t.pairs.shared(&r.pairs)
	if !t.reaches(&t.total, 0, pairs, r) {
		return false
	}
	terms := t.terms(pairs, r)
	lacking := dropLogOdds - terms.constant
	c.isAll = lacking <= 0
	c.keys = c.keys[:0]
	for i := range t.keys[t.common:] {
		key := &t.keys[t.common+i]
		weight := uint(min(enough, math.Ceil(enough*terms.gain(&key.single, r)/lacking)))
		counted := countedKey{set: key.set}
		for j := range counted.bits {
			counted.bits[j] = -uint64(weight >> j & 1)
		}
		c.keys = append(c.keys, counted)
	}
	return true
}

// count returns the requests, of those in the 64-bit word with this index, that may reach the threshold.
func (c *keyCounter) count(word int) uint64 {
	if c.isAll {
		return math.MaxUint64
	}
	// The sums start at 1, so that they overflow when enough is added.
	a := uint64(math.MaxUint64)
	var b, d, e, f, reached uint64
	for i := range c.keys {
		key := &c.keys[i]
		set := key.set[word]
		a0 := a
		a ^= set & key.bits[0]
		carry := a0 & set & key.bits[0]
		b, carry = addBits(b, set&key.bits[1], carry)
		d, carry = addBits(d, set&key.bits[2], carry)
		e, carry = addBits(e, set&key.bits[3], carry)
		f, carry = addBits(f, set&key.bits[4], carry)
		reached |= carry
	}
	return reached
}

// addBits adds three bits, at each of 64 places, and returns the lower and the higher bits of the sums.
func addBits(a, b, c uint64) (lower, higher uint64) {
	either := a ^ b
	return either ^ c, a&b | either&c
}

// scoreTerms bounds the score of a text and the requests of a range by a constant and a gain for each
// shared key: perHit, perWeight and perText for each unit of its similarity, its weight and its weight in
// the text, perNumber for its weight as a number of the text, perShare for its share of the weight of the
// request or of the text, whichever is larger.
type scoreTerms struct {
	constant, perHit, perWeight, perText, perNumber, perShare float64
}

// terms returns the terms of the bounds that the method limits computes of the score of t and the
// requests in the range r. Each part of those that is no sum over the keys is at most such a sum, since
// it grows more slowly the more is shared. pairs is that of limits.
func (t *joinText) terms(pairs float64, r *joinRange) scoreTerms {
	// ln(1+n) is at most its tangent, here at a count of words near which the threshold is often reached.
	words := max(1, r.words/2)
	perHit := detector[hits] / (1 + words)
	loose := 0.0
	s := scoreTerms{perHit: perHit, perWeight: r.perWeight, perNumber: detector[numbersBack] / (numberPrior + t.numberWeight)}
	if r.isLoose {
		loose = t.numberWeight
	}
	s.constant = detectorBias + joinRounding + detector[hits]*math.Log1p(words) - perHit*words + detector[numbers]*r.numberShare(0)
	full := s.constant + pairs*detector[template] + detector[numbersBack]*(numberPrior/2+loose)/(numberPrior+t.numberWeight)
	if !t.hasWindow {
		s.perShare = -pairs * detector[swapped]
		s.constant = full - s.perShare
		s.perText = ratio(detector[coverText], t.textWeight)
	} else {
		part := s.constant + detector[coverText] + detector[windowed] + detector[numbersBack]*(numberPrior/2+loose)/(numberPrior+loose)
		s.constant = max(part, full+detector[coverText]*min(1, ratio(t.perWeight*r.weight, t.textWeight)))
		s.perNumber = max(s.perNumber, detector[numbersBack]/(2*numberPrior))
	}
	if r.isLoose {
		s.perNumber = 0 // the constant has all numbers
	}
	return s
}

// gain returns what a shared key adds to the bound.
func (s *scoreTerms) gain(key *contribution, r *joinRange) float64 {
	inRequest := r.numberShare(key.number) - r.numberShare(0)
	share := max(s.perWeight*key.weight/detector[coverBase], s.perText*key.text/detector[coverText])
	return s.perShare*share + s.perHit*key.similar + s.perWeight*key.weight + s.perText*key.text + s.perNumber*key.textNumber + detector[numbers]*inRequest
}

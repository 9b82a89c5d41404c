package habits

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"

	"github.com/trajectory-arena/arena"
)

// ErrPacked is returned for bytes that hold no value of the kind that is read.
var ErrPacked = errors.New("a packed sample is damaged")

// Append appends s to b in a form that Unpacker reads: about a third of the memory of a Sample,
// without pointers.
func (s *Sample) Append(b []byte) []byte {
	for _, f := range [...]float64{s.Score, s.Open.Rise, s.Open.Fall} {
		b = AppendFloat(b, f)
	}
	b = append(b, flag(s.Evidence)|flag(s.Silent)<<1)
	b = AppendText(b, string(s.Axis))
	b = appendLength(b, len(s.Tallies))
	for _, r := range s.Tallies {
		b = binary.AppendVarint(b, int64(r.Part))
		b = binary.AppendVarint(b, int64(r.Whole))
	}
	b = appendLength(b, len(s.Marks))
	for _, marks := range s.Marks {
		b = appendMarks(b, marks)
	}
	for _, hashes := range [...][]uint64{s.Taken, s.Unseen, s.Replies} {
		b = appendLength(b, len(hashes))
		for _, h := range hashes {
			b = binary.LittleEndian.AppendUint64(b, h)
		}
	}
	b = binary.AppendVarint(b, int64(s.Invented))
	b = binary.AppendVarint(b, s.Begun)
	b = binary.AppendVarint(b, int64(s.Use.Calls.Part))
	b = binary.AppendVarint(b, int64(s.Use.Calls.Whole))
	b = appendMarks(b, s.Use.Order)
	return binary.LittleEndian.AppendUint64(b, s.Dialogue)
}

func appendMarks(b []byte, marks []Mark) []byte {
	b = appendLength(b, len(marks))
	for _, m := range marks {
		b = binary.LittleEndian.AppendUint64(b, m.Group)
		b = binary.LittleEndian.AppendUint64(b, m.Value)
	}
	return b
}

// AppendFlag appends a flag to b.
func AppendFlag(b []byte, isSet bool) []byte { return append(b, flag(isSet)) }

func flag(isSet bool) byte {
	if isSet {
		return 1
	}
	return 0
}

func appendLength(b []byte, n int) []byte { return binary.AppendUvarint(b, uint64(n)) }

// Unpacker reads values from bytes in the order in which they were appended. After the first value
// that the bytes do not hold, it returns zero values and Err returns ErrPacked.
type Unpacker struct {
	rest []byte
	err  error
}

// NewUnpacker returns an Unpacker of b.
func NewUnpacker(b []byte) *Unpacker { return &Unpacker{rest: b} }

// More reports whether bytes are left and no value was damaged.
func (u *Unpacker) More() bool { return u.err == nil && len(u.rest) > 0 }

// Err returns ErrPacked if a value was damaged.
func (u *Unpacker) Err() error { return u.err }

// fail sets u.err, since the packed bytes are damaged, and drops the remaining bytes, so that every
// later read fails too.
func (u *Unpacker) fail() {
	u.err = ErrPacked
	u.rest = nil
}

// take returns the next n bytes. It returns nil and sets u.err if there are fewer, or if an earlier
// read failed.
func (u *Unpacker) take(n int) []byte {
	if u.err != nil || n > len(u.rest) {
		u.fail()
		return nil
	}
	b := u.rest[:n]
	u.rest = u.rest[n:]
	return b
}

// Int reads a value that binary.AppendVarint wrote.
func (u *Unpacker) Int() int {
	v, n := binary.Varint(u.rest)
	if n <= 0 {
		u.fail()
		return 0
	}
	u.take(n)
	return int(v)
}

// length reads the length of a list from the packed bytes u.rest, whose elements follow and have at
// least size bytes each. If there is no number, or if the bytes that follow are too few for it, it
// returns 0 and sets u.err.
func (u *Unpacker) length(size int) int {
	v, n := binary.Uvarint(u.rest)
	if n <= 0 || v > uint64(len(u.rest)/size) {
		u.fail()
		return 0
	}
	u.take(n)
	return int(v)
}

func (u *Unpacker) fixed() uint64 {
	b := u.take(8)
	if b == nil {
		return 0
	}
	return binary.LittleEndian.Uint64(b)
}

// Float reads a value that AppendFloat wrote.
func (u *Unpacker) Float() float64 { return math.Float64frombits(u.fixed()) }

// Bytes reads the next n bytes, which are valid until the packed bytes are changed. It returns nil if
// there are fewer.
func (u *Unpacker) Bytes(n int) []byte { return u.take(n) }

// Flag reads a flag that AppendFlag wrote.
func (u *Unpacker) Flag() bool {
	b := u.take(1)
	return b != nil && b[0] != 0
}

// Text reads a text that AppendText wrote.
func (u *Unpacker) Text() string { return string(u.Packed()) }

// Packed reads a text that AppendText wrote, which is valid until the packed bytes are changed.
func (u *Unpacker) Packed() []byte { return u.take(u.length(1)) }

// JSON decodes JSON that AppendText wrote into v.
func (u *Unpacker) JSON(v any) {
	if json.Unmarshal(u.Packed(), v) != nil {
		u.fail()
	}
}

// AppendText appends a text to b.
func AppendText[T string | []byte](b []byte, text T) []byte {
	return append(appendLength(b, len(text)), text...)
}

// AppendFloat appends a number to b.
func AppendFloat(b []byte, f float64) []byte {
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(f))
}

// Sample reads a sample into s. It reuses the lists of s.
func (u *Unpacker) Sample(s *Sample) {
	s.Score = u.Float()
	s.Open.Rise = u.Float()
	s.Open.Fall = u.Float()
	flags := byte(0)
	if b := u.take(1); b != nil {
		flags = b[0]
	}
	s.Evidence = flags&1 != 0
	s.Silent = flags&2 != 0
	s.Axis = arena.Axis(u.Text())
	s.Tallies = s.Tallies[:0]
	for range u.length(2) {
		s.Tallies = append(s.Tallies, Ratio{Part: u.Int(), Whole: u.Int()})
	}
	s.Marks = resize(s.Marks, u.length(1))
	for i := range s.Marks {
		s.Marks[i] = u.marks(s.Marks[i][:0])
	}
	for _, hashes := range [...]*[]uint64{&s.Taken, &s.Unseen, &s.Replies} {
		*hashes = (*hashes)[:0]
		for range u.length(8) {
			*hashes = append(*hashes, u.fixed())
		}
	}
	s.Invented = u.Int()
	s.Begun = int64(u.Int())
	s.Use.Calls = Ratio{Part: u.Int(), Whole: u.Int()}
	s.Use.Order = u.marks(s.Use.Order[:0])
	s.Dialogue = u.fixed()
}

// Append appends t to b.
func (t Trait) Append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(append(b, byte(t.kind)), t.hash)
	b = binary.AppendVarint(b, t.start)
	return binary.AppendVarint(b, int64(t.agent)) //nolint:gosec // Unpacker.Trait converts it back
}

// Trait reads a trait that Trait.Append wrote.
func (u *Unpacker) Trait() Trait {
	t := Trait{}
	if b := u.take(1); b != nil {
		t.kind = traitKind(b[0])
	}
	t.hash = u.fixed()
	t.start = int64(u.Int())
	t.agent = uint64(u.Int()) //nolint:gosec // Append converted it
	return t
}

// Append appends x, which SharedOf returned, to b.
func (x Index) Append(b []byte) []byte {
	b = appendLength(b, len(x.items)+len(x.replies)+len(x.dialogues))
	for id := range x.items {
		b = Trait{kind: traitTaken, hash: id}.Append(b)
	}
	for reply, start := range x.replies {
		b = Trait{kind: traitReply, hash: reply, start: start}.Append(b)
	}
	for dialogue, o := range x.dialogues {
		b = Trait{traitDialogue, dialogue, o.begin, o.agent}.Append(b)
	}
	return b
}

// Index adds to x an index that Index.Append wrote.
func (u *Unpacker) Index(x Index) {
	for range u.length(11) { // a trait has at least as many bytes
		t := u.Trait()
		x.add(t)
		if t.kind == traitDialogue {
			x.dialogues[t.hash] = origin{agent: t.agent, begin: t.start, shared: true}
		}
	}
}

// Append appends o to b.
func (o Odds) Append(b []byte) []byte {
	for _, f := range [...]float64{o.Score, o.Open.Rise, o.Open.Fall} {
		b = AppendFloat(b, f)
	}
	b = AppendFlag(b, o.Evidence)
	return binary.LittleEndian.AppendUint64(b, o.Mask)
}

// Odds reads what Odds.Append wrote.
func (u *Unpacker) Odds() Odds {
	o := Odds{Score: u.Float(), Open: Open{Rise: u.Float(), Fall: u.Float()}}
	o.Evidence = u.Flag()
	o.Mask = u.fixed()
	return o
}

// marks reads marks and appends them to list.
func (u *Unpacker) marks(list []Mark) []Mark {
	for range u.length(16) {
		list = append(list, Mark{Group: u.fixed(), Value: u.fixed()})
	}
	return list
}

// resize returns list with n elements. Elements that lay between its length and its capacity keep
// their old values, so that their memory can be reused.
func resize[T any](list []T, n int) []T {
	for cap(list) < n {
		list = append(list[:cap(list)], *new(T))
	}
	return list[:n]
}

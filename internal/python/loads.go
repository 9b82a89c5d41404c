package python

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// maxDepth is the maximum nesting of a JSON text. In Python, it results from the recursion limit
// of 1,000 frames, some of which the caller has used.
const maxDepth = 990

// DecodeError is the JSONDecodeError of Python's json.loads. Its text is that of Python.
type DecodeError struct {
	Message string
	// Line and Column are counted in characters from 1, Char from 0.
	Line, Column, Char int
}

func (e *DecodeError) Error() string {
	return fmt.Sprintf("%s: line %d column %d (char %d)", e.Message, e.Line, e.Column, e.Char)
}

// maxDigits is the maximum number of digits of an integer that Python converts from text.
const maxDigits = 4300

// Loads returns Python's json.loads(text): one JSON value, where NaN and Infinity are allowed
// and the last of repeated keys counts. The error is a *DecodeError, or has Python's message for
// a text that is nested too deeply or has an integer of too many digits.
func Loads(text string) (Value, error) {
	text = onlyCharacters(text)
	d := decoders.Get().(*decoder)
	defer decoders.Put(d)
	d.text, d.pos = text, 0
	if strings.HasPrefix(text, "\ufeff") {
		return Value{}, d.fail("Unexpected UTF-8 BOM (decode using utf-8-sig)", 0)
	}
	d.space()
	v, err := d.value(0)
	if err != nil {
		return Value{}, err
	}
	d.space()
	if d.pos < len(text) {
		return Value{}, d.fail("Extra data", d.pos)
	}
	return v, nil
}

// decoder parses JSON like CPython's scanner, with the same errors.
type decoder struct {
	text string
	pos  int
	// members has the members of all objects that are being parsed, those of the innermost
	// object last. They are copied when an object ends, so that it takes only the memory that it
	// needs.
	members []Item
}

var decoders = sync.Pool{New: func() any { return &decoder{} }}

func (d *decoder) fail(message string, pos int) error {
	before := d.text[:pos]
	last := strings.LastIndexByte(before, '\n')
	return &DecodeError{
		Message: message,
		Line:    strings.Count(before, "\n") + 1,
		Column:  len(characters(before[last+1:])) + 1,
		Char:    len(characters(before)),
	}
}

func (d *decoder) space() {
	for d.pos < len(d.text) && strings.IndexByte(" \t\n\r", d.text[d.pos]) >= 0 {
		d.pos++
	}
}

func (d *decoder) is(c byte) bool { return d.pos < len(d.text) && d.text[d.pos] == c }

var literals = []struct {
	text  string
	value Value
}{
	{"null", Value{}}, {"true", Boolean(true)}, {"false", Boolean(false)},
	{"NaN", Number(nan)}, {"Infinity", Number(inf)}, {"-Infinity", Number(-inf)},
}

func (d *decoder) value(depth int) (Value, error) {
	if d.pos >= len(d.text) {
		return Value{}, d.fail("Expecting value", d.pos)
	}
	switch d.text[d.pos] {
	case '"':
		s, err := d.str()
		return String(s), err
	case '{':
		if depth >= maxDepth {
			return Value{}, tooDeep("object")
		}
		return d.object(depth)
	case '[':
		if depth >= maxDepth {
			return Value{}, tooDeep("array")
		}
		return d.array(depth)
	}
	for _, l := range literals {
		if strings.HasPrefix(d.text[d.pos:], l.text) {
			d.pos += len(l.text)
			return l.value, nil
		}
	}
	return d.number()
}

func tooDeep(container string) error {
	return fmt.Errorf("maximum recursion depth exceeded while decoding a JSON %s from a unicode string", container)
}

func (d *decoder) array(depth int) (Value, error) {
	values := []Value{}
	err := d.items(']', func() error {
		v, err := d.value(depth + 1)
		values = append(values, v)
		return err
	})
	return ListOf(values...), err
}

func (d *decoder) object(depth int) (Value, error) {
	o := object{start: len(d.members)}
	err := d.items('}', func() error {
		return d.member(&o, depth)
	})
	items := append([]Item{}, d.members[o.start:]...)
	clear(d.members[o.start:])
	d.members = d.members[:o.start]
	return DictOf(items...), err
}

func (d *decoder) items(closing byte, one func() error) error {
	d.pos++
	d.space()
	if d.is(closing) {
		d.pos++
		return nil
	}
	for {
		if err := one(); err != nil {
			return err
		}
		d.space()
		switch {
		case d.is(closing):
			d.pos++
			return nil
		case !d.is(','):
			return d.fail("Expecting ',' delimiter", d.pos)
		}
		d.pos++
		d.space()
	}
}

func (d *decoder) member(o *object, depth int) error {
	if !d.is('"') {
		return d.fail("Expecting property name enclosed in double quotes", d.pos)
	}
	key, err := d.str()
	if err != nil {
		return err
	}
	d.space()
	if !d.is(':') {
		return d.fail("Expecting ':' delimiter", d.pos)
	}
	d.pos++
	d.space()
	v, err := d.value(depth + 1)
	if err != nil {
		return err
	}
	d.set(o, key, v)
	return nil
}

// maxScanned is the number of keys up to which a repeated key of an object is found by linear
// search.
const maxScanned = 16

// object is an object that is being parsed. Its members are those of the decoder from start on.
// place maps keys to positions; it is nil while there are at most maxScanned keys.
type object struct {
	start int
	place map[string]int
}

// set adds a member to the object o. If o has the key already, the member keeps its position and
// gets the new value.
func (d *decoder) set(o *object, key string, v Value) {
	items := d.members[o.start:]
	i, index := o.place[key]
	if o.place == nil {
		i = slices.IndexFunc(items, func(it Item) bool {
			return it.Key == key
		})
		index = i >= 0
	}
	if index {
		items[i].Value = v
		return
	}
	d.members = append(d.members, Item{key, v})
	if o.place == nil && len(items) == maxScanned {
		o.place = make(map[string]int, 2*maxScanned)
		for i, it := range items {
			o.place[it.Key] = i
		}
	}
	if o.place != nil {
		o.place[key] = len(items)
	}
}

func (d *decoder) number() (Value, error) {
	start := d.pos
	if d.is('-') {
		d.pos++
	}
	switch {
	case d.is('0'):
		d.pos++
	case d.digits() == 0:
		return Value{}, d.fail("Expecting value", start)
	}
	fraction := d.part(".", "")
	exponent := d.part("eE", "+-")
	text := d.text[start:d.pos]
	if !fraction && !exponent {
		if digits := len(strings.TrimPrefix(text, "-")); digits > maxDigits {
			return Value{}, fmt.Errorf("Exceeds the limit (%d) for integer string conversion: value has %d digits; "+ //nolint:staticcheck // Python's text
				"use sys.set_int_max_str_digits() to increase the limit", maxDigits, digits)
		}
		if text == "-0" {
			text = "0"
		}
		return Value{Kind: Int, Text: text}, nil
	}
	f, _ := strconv.ParseFloat(text, 64) // out of range gives the infinity that Python gives
	return Number(f), nil
}

// part reads the fraction or the exponent of a number: one of the characters in lead, optionally
// one of those in sign, and digits. It returns false and reads nothing if the part is missing.
func (d *decoder) part(lead, sign string) bool {
	back := d.pos
	if d.pos >= len(d.text) || strings.IndexByte(lead, d.text[d.pos]) < 0 {
		return false
	}
	d.pos++
	if d.pos < len(d.text) && strings.IndexByte(sign, d.text[d.pos]) >= 0 {
		d.pos++
	}
	if d.digits() == 0 {
		d.pos = back
		return false
	}
	return true
}

func (d *decoder) digits() (n int) {
	for d.pos < len(d.text) && d.text[d.pos] >= '0' && d.text[d.pos] <= '9' {
		d.pos++
		n++
	}
	return n
}

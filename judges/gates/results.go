package gates

import (
	"strings"

	"github.com/trajectory-arena/arena"
)

// maxDepth bounds the nesting that is read of a result, maxText the length of
// a string that is read for words: longer ones are descriptions, whose common
// words would make any remark a quote.
const (
	maxDepth = 32
	maxText  = 400
)

// firstResult is the step of the first result; never where there is none.
func firstResult(d *arena.Dialogue) int32 {
	for i := range d.Turns {
		for k := range d.Turns[i].Calls {
			if isEvidence(&d.Turns[i].Calls[k]) {
				return int32(max(d.Turns[i].Step, 0))
			}
		}
	}
	return never
}

// isEvidence reports whether a call brought something new. The answers of
// recommend_product and terminate only repeat the agent's own arguments.
func isEvidence(c *arena.Call) bool {
	return c.Name != "recommend_product" && c.Name != "terminate" && c.Result.Kind() != arena.Absent
}

// readResults reads every result of the steps before last past the shelf's
// index.
func readResults(d *arena.Dialogue, s *shelf, last int32) {
	for i := range d.Turns {
		step := int32(d.Turns[i].Step)
		for k := range d.Turns[i].Calls {
			call := &d.Turns[i].Calls[k]
			if step >= last || !isEvidence(call) {
				continue
			}
			r := resultReader{shelf: s, step: step, text: string(call.Result)}
			if s.lists < 64 {
				r.list = 1 << s.lists
			}
			s.lists++
			if call.Name == "calculate_voucher" {
				r.echo = string(call.Arguments)
			}
			r.value(keyNone, nil, 0)
		}
	}
}

// resultReader walks the JSON of one result without building it.
type resultReader struct {
	shelf *shelf
	step  int32
	list  uint64
	text  string
	at    int
	// echo is the text whose figures the tool only repeats.
	echo string
}

// value reads the value at r.at, which stands under a key of that kind in the
// object item.
func (r *resultReader) value(kind keyKind, item *product, depth int) {
	r.blank()
	if r.at >= len(r.text) {
		return
	}
	switch r.text[r.at] {
	case '{':
		r.object(item, depth+1)
	case '[':
		r.array(kind, item, depth+1)
	case '"':
		r.str(kind, item, r.raw(), depth)
	default:
		r.literal(kind, item)
	}
}

func (r *resultReader) blank() {
	for r.at < len(r.text) && r.text[r.at] <= ' ' {
		r.at++
	}
}

// object reads one object. Where it has an id it is a product; what has none
// belongs to the object around it.
func (r *resultReader) object(outer *product, depth int) {
	r.at++
	var own product
	for r.at < len(r.text) && depth < maxDepth {
		r.blank()
		if r.at >= len(r.text) || r.text[r.at] == '}' {
			break
		}
		if r.text[r.at] != '"' {
			r.at++
			continue
		}
		key := r.raw()
		r.key(key)
		r.blank()
		r.at++
		r.value(kindOf(key), &own, depth)
	}
	r.at++
	if own.id == "" && outer != nil {
		outer.brand = orElse(outer.brand, own.brand)
		return
	}
	r.put(own)
}

func (r *resultReader) array(kind keyKind, item *product, depth int) {
	r.at++
	for r.at < len(r.text) && depth < maxDepth {
		r.blank()
		if r.at >= len(r.text) || r.text[r.at] == ']' {
			break
		}
		if r.text[r.at] == ',' {
			r.at++
			continue
		}
		r.value(kind, item, depth)
	}
	r.at++
}

// raw reads the string at r.at and returns it still escaped.
func (r *resultReader) raw() string {
	start := r.at + 1
	for i := start; i < len(r.text); {
		end := strings.IndexByte(r.text[i:], '"')
		if end < 0 {
			break
		}
		i += end
		back := i
		for back > start && r.text[back-1] == '\\' {
			back--
		}
		if (i-back)%2 == 0 {
			r.at = i + 1
			return r.text[start:i]
		}
		i++
	}
	r.at = len(r.text)
	return r.text[start:]
}

// key reads an object's key: the options of a product stand under their ids.
func (r *resultReader) key(key string) {
	if len(key) >= minID && digitsEnd(key, 0) == len(key) {
		r.shelf.see(key, roleID, r.step)
	}
}

func (r *resultReader) put(p product) {
	if p.id == "" {
		return
	}
	p.step, p.lists = r.step, r.list
	r.shelf.see(p.id, roleID, r.step)
	if p.brand != "" {
		first, _, _ := strings.Cut(p.brand, " ")
		r.wordsOf(first, roleBrand, roleBrand)
	}
	r.shelf.put(p)
}

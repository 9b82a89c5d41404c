package outcome

import (
	"strings"
	"sync"

	"github.com/tidwall/gjson"
)

// kept is how many documents stay read: agents of one day recommend the same
// few thousand products over and over, at about 3 KB each.
const kept = 1 << 13

// documents are products as the rules read them. When enough are kept, keeping
// starts anew. Documents are never changed.
type documents struct {
	from Products
	mu   sync.RWMutex
	read map[string]object
}

// document is the product with this id; nil where the catalogue has none.
func (d *documents) document(id string) object {
	d.mu.RLock()
	known, ok := d.read[id]
	d.mu.RUnlock()
	if ok {
		return known
	}
	p, ok := d.from.Product(id)
	if !ok {
		return nil
	}
	o := pick(gjson.Parse(string(p.Raw)), productKeys...)
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.read) >= kept {
		clear(d.read)
	}
	d.read[strings.Clone(id)] = o // id is a piece of its trace's text, which may go
	return o
}

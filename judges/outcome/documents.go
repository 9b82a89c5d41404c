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
	read map[string]*document
}

// document is a product of the catalogue.
type document struct {
	// fields are those that rules read beside the options; id is its product_id,
	// nameless why there is none.
	fields   value
	id       value
	nameless error
	options  options
	// fault says why its options cannot be read. It counts only where the rules
	// come to them.
	fault error
}

// document is the product with this id; nil where the catalogue has none.
func (d *documents) document(id string) *document {
	d.mu.RLock()
	known, ok := d.read[id]
	d.mu.RUnlock()
	if ok {
		return known
	}
	text, ok := d.from.Document(id)
	if !ok {
		return nil
	}
	read := readDocument(gjson.Parse(string(text)))
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.read) >= kept {
		clear(d.read)
	}
	d.read[strings.Clone(id)] = read // id is a piece of its trace's text, which may go
	return read
}

func readDocument(text gjson.Result) *document {
	d := &document{fields: pick(text, "product_id", "shop_id", "title", "price", "service")}
	d.id, d.nameless = get(d.fields, "product_id")
	d.options, d.fault = readOptions(pick(text, "attributes", "sku_options"))
	return d
}

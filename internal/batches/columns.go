package batches

import "fmt"

// Fields of the tables Schema, Field, DictionaryEncoding and KeyValue.
const (
	schemaFields   = 1
	schemaMetadata = 2

	fieldName       = 0
	fieldKind       = 2
	fieldType       = 3
	fieldDictionary = 4
	fieldChildren   = 5
	fieldMetadata   = 6

	dictionaryID = 0

	pairKey   = 0
	pairValue = 1
)

// The kinds of columns that have more in their type than numbers, or more in a
// batch than a fixed number of buffers, and where.
const (
	kindTimestamp  = 10
	kindUnion      = 14
	kindBinaryView = 23
	kindTextView   = 24

	timestampZone = 1
	unionCodes    = 1
)

const (
	// deepest nesting of columns, which is also that of the reader beneath.
	deepest = 64
	// mostItems is the number of columns, with those inside of them, and of notes
	// on them. The reader beneath takes up to a kilobyte for each in every batch.
	mostItems = 1 << 16
)

// needs is what a batch must have for a column: descriptions of it and of those
// inside of it, and numbers of buffers for those that have any number.
type needs struct{ nodes, counts int }

func (n *needs) add(more needs) {
	n.nodes += more.nodes
	n.counts += more.counts
}

// columns walks the columns' names and types. Its parts may stand in more than one
// place, so that few bytes can be columns without end.
type columns struct {
	items, text  int
	batch        needs
	dictionaries map[int64]needs
}

func columnsOf(schema table) (columns, error) {
	c := columns{dictionaries: map[int64]needs{}}
	err := schema.tables(schemaFields, func(field table) error {
		n, err := c.field(field, 1)
		c.batch.add(n)
		return err
	})
	if err != nil {
		return c, err
	}
	return c, c.pairs(schema, schemaMetadata)
}

func (c *columns) field(t table, depth int) (needs, error) {
	if depth > deepest {
		return needs{}, fmt.Errorf("%w: its columns are nested too deeply", ErrBroken)
	}
	own := needs{nodes: 1}
	items, text := 1, t.textLen(fieldName)
	if kind, ok := t.child(fieldType); ok {
		switch t.byte(fieldKind) {
		case kindTimestamp:
			text += kind.textLen(timestampZone)
		case kindUnion:
			_, n := kind.vector(unionCodes, 4)
			items += n
		case kindBinaryView, kindTextView:
			own.counts = 1
		}
	}
	if err := c.count(items, text); err != nil {
		return own, err
	}
	if err := c.pairs(t, fieldMetadata); err != nil {
		return own, err
	}
	err := t.tables(fieldChildren, func(child table) error {
		n, err := c.field(child, depth+1)
		own.add(n)
		return err
	})
	if dictionary, ok := t.child(fieldDictionary); ok {
		c.dictionaries[dictionary.long(dictionaryID)] = own
		return needs{nodes: 1}, err
	}
	return own, err
}

func (c *columns) pairs(t table, field int) error {
	return t.tables(field, func(pair table) error {
		return c.count(1, pair.textLen(pairKey)+pair.textLen(pairValue))
	})
}

func (c *columns) count(items, text int) error {
	c.items, c.text = c.items+items, c.text+text
	if c.items > mostItems || c.text > mostMeta {
		return fmt.Errorf("%w: it has more columns than are read", ErrBroken)
	}
	return nil
}

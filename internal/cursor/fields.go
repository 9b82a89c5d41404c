package cursor

import (
	"fmt"

	"github.com/trajectory-arena/arena"
)

// Fields says where the members of an object go, by name: into a *string, a
// *arena.Raw, what AsID gives, Fields of an object within, or to a func() that
// takes the value. Members without a place are stepped over. It suits records
// that are read seldom: those read by the million take Object.
type Fields map[string]any

type asID struct{ to *string }

// AsID is the place of an id, which may be written as a number.
func AsID(to *string) any { return asID{to} }

// Fields takes an object; of a name that comes twice the last value counts. A
// value of another type is stepped over and gives false.
func (c *Cursor) Fields(f Fields) bool {
	return c.Object(func(key string) {
		switch to := f[key].(type) {
		case nil:
			c.Skip()
		case *string:
			*to, _ = c.String()
		case *arena.Raw:
			*to = c.Raw()
		case asID:
			*to.to, _ = c.ID()
		case Fields:
			c.Fields(to)
		case func():
			to()
		default:
			panic(fmt.Sprintf("take %q into a %T", key, to))
		}
	})
}

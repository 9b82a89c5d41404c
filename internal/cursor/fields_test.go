package cursor_test

import (
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/cursor"
)

// TestFieldsTakeWhatIsTheirs: of a name that comes twice the last value counts,
// what has another type leaves its place empty, and the rest is stepped over.
func TestFieldsTakeWhatIsTheirs(t *testing.T) {
	t.Parallel()
	var id, text, wrong, within string
	var raw arena.Raw
	called := 0
	c := cursor.New(`{"id":12345678901234567890,"text":"a","text":"b","wrong":1,"raw":[1, 2],"in":{"x":"y","z":{}},"f":true,"else":[{}],"in":7}`,
		cursor.Limits{Depth: 9, StringBytes: 99, Elements: 9})
	ok := c.Fields(cursor.Fields{
		"id": cursor.AsID(&id), "text": &text, "wrong": &wrong, "raw": &raw, "in": cursor.Fields{"x": &within},
		"f": func() { c.Skip(); called++ },
	})
	if err := c.End(); !ok || err != nil {
		t.Fatalf("%v, %v", ok, err)
	}
	if id != "12345678901234567890" || text != "b" || wrong != "" || raw != "[1, 2]" || within != "y" || called != 1 {
		t.Errorf("id %s, text %s, wrong %q, raw %s, within %s, %d calls", id, text, wrong, raw, within, called)
	}
	if c.Next(`[]`); c.Fields(cursor.Fields{}) {
		t.Error("a list was taken as an object")
	}
}

package evidence

import "github.com/trajectory-arena/arena"

// Tokens counts a dialogue's tokens as a quarter of its rendered UTF-8 bytes,
// rounded up: the counter of this project until it is given a tokenizer.
func Tokens(d *arena.Dialogue) int {
	n := 0
	for i := range d.Turns {
		t := &d.Turns[i]
		n += len(t.User) + len(t.Think) + len(t.Text)
		for j := range t.Calls {
			c := &t.Calls[j]
			n += len(c.Name) + len(c.Arguments) + len(c.Result)
		}
	}
	return (n + 3) / 4
}

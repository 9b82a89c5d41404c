package traces

import "hash/maphash"

// stdinRun is the run of records from standard input that name none.
const stdinRun = "stdin"

// runDigits is how many digits of a file's sha256 name the run that it is: 64
// bits tell more files apart than a day can have.
const runDigits = 16

// ownRun is the run of the input's records where nothing names one: the file
// itself, by its content, so that neither its path nor its name decides.
func (in *Input) ownRun() string {
	if in.Name == Stdin {
		return stdinRun
	}
	return "file-" + in.SHA256[:runDigits]
}

// Collisions finds attempts of other content under an id that is taken: two runs
// bear one name, or one run tried a problem twice. Copies do not collide. The zero
// value is ready; it is not safe for use by several goroutines.
type Collisions struct {
	seen map[uint64]uint64
}

var collisionSeed = maphash.MakeSeed()

// Add takes in the attempt of that id and record hash, and reports whether it
// collides with the first of its id.
func (c *Collisions) Add(id, record string) bool {
	if c.seen == nil {
		c.seen = map[uint64]uint64{}
	}
	key, content := maphash.String(collisionSeed, id), maphash.String(collisionSeed, record)
	first, taken := c.seen[key]
	if !taken {
		c.seen[key] = content
	}
	return taken && first != content
}

package reply

import (
	"strings"

	"github.com/trajectory-arena/arena/internal/text"
)

// maxRefusal is the longest text, in bytes, that is taken for a refusal: real
// ones are a sentence or three, a longer text is an answer gone astray.
const maxRefusal = 800

// refuses reports whether a reply is a refusal, conservatively: it is short,
// says so in its first words, and holds no object. A reply that says so anywhere
// else may be quoting the trajectory.
func refuses(said string) bool {
	said = strings.TrimSpace(said)
	return len(said) <= maxRefusal && !strings.ContainsRune(said, '{') && text.Refuses(said)
}

package guard

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/internal/longtest"
)

// slip returns a text with a typing error in up to n of its words of at least four letters: an
// adjacent letter of the keyboard, two letters swapped, one omitted, or one doubled.
func slip(r *rand.Rand, text string, n int) string {
	const keyboard = "qwertyuiop asdfghjkl zxcvbnm"
	words := strings.Split(text, " ")
	for _, i := range r.Perm(len(words)) {
		w := []byte(words[i])
		k := 1
		if n == 0 || len(w) < 4 || strings.Trim(strings.ToLower(words[i]), "abcdefghijklmnopqrstuvwxyz,.") != "" {
			continue
		}
		k += r.IntN(len(w) - 3)
		switch r.IntN(4) {
		case 0:
			w[k] = keyboard[max(1, strings.IndexByte(keyboard, w[k]))-1]
		case 1:
			w[k], w[k-1] = w[k-1], w[k]
		case 2:
			w = slices.Delete(w, k, k+1)
		case 3:
			w = slices.Insert(w, k, w[k])
		}
		words[i] = string(w)
		n--
	}
	return strings.Join(words, " ")
}

// TestSlipsOfTheFinger checks that at least 95 % of requests with two to four typing errors are
// found, in delivery terms and bounds too, and that an unknown name next to a function word remains
// a name.
func TestSlipsOfTheFinger(t *testing.T) {
	t.Parallel()
	bank, _ := readRewordings(t)
	if longtest.SharedFolder() != "" {
		bank = publicBank(t)
	}
	g := newTestGuard(t, bank)
	c := newTally()
	r := rand.New(rand.NewPCG(44, 1))
	for _, e := range bank {
		c.add("slips", e.ID, g.Check(Candidate{Text: slip(r, e.Text, 2+r.IntN(3))}))
	}
	c.print(t)
	c.atLeast(t, "dropped", c.drop, "slips", 0.95)

	g = newTestGuard(t, []Entry{{ID: "food", Text: "Hello, show me adult dog food for any size of dogs from yaguy with free delivery, priced from 88 to 99 pesos."}})
	for text, isSame := range map[string]bool{
		"Hello, shwo me adult dog foood for any size of dogs from yaguy with free delivrey, priced form 88 to 99 pesos.": true,
		"Hello, show me adult dog food for any size of dogs from hella with free delivery, priced from 88 to 99 pesos.":  false,
	} {
		if f := g.Check(Candidate{Text: text}); f.Same != isSame {
			t.Errorf("%q: same is %v: %s", text, f.Same, f.Evidence)
		}
	}
}

package guard

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestGrams holds that runs of words of normalised texts are equal if and only if their hashes are.
func TestGrams(t *testing.T) {
	pieces := strings.Split("Bag|bag|a|1.5|15|.5|5%|%|5%%|1,000| | | | |\n|-|.|é|E\u0301|ﬁ|İ|K|٣|\xff|ẞ|½", "|")
	random := rand.New(rand.NewPCG(1, 2))
	texts := map[uint64]string{}
	hashes := map[string]uint64{}
	for range 20_000 {
		var b strings.Builder
		for range random.IntN(60) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		words := strings.Fields(normalised(b.String()))
		for hash := range grams(b.String()) {
			run := strings.Join(words[:min(gramWords, len(words))], " ")
			words = words[1:]
			if texts[hash] == "" && hashes[run] == 0 {
				texts[hash] = run
				hashes[run] = hash
			}
			if texts[hash] != run || hashes[run] != hash {
				t.Fatalf("in %q: the hash of %q is also that of %q", b.String(), run, texts[hash])
			}
		}
		if len(words) >= gramWords {
			t.Fatalf("%q has more runs than hashes", b.String())
		}
	}
}

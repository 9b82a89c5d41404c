package gates_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/trajectory-arena/arena/judges/shop/gates"
)

// answersOfVersion is the judge's name with a hash of its word lists and answers.
const answersOfVersion = "gates_v5 e9155ce858835fc2"

// TestVersionChangesWithTheAnswers holds that a change of the word lists or of an answer has a new
// version: grades of one name are then by one set of rules. The answers are grades and
// citations of the labelled cases of testdata that the judge's author wrote.
func TestVersionChangesWithTheAnswers(t *testing.T) {
	t.Parallel()
	hash := sha256.New()
	files, err := filepath.Glob("lexicon/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(hash, "%s %x\n", file, sha256.Sum256(b))
	}
	for _, set := range sets {
		for _, c := range casesOf(t, set) {
			j := gates.Judge(c.trace, c.dialogue)
			fmt.Fprintf(hash, "%s %.1f %+v\n", c.name, *j.Score, j.Spans)
		}
	}
	got := fmt.Sprintf("%s %x", gates.Name, hash.Sum(nil)[:8])
	if got != answersOfVersion {
		t.Errorf("the word lists and answers are %q, not %q: raise Name, measure the domains again, and write the new answers here", got, answersOfVersion)
	}
}

package guard

import (
	"crypto/sha256"
	"fmt"
	"testing"
)

// answersOfVersion is the version of the detector of reworded requests with a hash of its answers.
const answersOfVersion = "lexical_v11 c2de49e2f8c92def"

// TestVersionChangesWithTheAnswers holds that a change of the detector's answers has a new version.
// The figures that domains list under "measured" hold for one version and are measured again for
// the next.
func TestVersionChangesWithTheAnswers(t *testing.T) {
	t.Parallel()
	hash := sha256.New()
	for _, file := range []string{"rewordings", "kinds"} {
		bank, texts := readTexts(t, "testdata/"+file+".txt")
		g := newTestGuard(t, bank)
		for _, r := range texts {
			f := g.checkLexical(r.text, 0)
			fmt.Fprintf(hash, "%t %t %.6f\n", f.Drop, f.Same, f.Score)
		}
		for _, text := range statementLines("honest") {
			f := g.checkLexical(text, 0)
			fmt.Fprintf(hash, "%t %t %.6f\n", f.Drop, f.Same, f.Score)
		}
	}
	got := fmt.Sprintf("%s %x", RewordingsVersion, hash.Sum(nil)[:8])
	if got != answersOfVersion {
		t.Errorf("the answers of the detector are %q, not %q: raise RewordingsVersion, measure the domains again, and write the new answers here", got, answersOfVersion)
	}
}

package checks

import (
	"slices"
	"testing"
)

// TestStemsArePartsOfAllWords: no order is passed over for want of a stem.
func TestStemsArePartsOfAllWords(t *testing.T) {
	t.Parallel()
	for _, word := range slices.Concat(judgeWords, forgetWords) {
		if !anyOf(word, stems) {
			t.Errorf("no stem is part of %q", word)
		}
	}
}

package checks

import (
	"slices"
	"testing"
)

// TestStemsCoverAllWords checks that every word contains a stem, so that no order is missed.
func TestStemsCoverAllWords(t *testing.T) {
	t.Parallel()
	for _, word := range slices.Concat(judgeWords, forgetWords) {
		if !containsAny(word, stems) {
			t.Errorf("%q contains no stem", word)
		}
	}
}

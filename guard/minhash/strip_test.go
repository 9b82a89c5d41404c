package minhash

import (
	"testing"

	"github.com/trajectory-arena/arena/shop"
)

func TestStripKeepsDialogue(t *testing.T) {
	t.Parallel()
	s := NewStripper([]string{"You are a shop assistant.", " "}, shop.RemoveTerms)
	voucher := "Green tea, 20 bags.\n\nMy budget is only `90`, but I have a voucher with the following rules:\n1. The voucher applies to all products.\n2. It is valid only when the total price of the products exceeds `40`.\n3. It provides a fixed discount of `9`."
	for doc, want := range map[string]string{
		"You are a shop assistant.":             "You are a shop assistant.",
		"You are a shop assistant. Find tea.":   "\n Find tea.",
		"I have a voucher, is green tea there?": "I have a voucher, is green tea there?",
		voucher:                                 "Green tea, 20 bags.\n\n\n\n\n",
	} {
		if got := s.Strip(doc); got != want {
			t.Errorf("%q became %q, want %q", doc, got, want)
		}
	}
}

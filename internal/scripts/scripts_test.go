package scripts

import (
	"testing"
	"unicode"
)

func TestSignsOfOtherScripts(t *testing.T) {
	t.Parallel()
	for _, r := range "?\u037e՞؟፧？" {
		if !IsQuestionMark(r) {
			t.Errorf("%U is no question mark", r)
		}
	}
	for _, r := range "¿!.,;؛" {
		if IsQuestionMark(r) {
			t.Errorf("%U is a question mark", r)
		}
	}
	for _, r := range ".!?\u037e؟۔。！？。।։።፧" {
		if !EndsSentence(r) {
			t.Errorf("%U ends no sentence", r)
		}
	}
	for _, r := range ",;،؛、，；：" {
		if EndsSentence(r) || !EndsClause(r) {
			t.Errorf("%U: ends a sentence %v, a clause %v", r, EndsSentence(r), EndsClause(r))
		}
	}
	for _, zero := range "0٠۰०๐０" {
		for value := range rune(10) {
			if got := ASCIIDigit(zero + value); got != '0'+value {
				t.Errorf("%U is read as %c", zero+value, got)
			}
		}
	}
	if ASCIIDigit('²') != '²' || unicode.IsDigit('²') {
		t.Error("a superscript is read as a digit")
	}
}

package text

import "unicode"

// Ignorable reports whether a rune is one that leaves nothing to see in a text:
// zero-width blanks and joiners, soft hyphens, variation selectors, tags
// (Default_Ignorable_Code_Point of the Unicode Character Database).
func Ignorable(r rune) bool {
	return r >= 0xAD && unicode.In(r, ignorable...) && !unicode.In(r, visible...)
}

// ignorable without visible derive the property as DerivedCoreProperties.txt
// says.
var (
	ignorable = []*unicode.RangeTable{unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector}
	visible   = []*unicode.RangeTable{unicode.Prepended_Concatenation_Mark, {
		R16: []unicode.Range16{{Lo: 0xFFF9, Hi: 0xFFFB, Stride: 1}},
		R32: []unicode.Range32{{Lo: 0x13430, Hi: 0x1345F, Stride: 1}},
	}}
)

// Ignorables calls see for every rune that is ignorable, in no order.
func Ignorables(see func(rune)) {
	for _, table := range ignorable {
		for _, x := range table.R16 {
			eachIgnorable(rune(x.Lo), rune(x.Hi), rune(x.Stride), see)
		}
		for _, x := range table.R32 {
			eachIgnorable(rune(x.Lo), rune(x.Hi), rune(x.Stride), see)
		}
	}
}

func eachIgnorable(lo, hi, stride rune, see func(rune)) {
	for r := lo; r <= hi; r += stride {
		if Ignorable(r) {
			see(r)
		}
	}
}

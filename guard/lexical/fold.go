package lexical

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// foldText prepares text for reading: compatibility forms, lower case, Latin
// letters without accents, plain quotes and dashes, the peso sign as a word.
func foldText(text string) string {
	if isASCII(text) && !strings.Contains(text, "`") {
		return strings.ToLower(text)
	}
	text = strings.ToLower(norm.NFKC.String(strings.ToValidUTF8(text, " ")))
	var b strings.Builder
	b.Grow(len(text))
	for _, r := range text {
		foldRune(&b, r)
	}
	return b.String()
}

func foldRune(b *strings.Builder, r rune) {
	switch r {
	case '’', '‘', '´':
		b.WriteByte('\'')
	case '`':
		b.WriteByte(' ')
	case '–', '—', '−', '‐', '‑', '~', '～', '〜':
		b.WriteByte('-')
	case '₱':
		b.WriteString(" php ")
	case '€':
		b.WriteString(" eur ")
	case '£':
		b.WriteString(" gbp ")
	case '¥':
		b.WriteString(" jpy ")
	case 'ß':
		b.WriteString("ss")
	case 'ø':
		b.WriteByte('o')
	case '。', '、', '；':
		b.WriteByte('.')
	default:
		if r < utf8.RuneSelf || !unicode.Is(unicode.Latin, r) {
			if !unicode.Is(unicode.Mn, r) || r > 0x36F {
				b.WriteRune(r)
			}
			return
		}
		for _, part := range norm.NFD.String(string(r)) {
			if !unicode.Is(unicode.Mn, part) {
				b.WriteRune(part)
			}
		}
	}
}

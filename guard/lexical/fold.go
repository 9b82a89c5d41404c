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

// endings are suffixes and what replaces them, the longest of a kind first.
var endings = [...]struct{ cut, put string }{
	{"iness", "y"}, {"ies", "y"}, {"sses", "ss"}, {"ized", "iz"}, {"ised", "iz"}, {"izing", "iz"}, {"ising", "iz"},
	{"ations", "at"}, {"ation", "at"}, {"ings", ""}, {"ing", ""}, {"edly", ""}, {"ally", "al"}, {"ly", ""},
	{"ers", ""}, {"er", ""}, {"ors", ""}, {"or", ""}, {"ches", "ch"}, {"shes", "sh"}, {"xes", "x"},
	{"ed", ""}, {"es", "e"}, {"s", ""},
}

// minStem is the least length that cutting an ending may leave.
const minStem = 3

// stem cuts the endings that a rewording changes. It is coarser than a
// linguist's: "printer" and "printing" meet, which costs less than a missed
// paraphrase.
func stem(w string) string {
	if len(w) > 4 {
		w = strings.ReplaceAll(w, "our", "or")
	}
	if len(w) > 3 && !isDigit(w[len(w)-1]) {
		w = cutEnding(w)
	}
	if len(w) > 4 && w[len(w)-1] == 'e' {
		w = w[:len(w)-1]
	}
	if n := len(w); n > 3 && w[n-1] == w[n-2] && !strings.ContainsRune("aeiouls", rune(w[n-1])) {
		w = w[:n-1]
	}
	return w
}

func cutEnding(w string) string {
	for _, e := range endings {
		if !strings.HasSuffix(w, e.cut) || len(w)-len(e.cut)+len(e.put) < minStem {
			continue
		}
		if e.cut == "s" && (strings.HasSuffix(w, "ss") || strings.HasSuffix(w, "us") || strings.HasSuffix(w, "is")) {
			continue
		}
		return w[:len(w)-len(e.cut)] + e.put
	}
	return w
}

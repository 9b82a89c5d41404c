package lexical

import (
	"slices"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/internal/text"
)

// TestAWordIsTranslatedBesideOthersOfItsLanguage reads words that English has too, in English and in
// another language.
func TestAWordIsTranslatedBesideOthersOfItsLanguage(t *testing.T) {
	t.Parallel()
	x := New([]Request{
		{Text: "Looking for pink hair clips, a diaper, a bicycle bell and wood glue in a bowl"},
	})
	for text, isTranslated := range map[string]bool{
		"a bouquet of red roses for my mother": false,
		"Velo nicotine pouches in a brass tin": false,
		"cola in cans, 330 ml":                 false,
		"Bols blue curacao liqueur":            false,
		"pinces a cheveux roses pour fille":    true,
		"une sonnette pour le velo":            true,
		"cola para madeira com frete gratis":   true,
		"un bol pour la cuisine":               true,
	} {
		p := x.read(text, x.newScratch())
		got := slices.ContainsFunc(p.words, func(w *word) bool {
			return w != nil && w.untranslated != nil
		})
		if got != isTranslated {
			t.Errorf("%q: translated is %v, want %v", text, got, isTranslated)
		}
	}
}

// TestTranslations reads words with endings, prefixes and in compounds that the lexicon lacks.
func TestTranslations(t *testing.T) {
	t.Parallel()
	l := loadLexicon()
	for w, want := range map[string]string{
		"lampen": "lamp", "mochilas": "backpack", "fusspflege": "foot", "красными": "red", "والحقيبة": "bag", "लाइटें": "light",
		"zuckerfrei": "", "windmill": "",
	} {
		got := l.translations(w)
		isRight := slices.Contains(got, want)
		if want == "" {
			isRight = got == nil
		}
		if !isRight {
			t.Errorf("%s: %q, want %q", w, got, want)
		}
	}
}

// TestScriptsWithoutBlanks splits texts of scripts in which words follow one another.
func TestScriptsWithoutBlanks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"コットン製の新生児用セット":        "コットン 製 の 新生児 用 セット",
		"블렌더를 보여줘":             "블렌더 를 보여줘",
		"หาไฟสวน ส่งฟรี":       "หา ไฟ สวน svcfree",
		"価格は65 PHPを超える":        "価 格 は [>65]",
		"💡 with 💵 on delivery": "light bulb with svccod",
	} {
		if got := spell(text); got != want {
			t.Errorf("%q\n  read %q\n  want %q", text, got, want)
		}
	}
}

// TestSpelledLettersAreCut holds that letters with blanks between them become words of limited length: the
// search for typing errors takes time quadratic in the length.
func TestSpelledLettersAreCut(t *testing.T) {
	t.Parallel()
	const n = 10_000
	for _, text := range []string{strings.Repeat("a ", n), strings.Repeat("r e d ", n/3), strings.Repeat("ก", n)} {
		tokens := parse(text)
		total := 0
		for i := range tokens {
			if len(tokens[i].text) > maxWord {
				t.Fatalf("%.20s…: a word of %d bytes", text, len(tokens[i].text))
			}
			total += len(tokens[i].text)
		}
		if total < n-2 {
			t.Errorf("%.20s…: %d of %d bytes are left", text, total, n)
		}
	}
}

// TestFormsOfWords compares words that differ in their endings.
func TestFormsOfWords(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{
		{"decoration", "decorative"},
		{"reflective", "reflection"},
		{"lubricant", "lubrication"},
		{"magnetised", "magnetic"},
		{"stabilizer", "stabilisation"},
		{"compression", "compressive"},
		{"purifying", "purification"},
	} {
		if !areForms(pair[0], pair[1]) {
			t.Errorf("%q are no forms of one word", pair)
		}
	}
	for _, pair := range [][2]string{{"fiberglass", "fiber"}, {"station", "static"}} {
		if areForms(pair[0], pair[1]) {
			t.Errorf("%q are forms of one word", pair)
		}
	}
}

// TestOneEditIsADistanceOfOneOrASwap compares all pairs of words of three letters, up to four long,
// with the edit distance.
func TestOneEditIsADistanceOfOneOrASwap(t *testing.T) {
	t.Parallel()
	words := []string{""}
	for i := 0; len(words[i]) < 4; i++ {
		words = append(words, words[i]+"a", words[i]+"b", words[i]+"c")
	}
	for _, a := range words {
		for _, b := range words {
			if want := text.Distance(a, b) == 1 || isSwap(a, b); isOneEdit(a, b) != want {
				t.Errorf("%q and %q: one edit apart is %v, want %v", a, b, !want, want)
			}
		}
	}
}

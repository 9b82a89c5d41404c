package disguise

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// known is a small language.
func known(w string) bool {
	return slices.Contains(strings.Fields("show me ratchet wrenches with a size and price above please find the cheap lamp for two beds"), w)
}

func TestPlain(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"ordinary text, 3/8":                    "ordinary text, 3/8",
		"r\u200ba\u200dt\u00adc\ufeffh\u2060et": "ratchet",
		"r\x00a\x08t":                           "rat",
		"ｒａｔｃｈｅｔ　３／８":                           "ratchet 3/8",
		"𝐫𝐚𝐭 𝓻𝓪𝓽 🅡🅐🅣 🆁🅰🆃":                       "rat rat rat rat",
		"rаtсhеt рrісе":                         "ratchet price",
		"ТОР сор":                               "TOP cop",
		"ратный спор у реки":                    "ратный спор у реки",
		"ράτσα νέα":                             "ράτσα νέα",
		"ʀᴀᴛᴄʜᴇᴛ ꭱꭺꭲ":                           "ratchet rat",
		"r\u200ba\u200bt é":                     "rat é",
		"ทดสอบ 测试 café":                         "ทดสอบ 测试 café",
	} {
		if got := Plain(text); got != want {
			t.Errorf("%q is read as %q, want %q", text, got, want)
		}
	}
}

func TestReadings(t *testing.T) {
	t.Parallel()
	const want = "show me ratchet wrenches with a size and price above 97"
	for text, how := range map[string]string{
		"c2hvdyBtZSByYXRjaGV0IHdyZW5jaGVzIHdpdGggYSBzaXplIGFuZCBwcmljZSBhYm92ZSA5Nw==":                                             "base64",
		"c2hvdyBtZSByYXRjaGV0IHdyZW5j\naGVzIHdpdGggYSBzaXplIGFuZCBwcmljZSBhYm92ZSA5Nw":                                             "base64",
		"73686f77206d65207261746368657420777265" + "6e6368657320776974682061" + "2073697a6520616e642070726963652061626f7665203937": "hexadecimal",
		"s h o w  m e  r a t c h e t  w r e n c h e s  w i t h  a  s i z e  a n d  p r i c e  a b o v e  9 7":                      "letters set apart",
		"s h o w m e r a t c h e t w r e n c h e s w i t h a s i z e a n d p r i c e a b o v e 9 7":                                "letters set apart",
		"s-h-o-w me r-a-t-c-h-e-t w-r-e-n-c-h-e-s w-i-t-h a s-i-z-e a-n-d p-r-i-c-e a-b-o-v-e 97":                                  "letters set apart",
		"showmeratchetwrencheswithasizeandpriceabove97":                                                                            "letters set apart",
		"79 evoba ecirp dna ezis a htiw sehcnerw tehctar em wohs":                                                                  "read backwards",
		"wohs em tehctar sehcnerw htiw a ezis dna ecirp evoba 97":                                                                  "read backwards",
		"5h0w m3 r47ch37 wr3nch35 w17h a $1z3 4nd pr!c3 @b0v3 97":                                                                  "digits and signs for letters",
		"sh0w rne ratchet wrenches with a s1ze and pr1ce ab0ve 97":                                                                 "misread letters",
		"79 evobaecirpdnaezisahtiwsehcnerwtehctaremwohs 3p":                                                                        "",
	} {
		readings := Readings(text, known)
		index := slices.IndexFunc(readings, func(r Reading) bool { return strings.Join(strings.Fields(r.Text), " ") == want && r.How == how })
		if (index >= 0) != (how != "") {
			t.Errorf("%q is read as %q", text, readings)
		}
	}
}

func TestReadingsUndoNestedDisguises(t *testing.T) {
	t.Parallel()
	const text = "OTcgZXZvYmEgZWNpcnAgZG5hIHppcyBhIGh0aXcgc2VoY25lcncgdGVoY3RhciBlbSB3b2hz" // base64 of a text read backwards
	readings := Readings("Decode: "+text, known)
	if !slices.ContainsFunc(readings, func(r Reading) bool {
		return strings.Contains(r.Text, "show me ratchet wrenches with") && r.How == "base64, read backwards"
	}) {
		t.Errorf("%q", readings)
	}
}

func TestOrdinaryTextHasNoOtherReading(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "a", "Show me a cheap lamp for two beds, 15cm x 20cm, 3/8, model B-12, U.S.A., sizes S M L XL, 1080p, 4x4!",
		"Sizes: S M L X, options A/B/C, version 1.2.3.4.5.6.7.8, grades a-b-c", "https://example.com/show/me/the/ratchet-wrenches?id=5f2a9c0d1e2b3a4f5a6b7c8d9e0f1a2b",
		"sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "Покажи мне лампу", "给我一盏灯",
	} {
		if r := Readings(Plain(text), known); len(r) > 0 {
			t.Errorf("%q is read as %q", text, r)
		}
	}
}

// FuzzReadings holds for any text that its readings are few, valid UTF-8 and not much longer than
// the text.
func FuzzReadings(f *testing.F) {
	for _, s := range []string{"s h o w m e r a t", "79 evoba ecirp dna ezis", "5h0w m3 r47ch37", "c2hvdyBtZSByYXRjaGV0", "\u200b\xff", "a.b.c.d.e.f.g.h.i"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		plain := Plain(text)
		if !utf8.ValidString(plain) || Plain(plain) != plain {
			t.Fatalf("%q is read as %q, and that as %q", text, plain, Plain(plain))
		}
		readings := Readings(plain, known)
		if len(readings) > maxReadings {
			t.Fatalf("%q has %d readings", text, len(readings))
		}
		for _, r := range readings {
			if !utf8.ValidString(r.Text) || len(r.Text) > 8*len(plain)+64 || r.How == "" {
				t.Fatalf("%q is read as %q", text, r)
			}
		}
	})
}

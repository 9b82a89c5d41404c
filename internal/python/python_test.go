package python

import (
	"math"
	"strings"
	"testing"
)

func TestLoadsThenDumps(t *testing.T) {
	t.Parallel()
	cases := []struct{ input, dumps, repr string }{
		{`{"q": "men's", "page": 1}`, `{"q": "men's", "page": 1}`, `{'q': "men's", 'page': 1}`},
		{`{"a":1,"b":2,"a":3}`, `{"a": 3, "b": 2}`, `{'a': 3, 'b': 2}`},
		{`[1.0, 1e16, 1e-7, 123456789012345678901, -0, -0.0]`, `[1.0, 1e+16, 1e-07, 123456789012345678901, 0, -0.0]`, `[1.0, 1e+16, 1e-07, 123456789012345678901, 0, -0.0]`},
		{`[NaN, Infinity, -Infinity, null, true, false]`, `[NaN, Infinity, -Infinity, null, true, false]`, `[nan, inf, -inf, None, True, False]`},
		{`"\u00e9\ud83d\ude00\n"`, `"\u00e9\ud83d\ude00\n"`, `'é😀\n'`},
		{`"lone \ud83d"`, `"lone \ud83d"`, `'lone \ud83d'`},
		{`"both ' and \""`, `"both ' and \""`, `'both \' and "'`},
		{`"\u200b\u007f\u00a0"`, `"\u200b\u007f\u00a0"`, `'\u200b\x7f\xa0'`},
		{"1e400", "Infinity", "inf"},
		{`"🥷🫶"`, `"\ud83e\udd77\ud83e\udef6"`, `'🥷\U0001faf6'`}, // of Unicode 13 and of 14
	}
	for _, c := range cases {
		v, err := Loads(c.input)
		if err != nil {
			t.Errorf("%s: %v", c.input, err)
			continue
		}
		if got := Dumps(v); got != c.dumps {
			t.Errorf("dumps(%s) = %s, want %s", c.input, got, c.dumps)
		}
		if got := Repr(v); got != c.repr {
			t.Errorf("repr(%s) = %s, want %s", c.input, got, c.repr)
		}
	}
}

func TestLoadsFailsInPythonsWords(t *testing.T) {
	t.Parallel()
	cases := []struct{ input, want string }{
		{"", "Expecting value: line 1 column 1 (char 0)"},
		{"not json", "Expecting value: line 1 column 1 (char 0)"},
		{"[1,", "Expecting value: line 1 column 4 (char 3)"},
		{"[1 2]", "Expecting ',' delimiter: line 1 column 4 (char 3)"},
		{`{"a" 1}`, "Expecting ':' delimiter: line 1 column 6 (char 5)"},
		{`{"a":1,}`, "Expecting property name enclosed in double quotes: line 1 column 8 (char 7)"},
		{"{'a':1}", "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"},
		{"1\n 2", "Extra data: line 2 column 2 (char 3)"},
		{`["é`, "Unterminated string starting at: line 1 column 2 (char 1)"},
		{`"é` + "\x01", "Invalid control character at: line 1 column 3 (char 2)"},
		{`"\q"`, `Invalid \escape: line 1 column 2 (char 1)`},
		{`"\u12"`, `Invalid \uXXXX escape: line 1 column 3 (char 2)`},
		{"\ufeff1", "Unexpected UTF-8 BOM (decode using utf-8-sig): line 1 column 1 (char 0)"},
		{"[-" + strings.Repeat("1", 4301) + "]", "Exceeds the limit (4300) for integer string conversion: value has 4301 digits; use sys.set_int_max_str_digits() to increase the limit"},
		{strings.Repeat("[", 5000), "maximum recursion depth exceeded while decoding a JSON array from a unicode string"},
	}
	for _, c := range cases {
		if _, err := Loads(c.input); err == nil || err.Error() != c.want {
			t.Errorf("loads(%.20q): %v, want %s", c.input, err, c.want)
		}
	}
}

func TestParseFloat(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]float64{
		" 1_000.5 ": 1000.5, "1e3": 1000, ".5": .5, "5.": 5, "-inf": math.Inf(-1), "Infinity": math.Inf(1),
		"1e400": math.Inf(1), "٣٤": 34, "\x1c7\u3000": 7, "+2": 2, "1e1_0": 1e10,
	} {
		if got, ok := ParseFloat(input); !ok || got != want {
			t.Errorf("float(%q) = %v, %v; want %v", input, got, ok, want)
		}
	}
	for _, input := range []string{"nan", "+NaN", "-nan"} {
		if got, ok := ParseFloat(input); !ok || !math.IsNaN(got) {
			t.Errorf("float(%q) = %v, %v", input, got, ok)
		}
	}
	for _, input := range []string{"", " ", "1_", "_1", "1__0", "0x10", "1,5", "1e", "--1", "½", "1 2", "infin"} {
		if got, ok := ParseFloat(input); ok {
			t.Errorf("float(%q) = %v, want an error", input, got)
		}
	}
}

func TestParsePage(t *testing.T) {
	t.Parallel()
	cases := []struct {
		input   string
		n       int
		ok, bad bool
	}{{"1", 1, true, false}, {"01", 1, true, false}, {"٣", 3, true, false}, {"²", 0, false, true}, {"①1", 0, false, true},
		{"", 0, false, false}, {"-1", 0, false, false}, {"1.0", 0, false, false}, {"½", 0, false, false}, {"²x", 0, false, false},
		{strings.Repeat("9", 100), 1000, true, false}, {"𝟝", 5, true, false},
		{strings.Repeat("0", 4299) + "1", 1, true, false}, {strings.Repeat("0", 4300) + "1", 0, false, true}, {"\U00011f55", 0, false, false}}
	for _, c := range cases {
		n, ok, bad := ParsePage(c.input)
		isWrong := ok && n != c.n
		if ok != c.ok || bad != c.bad || isWrong {
			t.Errorf("page %q: %d %v %v, want %d %v %v", c.input, n, ok, bad, c.n, c.ok, c.bad)
		}
	}
}

func TestQuoting(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{"men's shoe": "men%27s+shoe", "é~_.-": "%C3%A9~_.-", "a+b/c": "a%2Bb%2Fc", "": ""} {
		got, err := QuotePlus(input)
		if err != nil || got != want {
			t.Errorf("quote_plus(%q) = %q, %v; want %q", input, got, err, want)
		}
		if back := UnquotePlus(got); back != input {
			t.Errorf("unquote_plus(%q) = %q, want %q", got, back, input)
		}
	}
	if got := UnquotePlus("%zz%4"); got != "%zz%4" {
		t.Errorf("a broken escape was read as %q", got)
	}
	if got := UnquotePlus("%e1%9E+%ff%fE7%C3%A9"); got != "%E1%9E %FF%FE7é" {
		t.Errorf("bytes that are not UTF-8 were read as %q", got)
	}
	const lone = "\xed\xa0\xbd"
	for input, want := range map[string]string{"ab" + lone: ` '\ud83d' in position 2`, "é" + lone + lone + "x" + lone: "s in position 1-2"} {
		want = "'utf-8' codec can't encode character" + want + ": surrogates not allowed"
		if _, err := QuotePlus(input); err == nil || err.Error() != want {
			t.Errorf("lone surrogates: %v, want %s", err, want)
		}
	}
}

func TestLower(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{"ABC": "abc", "İX": "i̇x", "ΟΔΟΣ": "οδος", "ΣΑ": "σα", "Α.Σ": "α.ς", "Ⱟa": "Ⱟa"} {
		if got := Lower(input); got != want {
			t.Errorf("lower(%q) = %q, want %q", input, got, want)
		}
	}
}

// FuzzDumpsReadsBack holds that Loads reads what Dumps writes of any value that Loads accepts, and
// returns the same value.
func FuzzDumpsReadsBack(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5,"é",null,NaN]}`, `"\ud83d"`, `[[[]]]`, `1e400`, "{\"a\":1,\"a\":2}", "{\"\xff\":1,\"\xd9\":2}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := Loads(s)
		if err != nil {
			return
		}
		once := Dumps(v)
		again, err := Loads(once)
		if err != nil {
			t.Fatalf("%q is changed to %q: %v", s, once, err)
		}
		if twice := Dumps(again); twice != once {
			t.Fatalf("%q is changed to %q", once, twice)
		}
	})
}

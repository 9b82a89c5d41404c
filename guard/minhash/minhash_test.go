package minhash

import (
	"encoding/hex"
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

var update = flag.Bool("update", false, "write golden files")

func BenchmarkSign(b *testing.B) {
	doc := []byte(strings.Repeat("the quick brown fox jumps over the lazy dog while 17 men look on and say nothing ", 35))
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		Sign(doc)
	}
}

// TestSignaturesAreGolden pins Version: a signature that changes must not be
// compared with those that were stored.
func TestSignaturesAreGolden(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	for _, text := range []string{"", "one", "two words", "Five words are one shingle", "Ünïcode wörds — and 数字 123_456 mixed, WITH Capitals and more",
		strings.Repeat("a long document repeats itself until the buffers must grow; ", 400)} {
		p := Sign(text)
		packed := p.Pack()
		got.WriteString(hex.EncodeToString(packed[:]) + "\n")
	}
	const path = "testdata/signatures.golden"
	if *update {
		if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("signatures of version %d changed:\n%s", Version, got.String())
	}
}

func TestCaseAndPunctuationDoNotMatter(t *testing.T) {
	t.Parallel()
	a := Sign("Show me: a RED lamp, please (now)")
	b := Sign("show me a red lamp please now")
	if a != b {
		t.Error("signatures differ")
	}
}

// TestEstimateIsWithinItsError samples sets of known similarity.
func TestEstimateIsWithinItsError(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	for _, j := range []float64{0, 0.1, 0.3, 0.5, 0.8, 0.95, 1} {
		sum := 0.0
		squares := 0.0
		packed := 0.0
		const runs = 200
		for range runs {
			a, b := drawSets(r, 300, j)
			exact := plainJaccard(a, b)
			var x, y Signature
			signShingles(a, &x)
			signShingles(b, &y)
			agree := 0.0
			for i := range x {
				if x[i] == y[i] {
					agree++
				}
			}
			d := agree/K - exact
			sum += d
			squares += d * d
			p := x.Pack()
			q := y.Pack()
			packed += (p.Similarity(&q) - exact) / runs
		}
		se := math.Sqrt(j*(1-j)/K) + 0.004
		if bias := sum / runs; math.Abs(bias) > 4*se/math.Sqrt(runs) {
			t.Errorf("J %.2f: bias %.4f", j, bias)
		}
		if rms := math.Sqrt(squares / runs); rms > 1.25*se {
			t.Errorf("J %.2f: error %.4f, expected %.4f", j, rms, se)
		}
		if math.Abs(packed) > 4*se/math.Sqrt(runs)+0.005 {
			t.Errorf("J %.2f: packed bias %.4f", j, packed)
		}
	}
}

func drawSets(r *rand.Rand, n int, j float64) (a, b []uint32) {
	both := int(math.Round(2 * float64(n) * j / (1 + j)))
	for i := range 2*n - both {
		x := r.Uint32()
		if i < n {
			a = append(a, x)
		}
		if i >= n-both {
			b = append(b, x)
		}
	}
	slices.Sort(a)
	slices.Sort(b)
	return a, b
}

// FuzzPortableEqualsVector holds the kernels in use to the portable ones.
func FuzzPortableEqualsVector(f *testing.F) {
	f.Add("")
	f.Add("a b c d e f g h")
	f.Add(strings.Repeat("long enough for several blocks of shingles ", 800))
	f.Add("\x00\xff\xfe non-utf8 \x80 bytes and_under scores 8bytes12 16byteslongword1")
	f.Fuzz(func(t *testing.T, text string) {
		xs := shingles(new(shingler), []byte(text), nil)
		var fast, portable Signature
		signShingles(xs, &fast)
		for i := range portable {
			portable[i] = math.MaxUint32
		}
		minimaPortable(&portable, xs)
		if fast != portable {
			t.Fatalf("kernels sign %q differently", text)
		}
		blocks := len(text)/blockBytes + 1
		padded := append([]byte(text), make([]byte, blocks*blockBytes-len(text))...)
		one := make([]uint64, blocks)
		two := make([]uint64, blocks)
		mark(one, padded)
		markPortable(two, padded)
		if !slices.Equal(one, two) {
			t.Fatalf("kernels see other words in %q", text)
		}
	})
}

// FuzzShinglesEqualPlain holds the eight-bytes-at-a-time reader to one that
// splits into words first.
func FuzzShinglesEqualPlain(f *testing.F) {
	f.Add("Some words, and (more) of them: 12345678 123456789 a_b-c")
	f.Add("\x80\xffé ünï")
	f.Add("ขอเสื้อ red漢字です \xe8hem \xf0\xa0\xa0x")
	f.Fuzz(func(t *testing.T, text string) {
		words := strings.FieldsFunc(fold(spaced(text)), func(r rune) bool { return r == ' ' })
		n := max(len(words)-Words+1, min(len(words), 1))
		if got := len(shingles(new(shingler), []byte(text), nil)); got != n {
			t.Fatalf("%d shingles of %d words in %q", got, len(words), text)
		}
		if Sign(text) != Sign(strings.Join(words, " ")) {
			t.Fatalf("signature depends on more than words in %q", text)
		}
	})
}

// spaced writes blanks around each character of a script without blanks.
func spaced(text string) string {
	var out strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		separate := r >= 0x0E00 && r <= 0x0EFF || r >= 0x1000 && r <= 0x10BF || r >= 0x1780 && r <= 0x17FF ||
			r >= 0x3000 && r <= 0x9FFF || r >= 0x20000 && r <= 0x33FFF
		if separate {
			out.WriteString(" " + text[:n] + " ")
		} else {
			out.WriteString(text[:n])
		}
		text = text[n:]
	}
	return out.String()
}

// fold implements the frozen normalisation byte by byte; each byte is stored as one rune.
func fold(text string) string {
	out := []byte(text)
	for i, c := range out {
		if !isWord(c) {
			out[i] = ' '
		}
	}
	return string(out)
}

func isWord(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' && c < 0x80 || c >= '0' && c <= '9' || c == '_' || c >= 0x80
}

func TestMarkMarksEveryWordByte(t *testing.T) {
	t.Parallel()
	for c := range 256 {
		for i := range 8 {
			x := uint64(c) << (8 * i)
			if got := wordBits(x)>>i&1 == 1; got != isWord(byte(c)) {
				t.Errorf("byte %#x at %d: %v", c, i, got)
			}
		}
	}
}

func TestPackedAgreement(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(9, 9))
	for range 300 {
		var a, b Packed
		want := 0
		for i := range a {
			a[i] = byte(r.Uint32())
			b[i] = byte(r.Uint32())
			if r.IntN(3) > 0 {
				b[i] = a[i]
			}
			if a[i] == b[i] {
				want++
			}
		}
		if got := a.agree(&b); got != want {
			t.Fatalf("agree %d, want %d", got, want)
		}
	}
}

// TestClusterJoinsTextsWithOneChange joins a text of 400 characters with one of them
// changed, in scripts with blanks between words and without.
func TestClusterJoinsTextsWithOneChange(t *testing.T) {
	t.Parallel()
	for script, letters := range map[string][2]rune{
		"Chinese": {0x4E00, 0x9000}, "kana": {0x3041, 0x30F0}, "Thai": {0x0E01, 0x0E2F}, "Lao": {0x0E94, 0x0EA0}, "Khmer": {0x1780, 0x17A0},
		"Burmese": {0x1000, 0x1020}, "Latin": {'a', 'z'}, "Cyrillic": {0x430, 0x44F}, "Korean": {0xAC00, 0xD000},
	} {
		count := 0
		for i := range 200 {
			r := rand.New(rand.NewPCG(7, uint64(i)))
			letter := func() rune { return letters[0] + rune(r.IntN(int(letters[1]-letters[0]))) }
			text := make([]rune, 400)
			for j := range text {
				text[j] = letter()
				if j%6 == 5 && slices.Contains([]string{"Latin", "Cyrillic", "Korean"}, script) {
					text[j] = ' '
				}
			}
			changed := slices.Clone(text)
			changed[r.IntN(400)] = letter()
			_, c, err := Texts([]string{string(text), string(changed)}, Long())
			if err != nil {
				t.Fatal(err)
			}
			if c.Root[0] == c.Root[1] {
				count++
			}
		}
		if count < 195 {
			t.Errorf("%s: %d of 200 found", script, count)
		}
	}
}

package cursor

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/trajectory-arena/arena"
)

var wide = Limits{Depth: 10_000, StringBytes: 1 << 30, Elements: 1 << 30}

// value builds the tree that encoding/json would, by the cursor.
func value(c *Cursor) any {
	switch c.Kind() {
	case arena.Object:
		fields := map[string]any{}
		c.Object(func(key string) { fields[key] = value(c) })
		return fields
	case arena.Array:
		values := []any{}
		c.Array(func() { values = append(values, value(c)) })
		return values
	case arena.String:
		s, _ := c.String()
		return s
	case arena.Bool:
		return c.Bool()
	case arena.Number:
		return json.Number(c.Raw())
	default:
		c.Skip()
		return nil
	}
}

// FuzzWalkAgreesWithEncodingJSON holds for any UTF-8 text that skipping a value, reading it and
// encoding/json agree.
func FuzzWalkAgreesWithEncodingJSON(f *testing.F) {
	for _, seed := range []string{
		`{}`, `[]`, ` [ 1 , -0.5e+3 , "a\n\u00e9\ud83d\ude00" , true , false , null ] `, `{"a":{"b":[{}]},"a":1}`, `"\ud800x\udc00"`,
		``, ` `, `[1,]`, `{"a":1,}`, `[1 2]`, `{"a" 1}`, `{a:1}`, `01`, `1.`, `.1`, `-`, `1e`, `nul`, `truex`, `"`, `"\`, `"\u`, `"\u00`, `"\x"`,
		"\"\x1f\"", "\"\x7f\"", `[[[[`, `]`, `{"a":[}`, `12345678`, `"12345678`, `"1234567"`, `"12345678"`, "[1,\v2]", "\"abcdefg\\\"hijklmnop\\\\\"",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return
		}
		skipped := New(text, wide)
		read := New(text, wide)
		skipped.Skip()
		got := value(read)
		errSkip := skipped.End()
		errTake := read.End()
		if valid := json.Valid([]byte(text)); valid != (errSkip == nil) || valid != (errTake == nil) {
			t.Fatalf("valid %v, skip returns %v, take returns %v: %q", valid, errSkip, errTake, text)
		}
		compacted := New(text, wide)
		var expected bytes.Buffer
		if short := compacted.Compact(); compacted.End() == nil && (json.Compact(&expected, []byte(text)) != nil || short != expected.String()) {
			t.Errorf("%q is compacted to %q, want %q", text, short, expected.String())
		}
		if errTake != nil {
			return
		}
		var want any
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		if err := d.Decode(&want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("encoding/json -, cursor +:\n%s\n%q", diff, text)
		}
	})
}

func TestLimits(t *testing.T) {
	t.Parallel()
	l := Limits{Depth: 3, StringBytes: 10, Elements: 5}
	for text, want := range map[string]Fault{
		`[[[1]]]`: 0, `[[[[1]]]]`: TooDeep, `{"a":{"b":{"c":{}}}}`: TooDeep, `"abcdefghij"`: 0, `"abcdefghijk"`: StringTooLong, `{"abcdefghijk":1}`: StringTooLong,
		`[1`: Ended, `"a`: EndedInString, `{"a":tr`: Ended, `tru`: Ended, `-`: Ended, `[1}`: Syntax, `x`: Syntax, `1 2`: Syntax, `"\u12`: EndedInString,
	} {
		for name, walk := range map[string]func(c *Cursor){"skip": (*Cursor).Skip, "take": func(c *Cursor) { value(c) }} {
			c := New(text, l)
			walk(c)
			err := c.End()
			var got Fault
			if err != nil {
				got = err.(*Error).Fault //nolint:errorlint // the cursor gives no other
				if strings.Contains(err.Error(), "abcd") {
					t.Errorf("error repeats the text: %v", err)
				}
			}
			if got != want {
				t.Errorf("%s %s: fault %d (%v), want %d", name, text, got, err, want)
			}
		}
	}
}

func TestTenThousandDeep(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)
	c := New(deep, wide)
	if value(c); c.End() != nil {
		t.Error(c.Err())
	}
	c = New("["+deep+"]", wide)
	if c.Skip(); c.End() == nil {
		t.Error("10,001 levels were taken")
	}
}

func TestNumbersAndIDs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"7": 7, "-7": -7, "7.0": 7, "7e2": 700, "9223372036854775807": 1<<63 - 1, "12345678901234567890": 0, "1.5": 0, `"7"`: 0, "null": 0, "1e999": 0,
	} {
		c := New(text, wide)
		if got, ok := c.Int(); got != want || ok != (want != 0) || c.End() != nil {
			t.Errorf("Int of %s is %d, %v, %v", text, got, ok, c.Err())
		}
	}
	for text, want := range map[string]string{`"a\u0062"`: "ab", "12345678901234567890": "12345678901234567890", "true": "", "[1]": ""} {
		c := New(text, wide)
		if got := c.ID(); got != want || c.End() != nil {
			t.Errorf("ID of %s is %q", text, got)
		}
	}
}

func TestStringsShareTheText(t *testing.T) {
	text := `{"plain":"` + strings.Repeat("a", 1000) + `","escaped":"` + strings.Repeat(`\n`, 500) + `"}`
	c := New(text, wide)
	allocs := testing.AllocsPerRun(10, func() {
		c.Reset(text)
		c.Object(func(string) { c.String() })
	})
	if allocs > 1 {
		t.Errorf("%v allocations, want one arena", allocs)
	}
}

// TestStringsOutgrowTheArena reads escaped strings that exceed the arena at their start, in their
// middle and at their end. Strings that were read before remain unchanged.
func TestStringsOutgrowTheArena(t *testing.T) {
	t.Parallel()
	for _, reserved := range []int{0, 100, 1 << 16} {
		var want, got []string
		for n := range 14 {
			want = append(want, strings.Repeat("a\n", 1<<n)+strings.Repeat("b", 3000*(n%3)), strings.Repeat("\u00e9\U0001f600\\", 100*n)+"c")
		}
		written, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		c := New(strings.ReplaceAll(string(written), "\U0001f600", `\ud83d\ude00`), wide)
		c.Reserve(reserved)
		c.Array(func() {
			s, _ := c.String()
			got = append(got, s)
		})
		if diff := cmp.Diff(want, got); c.End() != nil || diff != "" {
			t.Errorf("%d bytes reserved: %v %s", reserved, c.Err(), diff)
		}
	}
}

func TestErrorsHavePositions(t *testing.T) {
	t.Parallel()
	c := New(`[1, x]`, wide)
	c.Skip()
	if err := c.End(); err == nil || !strings.Contains(err.Error(), "at byte 4") {
		t.Errorf("got %v", err)
	}
}

// TestFloatSkipsOtherValues checks that a member of another type is skipped, so that the members
// after it can be read.
func TestFloatSkipsOtherValues(t *testing.T) {
	t.Parallel()
	for _, value := range []string{`"12"`, `null`, `true`, `[1,2]`, `{"ms":12}`} {
		c := New(`{"duration_ms":`+value+`,"path":"/x"}`, wide)
		var path string
		c.Object(func(key string) {
			if key == "duration_ms" {
				if f, ok := c.Float(); ok || f != 0 {
					t.Errorf("Float of %s is %v, %v", value, f, ok)
				}
				return
			}
			path, _ = c.String()
		})
		if err := c.End(); err != nil || path != "/x" {
			t.Errorf("after %s the path is %q, %v", value, path, err)
		}
	}
}

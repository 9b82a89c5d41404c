package lenient_test

import (
	"testing"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/internal/lenient"
)

var (
	cut   = lenient.Rules{Depth: 3}
	loose = lenient.Rules{Depth: 3, Python: true, Close: true}
)

func TestMend(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rules lenient.Rules
		text  string
		want  lenient.Mended
	}{
		{cut, `{"a": [1, true]} rest`, lenient.Mended{JSON: `{"a":[1,true]}`, End: 16, Complete: true}},
		{cut, "{\"a\":\"x\ny\"}", lenient.Mended{JSON: `{"a":"x\u000ay"}`, End: 11, Complete: true, Mends: lenient.Control}},
		{cut, `{"a":"\q \u12 \u00e9"}`, lenient.Mended{JSON: `{"a":"\\q \\u12 \u00e9"}`, End: 22, Complete: true}},
		{cut, "[\"\xff\"]", lenient.Mended{JSON: "[\"\ufffd\"]", End: 5, Complete: true}},
		{cut, `[,1,,2,]`, lenient.Mended{JSON: `[1,2]`, End: 8, Complete: true, Mends: lenient.Commas}},
		{cut, `{"a":1,"b":0.`, lenient.Mended{JSON: `{"a":1}`, End: 13}},
		{cut, `{"a":1,"b":[2`, lenient.Mended{JSON: `{"a":1}`, End: 13}},
		{cut, `{"a":1 "b":2}`, lenient.Mended{JSON: `{"a":1}`, End: 7}},
		{cut, `{"a":0.7 or 0.5}`, lenient.Mended{JSON: `{}`, End: 9}},
		{cut, `{'a':1}`, lenient.Mended{JSON: `{}`, End: 1}},
		{cut, `[[[[[1]]]]]`, lenient.Mended{JSON: `[]`, End: 4}},
		{loose, `{'a': "b", c: None,}`, lenient.Mended{JSON: `{"a":"b","c":null}`, End: 20, Complete: true, Mends: lenient.Quotes | lenient.Keys | lenient.Literals | lenient.Commas}},
		{loose, `['it\'s "so"']`, lenient.Mended{JSON: `["it's \"so\""]`, End: 14, Complete: true, Mends: lenient.Quotes}},
		{loose, `{"a":[1,{"b":2`, lenient.Mended{JSON: `{"a":[1,{"b":2}]}`, End: 14, Complete: true, Mends: lenient.Closers}},
	} {
		got := c.rules.Repair(c.text)
		if !got.Complete {
			got.End = c.want.End
		}
		if got.JSON != c.want.JSON || got.Complete != c.want.Complete || got.Mends != c.want.Mends || got.End != c.want.End {
			t.Errorf("%q: %+v, want %+v", c.text, got, c.want)
		}
	}
	if m := loose.Repair(`["cut`); m.Complete {
		t.Errorf("a text without an end is whole: %+v", m)
	}
}

// FuzzMendGivesJSON holds that a mended object or list is valid JSON, consumes no more than the
// text, and is unchanged by another call.
func FuzzMendGivesJSON(f *testing.F) {
	for _, s := range []string{`{"a":1}`, `{'a': True,}`, `{a:[1,2`, `{"a":"\u12"`, `{"a":0.7 or 0.5}`, `{"a":1 "b":2}`, `["x`, `{"a":"it\'s"}`, `{'a"b':1}`, `[tru`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, rules := range []lenient.Rules{cut, loose} {
			m := rules.Repair(s)
			if m.End > len(s) || m.Complete && !gjson.Valid(m.JSON) {
				t.Fatalf("%q: %+v", s, m)
			}
			again := rules.Repair(m.JSON)
			isChanged := again.Mends != 0 || again.JSON != m.JSON
			if m.Complete && m.JSON[0] == '{' && isChanged {
				t.Fatalf("%q: %q, again %q", s, m.JSON, again.JSON)
			}
		}
	})
}

package grounding_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/judges/grounding"
	"github.com/trajectory-arena/arena/judges/shop/gates"
)

// own returns a domain whose evidence is of these kinds.
func own(t *testing.T, evidence string) *domain.Domain {
	t.Helper()
	d, err := domain.Parse([]byte("name: own\ntitle: Own\noutcome: {from: declared, pass: 1}\nunlogged: keep\nevidence: [" + evidence + "]\n"))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// ground returns what thinking after one result has of it, and what it has of none.
func ground(d *domain.Domain, request, result, think string) (supported, unsupported string) {
	dialogue := &arena.Dialogue{Turns: []arena.Turn{
		{Calls: []arena.Call{{Name: "show", Arguments: `{"path":"given.txt"}`, Result: arena.Quote(result)}}},
		{Step: 1, Think: think},
	}}
	found, _ := grounding.OfTurns(d, &arena.Trace{Query: request}, dialogue)
	if len(found) != 1 {
		return "", ""
	}
	return strings.Join(found[0].Supported, " | "), strings.Join(found[0].Unsupported, " | ")
}

// TestKindsOfEvidence finds data of each kind in the forms in which results have them.
func TestKindsOfEvidence(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ kinds, result, think, supported, unsupported string }{
		{"id", `{"order_id":"W1234567","user":"mia_li_3668"}`, "Order #W1234567 of mia_li_3668, not W7654321 and not the 20th.", "W1234567 | mia_li_3668", "W7654321"},
		{"id", "raise ValueError(x)", "A ValueError, no TypeError, came up 12 times.", "ValueError", "TypeError"},
		{"number", `{"price":1200.5,"seats":12}`, "It costs $1,200.50, and not 1,300; 12 seats or 14.", "1,200.50", "1,300"},
		{"date", `"date": "2024-05-20"`, "May 20 fits, May 21 does not, nor 2024-05-22; maybe 15 fit.", "May 20", "May 21 | 2024-05-22"},
		{"date", `"at": "2024-05-01T10:00:00"`, "Booked on 2024-05-01, not May 2.", "2024-05-01", "May 2"},
		{"number", "certificate_7504069", "It pays by certificate 7504069.", "7504069", ""},
		{"date", "born 16 February 1941\u00a0– 17 Dec. 2011", "Born on February 16, 1941, not 17 February or Dec 16th, and he died on December 17th.", "February 16, 1941 | December 17th", "17 February | Dec 16th"},
		{"number", "order 12345678901234567, 0.50 and 100", "It is 12345678901234567, not 12345678901234568; 0.5, not 0.05, and 100.0.", "12345678901234567 | 0.5 | 100.0", "12345678901234568 | 0.05"},
		{"date", "born 12/31/1990, 5/6/2001, 25/12/2002", "On December 31, 1990, June 5, 2001, May 6, 2001, 2002-12-25 and 12/31/1990, not 12/30/1990 and not May 7.", "December 31, 1990 | June 5, 2001 | May 6, 2001 | 2002-12-25 | 12/31/1990", "12/30/1990 | May 7"},
		{"date", "on May 20, and on 2023-06-01", "On May 20, 2024, not June 1, 2024 or so.", "May 20, 2024", "June 1, 2024"},
		{"path", `C:\new\table.txt and C:\\logs\\run.txt`, "See new/table.txt and run.txt, not new/tables.txt or so.", "new/table.txt | run.txt", "new/tables.txt"},
		{"name", `{"first_name":"Mia","last_name":"Li"}`, "The ticket of Mia Li is here, and that of Tom Berg is not.", "Mia Li", "Tom Berg"},
		{"path, line", "src/app/views.py\n 12\tdef show():", "See views.py:12 and src/app/views.py, not /etc/hosts or models.py:9, e.g. line 12.", "views.py:12 | line 12 | src/app/views.py", "models.py:9 | /etc/hosts"},
		{"path", "given.txt", "I open given.txt.", "given.txt", ""},
		{"line", "https://example.org/views.py#L120", "Line 120 of views.py:120, not views.py:121.", "Line 120 | views.py:120", "views.py:121"},
		{"quote", `TypeError: \"x\" is None\nDone`, "It says \"x is none\" and `all tests passed` now.", "x is none", "all tests passed"},
		{"quote", "save() failed", "The `save` call of `Store` failed with `no such table`, so `save` is wrong.", "", "no such table"},
		{"name", "ok", "Actions Taken: none. Next Step: ask Tom.", "", "Tom"},
		{"id", "ok", "It has W1234567 or W76543", "", "W1234567"},
		{"number", "ok", "W1234567 on May 20 at src/a.py", "", ""},
	} {
		supported, unsupported := ground(own(t, tt.kinds), "", tt.result, tt.think)
		if supported != tt.supported || unsupported != tt.unsupported {
			t.Errorf("%s in %q: %q and %q, want %q and %q", tt.kinds, tt.think, supported, unsupported, tt.supported, tt.unsupported)
		}
	}
}

// TestWhatTheAgentWasToldIsNoEvidence leaves out what the request or a call of the agent has.
func TestWhatTheAgentWasToldIsNoEvidence(t *testing.T) {
	t.Parallel()
	supported, unsupported := ground(own(t, "path, number"), "mend bugs.py by 4500", "bugs.py", "I open bugs.py and given.txt for 4500.")
	if supported != "" || unsupported != "" {
		t.Errorf("%q and %q", supported, unsupported)
	}
}

// TestTheDomainDecidesWhatIsEvidence reads one thinking in several domains: code has files, and a
// catalogue is read as the shop reads it.
func TestTheDomainDecidesWhatIsEvidence(t *testing.T) {
	t.Parallel()
	var builtin *domain.Set
	const think = "setup.cfg sets 4711, tox.ini nothing."
	want := map[string]string{domain.Base: "setup.cfg | 4711 / tox.ini", "coding": "setup.cfg | 4711 / tox.ini", "service": "4711 / "}
	got := map[string]string{}
	for name := range want {
		supported, unsupported := ground(builtin.ByName(name), "", `[{"product_id":"4711","title":"setup.cfg"}]`, think)
		got[name] = supported + " / " + unsupported
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	dialogue := &arena.Dialogue{Turns: []arena.Turn{
		{Calls: []arena.Call{{Name: "find_product", Arguments: "{}", Result: `[{"product_id":"7003318254","title":"Orvane kettle","price":1422.75}]`}}},
		{Step: 1, Think: "7003318254 costs 1422.75 and has engraving."},
	}}
	trace := &arena.Trace{Query: "a kettle"}
	read, mentioned := grounding.OfTurns(builtin.ByName(domain.Shop), trace, dialogue)
	wantRead, wantMentioned := gates.Ground(trace, dialogue)
	if diff := cmp.Diff(wantRead, read) + cmp.Diff(wantMentioned, mentioned); diff != "" || len(read) == 0 {
		t.Error(diff)
	}
}

// TestALongSourceAccusesNobody holds that data are not said to be in no result if not all was read.
func TestALongSourceAccusesNobody(t *testing.T) {
	t.Parallel()
	if _, unsupported := ground(own(t, "id"), "", strings.Repeat("word ", 1<<19), "It is W7654321."); unsupported != "" {
		t.Errorf("accused of %q", unsupported)
	}
}

// FuzzOfTurns grounds any thinking on a result that has it: no datum is in none.
func FuzzOfTurns(f *testing.F) {
	f.Add("May 5th, 2024 of Mia Li: \"a b\" in a/b.py:3 at 1,2.5", "Sept. 5 and lines 7")
	f.Fuzz(func(t *testing.T, result, think string) {
		d := (*domain.Set)(nil).ByName(domain.Base)
		if _, unsupported := ground(d, "", result+"\n"+think, think); unsupported != "" {
			t.Errorf("of %q: %q in no result that has it", think, unsupported)
		}
	})
}

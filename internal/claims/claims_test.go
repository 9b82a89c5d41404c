package claims

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOutcomes has a claim of every outcome.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := map[string]string{
		"page.md":   "It keeps 1,250\nrows, 40 % of all.\nOthers say 12 rows.",
		"run.json":  `{"kept": 1250, "read": 3125, "parts": [{"n": 1}, {"n": 2}]}`,
		"table.txt": "rows 1,250\nrows 7\n",
		"claims.jsonl": `{"what":"kept","page":"page.md","sentence":"It keeps 1,250 rows","source":"run.json","formula":"json('kept')","value":1250}
{"what":"share","page":"page.md","sentence":"40 % of all","source":"run.json","formula":"json('kept') / json('read')","value":0.4,"tolerance":0.001}
{"what":"first","page":"page.md","sentence":"It keeps 1,250 rows","source":"table.txt","formula":"number('rows ([0-9,]+)')","value":1250}
{"what":"lines","page":"page.md","sentence":"Others say 12 rows.","source":"table.txt","formula":"count('rows')","value":12}
{"what":"kept","page":"page.md","sentence":"Others say 12 rows.","source":"run.json","formula":"json('kept')","value":12}
{"what":"gone","page":"page.md","sentence":"It drops 3 rows","source":"run.json","formula":"json('kept')","value":3}
{"what":"no source","page":"page.md","sentence":"Others say 12 rows.","value":12}
{"what":"away","page":"page.md","sentence":"Others say 12 rows.","source":"../x","formula":"json('kept')","value":12}
{"what":"formula","page":"page.md","sentence":"Others say 12 rows.","source":"run.json","formula":"json('no')","value":12}
{"what":"pattern","page":"page.md","sentence":"Others say 12 rows.","source":"run.json","formula":"count('(')","value":12}
{"what":"text","page":"page.md","sentence":"Others say 12 rows.","source":"run.json","formula":"'x'","value":12}
{"what":"syntax","page":"page.md","sentence":"Others say 12 rows.","source":"run.json","formula":"1 +","value":12}
{"what":"page","page":"no.md","sentence":"12","source":"run.json","formula":"json('kept')","value":12}
`,
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	findings, err := Check(filepath.Join(dir, "claims.jsonl"), dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range findings {
		got = append(got, f.Claim.What+": "+f.Outcome)
	}
	want := "kept: holds, share: holds, first: holds, lines: does not hold, kept: contradicts another, gone: does not hold, no source: cannot be checked, " +
		"away: cannot be checked, formula: cannot be checked, pattern: cannot be checked, text: cannot be checked, syntax: cannot be checked, page: cannot be checked"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("%s, want %s", s, want)
	}
	if _, err = Check(filepath.Join(dir, "page.md"), dir); err == nil {
		t.Error("a page is no file of claims")
	}
}

// TestOwnClaims holds this project's README and docs to their sources.
func TestOwnClaims(t *testing.T) {
	t.Parallel()
	findings, err := Check("../../docs/claims.jsonl", "../..")
	if err != nil || len(findings) < 10 {
		t.Fatalf("%d claims: %v", len(findings), err)
	}
	for _, f := range findings {
		if f.Outcome != Holds {
			t.Errorf("%s: %s %q: %s: %s", f.Outcome, f.Claim.Page, f.Claim.Sentence, f.Claim.What, f.Why)
		}
	}
}

// FuzzEvaluate holds that no formula stops the program.
func FuzzEvaluate(f *testing.F) {
	f.Add("json('a') / count('b')", `{"a":1}b`)
	f.Add("number('([0-9]+)')", "12")
	f.Fuzz(func(t *testing.T, formula, source string) {
		if v, err := evaluate(formula, source); err != nil && v != 0 {
			t.Fatal(fmt.Sprint(v, err))
		}
	})
}

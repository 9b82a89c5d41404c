package traces

import (
	"slices"
	"testing"
)

// TestNumbersThatJSONLacks checks that a record with NaN or an infinity is read, and that this
// value is reported. A broken record with NaN remains a fault.
func TestNumbersThatJSONLacks(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a row": `{"id":"p2","reward":NaN,"messages":[{"role":"user","content":"NaN is no \"number\\"},{"role":"assistant","content":"-Infinity"}]}`,
		"a log": `{"version":2,"status":"success","eval":{"task":"t","model":"m","run_id":"r"},"samples":[` +
			`{"id":1,"epoch":1,"input":"a lamp","target":"t","messages":[{"role":"user","content":"a lamp"},{"role":"assistant","content":"fine"}],"scores":{"a":{"value":NaN}}}]}`,
		"infinities": `{"id":"p2","reward":Infinity,"score":-Infinity,"messages":[{"role":"user","content":"a lamp"},{"role":"assistant","content":"fine"}]}`,
	} {
		attempts, faults := readTextWith(t, "rows.jsonl", text+"\n", named())
		if len(attempts) != 1 || len(faults) > 0 {
			t.Errorf("%s: %d traces, faults %v", name, len(attempts), faults)
			continue
		}
		if !slices.Contains(attempts[0].Lost, "not_a_number") {
			t.Errorf("%s: lost %q", name, attempts[0].Lost)
		}
	}
	if attempts, faults := readTextWith(t, "rows.jsonl", `{"id":NaN`+"\n", named()); len(attempts) > 0 || len(faults) != 1 {
		t.Errorf("a broken record is read: %v, %v", attempts, faults)
	}
}

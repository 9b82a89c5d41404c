package student

import (
	"os"
	"path/filepath"
	"testing"
)

// TestGroupsOfProblems checks that a shared product, a repeated request or a declared template
// joins problems.
func TestGroupsOfProblems(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "problems.jsonl")
	text := `{"problem_id":"a","query":"A brass lamp.","category":"Product","reward":{"product_id":"900001"}}
{"problem_id":"b","query":"Something for my desk.","category":"Product","reward":{"product_id":"900001"}}
{"problem_id":"c","query":"a BRASS lamp","category":"Product","reward":{"product_id":"900002"}}
{"problem_id":"d","query":"A garden hose.","category":"Product","reward":{"product_id":"900003"},"template":"t1"}
{"problem_id":"e","query":"A yoga mat, purple.","category":"Product","reward":{"product_id":"900004"},"template":"t1"}
{"problem_id":"f","query":"Two kettles of enamel.","category":"Product","reward":{"product_id":"900005"}}
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := ReadProblems(path)
	if err != nil {
		t.Fatal(err)
	}
	g, err := p.Groups(t.Context())
	if err != nil || g["a"] != g["b"] || g["a"] != g["c"] || g["d"] != g["e"] || g["a"] == g["d"] || g["f"] == g["a"] || g["f"] == g["d"] {
		t.Errorf("%v, %v", g, err)
	}
	p.All, p.IDs = p.All[:3], p.IDs[:3]
	if g, err := p.Groups(t.Context()); g != nil || err != nil {
		t.Errorf("one group: %v, %v", g, err)
	}
}

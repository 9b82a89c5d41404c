package shop

import (
	"encoding/json"
	"testing"
)

func TestProfilesNameTheirTools(t *testing.T) {
	t.Parallel()
	want := map[string]int{"7-tool": 7, "4-tool": 4, "short": 3}
	hashes := map[string]bool{}
	for _, name := range Profiles() {
		h, err := Profile(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(h.Tools) != want[name] || h.System == "" || h.Name != name {
			t.Errorf("%s: %d tools, prompt of %d bytes", name, len(h.Tools), len(h.System))
		}
		hashes[h.SHA256] = true
		for _, raw := range h.Tools {
			var def struct {
				Type     string
				Function struct {
					Name       string
					Parameters struct {
						Type       string
						Properties map[string]struct{ Type, Description string }
						Required   []string
					}
				}
			}
			if err := json.Unmarshal([]byte(raw), &def); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for _, r := range def.Function.Parameters.Required {
				if def.Function.Parameters.Properties[r].Type == "" {
					t.Errorf("%s: required parameter %s has no type", def.Function.Name, r)
				}
			}
		}
	}
	if len(hashes) != len(want) {
		t.Errorf("profiles share a hash: %v", hashes)
	}
}

func TestUnknownProfileIsRefused(t *testing.T) {
	t.Parallel()
	if _, err := Profile("9-tool"); err == nil {
		t.Error("no error for an unknown profile")
	}
}

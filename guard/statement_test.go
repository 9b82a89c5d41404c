package guard

import (
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/internal/longtest"
)

// TestHonestRequestsAreKept checks the requests of the statement against the public problems, and
// against the requests of the rewordings, which need no file outside the repository.
func TestHonestRequestsAreKept(t *testing.T) {
	t.Parallel()
	banks := map[string][]Entry{}
	banks["own"], _ = readRewordings(t)
	if longtest.SharedFolder() != "" {
		banks["public"] = publicBank(t)
	}
	for name, bank := range banks {
		r := newTestGuard(t, bank).Honest()
		t.Logf("%s: %+v", name, r)
		if r.Requests != 500 || r.Share > 0.01 || r.Same > 0 {
			t.Errorf("%s: of %d honest requests %d are dropped, %d as the same: %q", name, r.Requests, r.Dropped, r.Same, r.Examples)
		}
	}
}

// TestFormsHoldTheRequest checks that each form contains a request in plain letters or in an
// encoding.
func TestFormsHoldTheRequest(t *testing.T) {
	t.Parallel()
	bank, _ := readRewordings(t)
	g := newTestGuard(t, bank)
	for _, k := range g.inject(1, formPlants()).Kinds {
		t.Logf("%+v", k)
		if k.Planted == 0 || k.Recall < floorScored {
			t.Errorf("%s: %d of %d found: missed %v", k.Kind, k.Found, k.Planted, k.Missed)
		}
	}
	for _, line := range statementLines("templates") {
		if form := fillForm(line, "a red lamp, under 5 pesos"); strings.Contains(form, "{request}") || form == line {
			t.Errorf("%q remains %q", line, form)
		}
	}
}

// TestFormsOfPublicRequests is the recall on the forms with the public problems as the bank.
func TestFormsOfPublicRequests(t *testing.T) {
	t.Parallel()
	g := newTestGuard(t, publicBank(t))
	for _, k := range g.inject(1, formPlants()).Kinds {
		t.Logf("%+v", k)
		if k.Recall < floorScored {
			t.Errorf("%s: %d of %d found: missed %v", k.Kind, k.Found, k.Planted, k.Missed)
		}
	}
}

package guard

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/domain"
)

// hotelRequests are requests to a hotel: three by one customer, the first two nearly the same, and
// two by others.
var hotelRequests = []string{
	"You are Ida Moss (user id is ida_moss_4410). You want to move your booking QX41ZT to the quiet room at the back, and you want breakfast for two. You are short of time.",
	"You are Ida Moss (user id is ida_moss_4410). You want to move your booking QX41ZT to the quiet room at the back, and you want breakfast for three. You are short of time.",
	"You are Ida Moss (user id is ida_moss_4410). You want the deposit of your booking QX41ZT back, since the lift was broken. Insist on the money and accept no voucher.",
	"You are Tom Reed (user id is tom_reed_1207). You want to move your booking LM88RD to the quiet room at the back, and you want breakfast for two. You are short of time.",
	"You are Una Vale (user id is una_vale_9931). Ask whether the parking for your booking PB20KE is free, and book a second place for a caravan if it is.",
}

// serviceIdentity returns the patterns of the domain service.
func serviceIdentity(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "domain", "builtin", "service.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	d, err := domain.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return d.Identity
}

// TestACustomerIsNoRequest protects a request of one customer: the same request for this customer
// is found in other words, and a text with only the customer or only the item is not.
func TestACustomerIsNoRequest(t *testing.T) {
	t.Parallel()
	g := newTestGuard(t, []Entry{{ID: "move", Bank: "b", Text: hotelRequests[0], Identity: serviceIdentity(t)}})
	for text, want := range map[string]bool{
		"Ida Moss here, I'm Ida Moss, ida_moss_4410. Please move booking QX41ZT to the quiet room at the back with breakfast for two. I am short of time.": true,
		hotelRequests[1]: true,
		hotelRequests[2]: false,
		hotelRequests[3]: false,
		"Move my booking to the quiet room at the back, with breakfast for two.": false,
	} {
		c := Candidate{Text: "Hello", Context: []string{text}}
		if f := g.Check(c); f.Drop != want {
			t.Errorf("%q: %+v", text, f)
		}
	}
	plainGuard := newTestGuard(t, []Entry{{ID: "move", Bank: "b", Text: hotelRequests[0]}})
	if !plainGuard.Check(Candidate{Text: hotelRequests[2]}).Drop {
		t.Error("without an identity the test shows nothing")
	}
}

// TestSameOnlyFindsRewordingsInADialogue plants requests of customers in other words in a guard that
// drops only texts that ask for the same.
func TestSameOnlyFindsRewordingsInADialogue(t *testing.T) {
	t.Parallel()
	g, err := New([]Entry{
		{ID: "curtain", Bank: "b", Identity: serviceIdentity(t), Text: "You are Ida Moss (ida_moss_4410). You want the curtain of booking QX41ZT in another color. You also want a second pillow, and the color of the lamp matters to you."},
		{ID: "caravan", Bank: "b", Identity: serviceIdentity(t), Text: "You are Una Vale (una_vale_9931). Ask for the fee of a caravan at booking PB20KE. You also book a second place for it, and you also need a key for the gate."},
	}, Config{SameOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if found, planted := g.Injection(1).Reworded(); found < planted || planted < 6 {
		t.Errorf("%d of %d requests in other words are found", found, planted)
	}
}

// TestMistakesLeaveNearDuplicatesOut counts requests that a guard for the others drops: not the two
// that are near duplicates, and a dialogue too.
func TestMistakesLeaveNearDuplicatesOut(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		identity                []string
		attempts                map[string][]Candidate
		strangers               string
		wantDropped, wantHonest int
	}{
		"with the customer's names left out":                 {identity: serviceIdentity(t), wantHonest: 2},
		"with all words":                                     {wantDropped: 1, wantHonest: 2},
		"and an attempt that is another's":                   {attempts: map[string][]Candidate{hotelRequests[4]: {{Text: hotelRequests[0]}}}, wantDropped: 2, wantHonest: 2},
		"with one that may be another's task in other words": {strangers: "2", wantDropped: 0, wantHonest: 1},
	} {
		var bank []Entry
		for i, text := range hotelRequests {
			bank = append(bank, Entry{ID: string(rune('0' + i)), Bank: "b", Text: text, Identity: tt.identity})
		}
		dropped, honest, err := newTestGuard(t, bank).Mistakes(tt.attempts, func(a, b *Entry) bool {
			return a.ID != b.ID && a.ID != tt.strangers && b.ID != tt.strangers
		})
		if err != nil || dropped != tt.wantDropped || honest != tt.wantHonest {
			t.Errorf("%s: %d of %d are dropped (%v), want %d of %d", name, dropped, honest, err, tt.wantDropped, tt.wantHonest)
		}
	}
}

// TestClustersKeepTheIdentity checks that near duplicates of one customer are grouped, and that
// bank.json stores the field by which they are compared.
func TestClustersKeepTheIdentity(t *testing.T) {
	t.Parallel()
	identity := serviceIdentity(t)
	var problems []arena.Problem
	for _, text := range hotelRequests {
		problems = append(problems, arena.Problem{ID: text, Query: text, Identity: identity})
	}
	clusters, err := Clusters(t.Context(), problems)
	if err != nil || len(clusters) != 4 {
		t.Fatalf("%d clusters: %v", len(clusters), err)
	}
	for _, c := range clusters {
		if !cmp.Equal(c.Identity, identity) {
			t.Errorf("%q has the identity %q", c.Texts, c.Identity)
		}
	}
	clusters[0].add(&StateCluster{Problems: []string{"x"}})
	if clusters[0].Identity != nil {
		t.Error("a cluster of two domains leaves words out")
	}
}

package guard

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/guard/rows"
	"github.com/trajectory-arena/arena/internal/longtest"
)

// TestCasesOfAnExaminer holds inputs of another author: protected requests over several turns,
// in parts and in encodings, and in the fields of trainers.
func TestCasesOfAnExaminer(t *testing.T) {
	t.Parallel()
	bankFiles, err := rows.Files(longtest.Shared(t, "data/shoppingbench"))
	if err != nil {
		t.Fatal(err)
	}
	entries := readEntries(t, bankFiles, nil)
	one := readEntries(t, []string{longtest.Shared(t, "data/shoppingbench/synthesize_product_test.jsonl")}, func(line int) bool { return line == 42 })

	for name, c := range map[string]struct {
		bank   []Entry
		isSame bool
	}{
		"turns": {entries, true}, "parts": {entries, true}, "encoded": {entries, true}, "shapes": {one, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newTestGuard(t, c.bank)
			missed := 0
			n := 0
			err := rows.Each(longtest.Shared(t, "cases/guard/"+name+".jsonl"), func(row rows.Row) error {
				candidate, err := ReadCandidate(row)
				if err != nil {
					return err
				}
				n++
				if f := g.Check(candidate); !f.Drop || c.isSame && !f.Same {
					missed++
					t.Logf("%s: dropped %v, same %v: %s", candidate.ID, f.Drop, f.Same, f.Evidence)
				}
				return nil
			})
			if err != nil || missed > 0 {
				t.Errorf("%d of %d missed, %v", missed, n, err)
			}
		})
	}
}

// TestNearMissesOfAnExaminer holds requests in which one constraint is another one: of those whose
// other words are verbatim at most 1 % are called the same, of the reworded ones at most 5 %.
func TestNearMissesOfAnExaminer(t *testing.T) {
	t.Parallel()
	g := newTestGuard(t, publicBank(t))
	c := newTally()
	err := rows.Each(longtest.Shared(t, "cases/guard/reworded.jsonl"), func(row rows.Row) error {
		candidate, err := ReadCandidate(row)
		if err != nil {
			return err
		}
		kind := gjson.Get(row.JSON, "kind").Str
		if gjson.Get(row.JSON, "same").Bool() {
			kind = "reworded"
		}
		c.add(kind, "", g.Check(candidate))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	c.print(t)
	c.atLeast(t, "dropped", c.drop, "reworded", 0.85)
	c.atMost(t, "called the same", c.sameCount, "near_verbatim", 0.01)
	c.atMost(t, "called the same", c.sameCount, "near_reworded", 0.05)
}

// TestTextsOfAuthors holds rewordings and near misses of public requests by authors who had
// not read the code. The limits are the counts of 30 November with all 750 public problems. The texts
// of the third to ninth author were known when the rules were written, those of the tenth and eleventh were not.
func TestTextsOfAuthors(t *testing.T) {
	t.Parallel()
	g := newTestGuard(t, publicBank(t))
	c := newTally()
	err := rows.Each("testdata/authors.jsonl", func(row rows.Row) error {
		line := gjson.Parse(row.JSON)
		candidate := Candidate{Text: line.Get("text").Str}
		if messages := strings.Split(candidate.Text, "\n"); line.Get("kind").Str == "turns" {
			candidate = Candidate{Text: messages[0], Context: messages[1:], Conversation: messages}
		}
		c.add(line.Get("author").Str+" "+line.Get("kind").Str, line.Get("of").Str, g.Check(candidate))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	c.print(t)
	for kind, share := range map[string]float64{
		"third heavy": 1, "third turns": 1, "third translation": 1,
		"fourth heavy": 1, "fourth turns": 1, "fourth translation": 1,
		"fifth heavy": 1, "fifth turns": 1, "fifth translation": 1,
		"sixth heavy": 1, "sixth turns": 1, "sixth translation": 1,
		"seventh heavy": 59. / 60, "seventh turns": 1, "seventh translation": 39. / 40,
		"eighth heavy": 57. / 60, "eighth turns": 1, "eighth translation": 38. / 40,
		"ninth heavy": 58. / 60, "ninth turns": 1, "ninth translation": 39. / 40,
		"tenth heavy": 1, "tenth turns": 1, "tenth translation": 38. / 40,
	} {
		c.atLeast(t, "dropped", c.drop, kind, share)
	}
	for kind, share := range map[string]float64{
		"third near": 0, "fourth near": 0, "fifth near": 0, "sixth near": 0, "seventh near": 0, "eighth near": 0, "ninth near": 0,
		"tenth near": 1. / 75, "eleventh near": 0,
	} {
		c.atMost(t, "called the same", c.sameCount, kind, share)
	}
}

// readEntries reads the problems of files of ShoppingBench, those whose line keep accepts.
func readEntries(t *testing.T, files []string, keep func(line int) bool) (entries []Entry) {
	t.Helper()
	for _, file := range files {
		err := rows.Each(file, func(row rows.Row) error {
			if keep != nil && !keep(row.Line) {
				return nil
			}
			content := rows.Read(row)
			entries = append(entries, Entry{ID: row.Name(), Text: content.Request, ItemIDs: content.ItemIDs, Titles: content.Titles, Terms: content.Terms})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return entries
}

// TestShortHonestRequests checks short requests, most of them with a price in dollars, against a
// bank of short requests in pesos: a common word or a converted price alone is no reason to drop
// one. It reads the texts of testdata and those of shared/cases.
func TestShortHonestRequests(t *testing.T) {
	t.Parallel()
	folders := []string{"testdata"}
	if longtest.SharedFolder() != "" {
		folders = append(folders, longtest.Shared(t, "cases/guard"))
	}
	for _, folder := range folders {
		bank := readEntries(t, []string{filepath.Join(folder, "short_bank.jsonl")}, nil)
		g := newTestGuard(t, bank)
		n := 0
		err := rows.Each(filepath.Join(folder, "short_honest.jsonl"), func(row rows.Row) error {
			candidate, err := ReadCandidate(row)
			if err != nil {
				return err
			}
			n++
			if f := g.Check(candidate); f.Drop {
				t.Errorf("%s, %s: dropped for %s: %s", folder, candidate.Text, f.Match, f.Evidence)
			}
			return nil
		})
		if err != nil || n < 8 {
			t.Errorf("%s: %d honest requests, want at least 8: %v", folder, n, err)
		}
		for _, e := range bank {
			if f := g.Check(Candidate{Text: e.Text}); !f.Same {
				t.Errorf("%s: the protected request %q is not found", folder, e.Text)
			}
		}
	}
}

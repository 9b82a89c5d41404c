package habits

import (
	"slices"

	"github.com/trajectory-arena/arena/filters/evidence"
)

// Count is one thing that is counted in each attempt and summed over an agent's day.
type Count struct {
	// Name is what explanations call it.
	Name string
	// at is its place among the tallies, or among the marks.
	at    int
	tally func(*evidence.Attempt) Tally
	marks func(*evidence.Attempt) []Mark
}

// tallies and marks are all counts, in the order of their files.
var tallies, marks []*Count

// counted declares a count of cases.
func counted(name string, of func(*evidence.Attempt) Tally) *Count {
	tallies = append(tallies, &Count{Name: name, at: len(tallies), tally: of})
	return tallies[len(tallies)-1]
}

// marked declares a count of cases that are done in the commonest way of their group.
func marked(name string, of func(*evidence.Attempt) []Mark) *Count {
	marks = append(marks, &Count{Name: name, at: len(marks), marks: of})
	return marks[len(marks)-1]
}

// Counts lists all that is counted.
func Counts() []*Count { return slices.Concat(tallies, marks) }

// In is the count over an agent's day.
func (c *Count) In(a *Agent) Tally {
	if c.marks != nil {
		return a.marks[c.at]
	}
	return a.tallies[c.at]
}

// commonest counts, of the cases in groups of more than one, those that are done in
// the commonest way of their group.
func commonest(s []*Sample, at int) (t Tally) {
	groups := map[uint64]map[uint64]int{}
	for i := range s {
		for _, m := range s[i].Marks[at] {
			if groups[m.Group] == nil {
				groups[m.Group] = map[uint64]int{}
			}
			groups[m.Group][m.Value]++
		}
	}
	for _, values := range groups {
		most, all := 0, 0
		for value, n := range values {
			all += n
			if value != 0 {
				most = max(most, n)
			}
		}
		if all > 1 {
			t = Tally{Part: t.Part + most, Whole: t.Whole + all}
		}
	}
	return t
}

// claimsOf calls see with each claim of the given tools and with its place.
func claimsOf(a *evidence.Attempt, see func(i int, c *evidence.Claim), tools ...evidence.Tool) {
	for i := range a.Claims {
		if slices.Contains(tools, a.Claims[i].Act.Tool) {
			see(i, &a.Claims[i])
		}
	}
}

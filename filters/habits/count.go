package habits

import (
	"slices"

	"github.com/trajectory-arena/arena/filters/evidence"
)

// Count is one thing that is counted in each attempt and summed over an agent's day.
type Count struct {
	// Name is what explanations call it.
	Name string
	at   int
	mark bool
}

// tallies and marks are all counts, in the order of their files.
var (
	tallies []tally
	marks   []marking
)

type tally struct {
	*Count
	of func(*evidence.Attempt) Tally
}

type marking struct {
	*Count
	of func(*evidence.Attempt) []Mark
}

// counted declares a count of cases.
func counted(name string, of func(*evidence.Attempt) Tally) *Count {
	c := &Count{Name: name, at: len(tallies)}
	tallies = append(tallies, tally{c, of})
	return c
}

// marked declares a count of cases that are done in the commonest way of their group.
func marked(name string, of func(*evidence.Attempt) []Mark) *Count {
	c := &Count{Name: name, at: len(marks), mark: true}
	marks = append(marks, marking{c, of})
	return c
}

// Counts lists all that is counted.
func Counts() []*Count {
	var all []*Count
	for _, t := range tallies {
		all = append(all, t.Count)
	}
	for _, m := range marks {
		all = append(all, m.Count)
	}
	return all
}

// In is the count over an agent's day.
func (c *Count) In(a *Agent) Tally {
	if c.mark {
		return a.marks[c.at]
	}
	return a.tallies[c.at]
}

// commonest counts, of the cases in groups of more than one, those that are done in
// the commonest way of their group.
func commonest(s []Sample, at int) (t Tally) {
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
			t = Tally{t.Part + most, t.Whole + all}
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

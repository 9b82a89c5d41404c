package frames

import "github.com/trajectory-arena/arena/judges/shop/gates"

// The rule for templates. A run of letters of a frame is a template if at least minShared of its
// author's attempts at other problems, and at least the share maxShared of them, contain the
// run. An author who uses fewer than four forms is above that share. In 1,060 attempts of public
// agents and by hand it is at most 0.11. Fewer than minShared attempts may be chance.
const (
	maxShared = 0.25
	minShared = 5
)

// longRunLen is the number of adjacent letters that the frames (see gates.Frame) of any two
// thoughts must share for the attempts to count as similar. It is longer than runLen, which is for
// the thoughts that decided a grade only, since an attempt has many more thoughts that decide
// nothing.
const longRunLen = 8

// Thoughts are the texts of one attempt's thinking, together with the text that decided its
// grade.
type Thoughts struct {
	Problem, Decided string
	Texts            []string
}

// runs returns the set of strings by which attempts are compared: each run of runLen adjacent
// letters in the frame (see gates.Frame) of the thought that decided the grade, and each run of
// longRunLen letters in the frame of every thought.
func (t *Thoughts) runs() map[string]bool {
	runs := map[string]bool{}
	addRuns(runs, gates.Frame(t.Decided), runLen)
	for _, text := range t.Texts {
		addRuns(runs, gates.Frame(text), longRunLen)
	}
	return runs
}

// Templates reports, for each attempt of one author, whether its thoughts contain a template: a
// run of letters that many of the author's attempts at other problems contain too.
func Templates(attempts []Thoughts) []bool {
	type key struct{ run, problem string }
	runs := make([]map[string]bool, len(attempts))
	perProblem := map[string]int{}
	total := map[string]int{}
	counts := map[key]int{}
	for i, a := range attempts {
		perProblem[a.Problem]++
		runs[i] = a.runs()
		for r := range runs[i] {
			total[r]++
			counts[key{r, a.Problem}]++
		}
	}
	templates := make([]bool, len(attempts))
	for i, a := range attempts {
		others := len(attempts) - perProblem[a.Problem]
		for r := range runs[i] {
			n := total[r] - counts[key{r, a.Problem}]
			if n >= minShared && float64(n) >= maxShared*float64(others) {
				templates[i] = true
			}
		}
	}
	return templates
}

package habits

import (
	"regexp"
	"strings"

	"github.com/trajectory-arena/arena/filters/evidence"
)

// A second item follows a first. Who counts steps begins with one, who counts tools gives
// each tool one number; who numbers first calls of one tool in several ways picked them
// from a list that is in no reply, so somebody else wrote it.
var _ = listed(&Proofs, Proof{
	Check: "unseen_menu_v1", Reason: "unseen_menu",
	Doc: "Over the agent's day first calls stand under changing numbers or letters, of lists that no reply holds.",
	Why: "12 first calls and more stand under numbers or letters, and one tool's under several: they were picked from lists that the log does not hold",
	Holds: func(_ *Sample, a *Agent) bool {
		n := labels.In(a)
		_, same := n.Interval()
		return n.Whole >= few && same < 0.9
	},
})

// Where a reply before the first call was turned down, steps may begin with two.
var labels = marked("first calls under the commonest number or letter of their tool", func(a *evidence.Attempt) []Mark {
	if len(a.Log.Dispatches) == 0 || a.Log.Dispatches[0].Last != 0 {
		return nil
	}
	path := a.Log.Dispatches[0].Call.Path
	for line := range strings.Lines(a.Words(0)) {
		if found := label.FindStringSubmatch(line); found != nil && strings.Contains(line, evidence.Endpoint(path)) {
			return []Mark{{Group: evidence.HashText(path), Value: evidence.HashText(found[1])}}
		}
	}
	return nil
})

// label is a number or letter at the start of a line, behind one word at most.
var label = regexp.MustCompile(`^\W*(?:[A-Za-z]+\W+)?(\d|[A-H])[:.)\]]`)

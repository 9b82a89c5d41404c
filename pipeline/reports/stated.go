package reports

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/internal/text"
)

// Stated counts what sources state of the attempts of one domain.
type Stated struct {
	Attempts int64 `json:"attempts"`
	// Unstated counts the attempts without a reward, Solved those that are solved.
	Unstated int64 `json:"unstated,omitempty"`
	Solved   int64 `json:"solved,omitempty"`
	// Disputed counts the attempts of which another field says the opposite of the reward.
	Disputed int64 `json:"disputed,omitempty"`
	// Low and High are the lowest and the highest reward, nil if there is none.
	Low  *float64 `json:"low,omitempty"`
	High *float64 `json:"high,omitempty"`
	// Models counts the attempts by the model that their source names.
	Models map[string]int64 `json:"models,omitempty"`
}

// Merge adds the counts of o to s.
func (s *Stated) Merge(o *Stated) {
	s.Attempts += o.Attempts
	s.Unstated += o.Unstated
	s.Solved += o.Solved
	s.Disputed += o.Disputed
	if s.Low == nil || o.Low != nil && *o.Low < *s.Low {
		s.Low = o.Low
	}
	if s.High == nil || o.High != nil && *o.High > *s.High {
		s.High = o.High
	}
	for model, n := range o.Models {
		if s.Models == nil {
			s.Models = map[string]int64{}
		}
		s.Models[model] += n
	}
}

// rounding is the largest amount by which a reward may be above 1 through sums of floating-point
// numbers, such as 1.0000000002, without being on another scale.
const rounding = 1e-6

// Warnings returns what a user should know of the outcomes of a domain's attempts: that they are
// unknown, that fields contradict each other, or that rewards seem to be on another scale than
// outcome.pass.
func (s *Stated) Warnings(d *domain.Domain) (out []string) {
	if d.Outcome.From != domain.FromDeclared {
		return nil
	}
	if s.Unstated > 0 {
		out = append(out, fmt.Sprintf("%d of %d attempts of domain %s state no reward that is read, so that nothing says whether they are solved: give each its `reward`, a number (docs/how-to/my-agents.md)", s.Unstated, s.Attempts, d.Name))
	}
	if s.Disputed > 0 {
		out = append(out, fmt.Sprintf("in %d of %d attempts of domain %s, a field such as `correct` or `success` says the opposite of the reward, which decides: correct the one that is wrong (opposite_outcome)", s.Disputed, s.Attempts, d.Name))
	}
	if s.Low == nil {
		return out
	}
	isNoneSolved := s.Solved == 0 && (*s.High > 0 || *s.Low < *s.High)
	isOtherScale := *s.High > 1+rounding && d.Outcome.Pass <= 1
	if isNoneSolved || isOtherScale {
		out = append(out, fmt.Sprintf("rewards of domain %s are from %g to %g, and at least %g means solved, as in %d of %d attempts that state one: if another reward means solved, set outcome.pass in a file for --domain (`arena domain init TRACES -o FILE` proposes one)",
			d.Name, *s.Low, *s.High, d.Outcome.Pass, s.Solved, s.Attempts-s.Unstated))
	}
	return out
}

// maxModels is the maximum number of models that a text names.
const maxModels = 8

// ModelsText returns the numbers of attempts by the model that their source names, such as
// "qwen3 20, llama 8", the largest first. It returns "" if no source names one.
func ModelsText(models map[string]int64) string {
	names := slices.SortedFunc(maps.Keys(models), func(a, b string) int {
		return cmp.Or(cmp.Compare(models[b], models[a]), strings.Compare(a, b))
	})
	var out []string
	for _, name := range names[:min(len(names), maxModels)] {
		out = append(out, fmt.Sprintf("%s %d", cmp.Or(text.Line(name), `""`), models[name]))
	}
	if more := len(names) - maxModels; more > 0 {
		out = append(out, fmt.Sprintf("%d more models", more))
	}
	return strings.Join(out, ", ")
}

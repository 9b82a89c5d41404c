package agreement

import (
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/stats"
)

// SelfPreference measures whether the models of a family grade attempts of their own family higher
// than the rest of the panel does.
type SelfPreference struct {
	// Rater is the file with the votes, and Family the family.
	Rater  string `json:"rater"`
	Family string `json:"family"`
	// Own counts the attempts whose agent called a model of the family, Other those whose agent
	// called models of other families only.
	Own   int `json:"own"`
	Other int `json:"other"`
	// Preference is the family's mean score minus that of the other families, on the attempts in
	// Own, minus the same difference on those in Other. It is 0 for a family that is strict or
	// generous with all agents alike.
	Preference Figure `json:"preference"`
}

// Members returns the ratings of each model of a panel, sorted by model. The score of a model that
// voted several times on an attempt is the mean. It returns none if no line has votes.
func (r *Ratings) Members() []Ratings {
	byModel := map[string]Ratings{}
	for key, votes := range r.Votes {
		scores := map[string][]float64{}
		for _, v := range votes {
			scores[v.Model] = append(scores[v.Model], v.Score)
		}
		for model, s := range scores {
			if _, ok := byModel[model]; !ok {
				byModel[model] = Ratings{Name: model, Scores: map[Key]*float64{}}
			}
			byModel[model].Scores[key] = new(stats.Mean(s))
		}
	}
	return slicesx.Map(slicesx.SortedKeys(byModel), func(model string) Ratings {
		return byModel[model]
	})
}

// familyDifference is, for one attempt, the score by one family of judge models (such as qwen)
// minus that by the rest of the panel. isOwn is set if the agent's model is of the same family.
type familyDifference struct {
	isOwn      bool
	difference float64
}

// SelfPreferences returns the self-preference of each family of models with votes in r.
func SelfPreferences(r *Ratings, opt Options) []SelfPreference {
	seen := map[string]bool{}
	for _, votes := range r.Votes {
		for _, v := range votes {
			seen[family(v.Model)] = true
		}
	}
	var preferences []SelfPreference
	for _, name := range slicesx.SortedKeys(seen) {
		preferences = append(preferences, r.selfPreference(name, opt))
	}
	return preferences
}

func (r *Ratings) selfPreference(name string, opt Options) SelfPreference {
	p := SelfPreference{Rater: r.Name, Family: name}
	byProblem := byCluster(r.Scores, func(key Key, _ *float64) (familyDifference, bool) {
		agents := r.Agents[key]
		var own, rest []float64
		for _, v := range r.Votes[key] {
			if family(v.Model) == name {
				own = append(own, v.Score)
			} else {
				rest = append(rest, v.Score)
			}
		}
		if len(agents) == 0 || len(own) == 0 || len(rest) == 0 {
			return familyDifference{}, false
		}
		d := familyDifference{difference: stats.Mean(own) - stats.Mean(rest)}
		d.isOwn = slices.ContainsFunc(agents, func(model string) bool { return family(model) == name })
		if d.isOwn {
			p.Own++
		} else {
			p.Other++
		}
		return d, true
	})
	p.Preference = bootstrap(len(byProblem), opt, func(problems []int) []float64 {
		var own, other []float64
		for _, i := range problems {
			for _, d := range byProblem[i] {
				if d.isOwn {
					own = append(own, d.difference)
				} else {
					other = append(other, d.difference)
				}
			}
		}
		return []float64{stats.Mean(own) - stats.Mean(other)}
	})[0]
	return p
}

// family returns the family of a model: the letters a to z with which its name begins, without the
// vendor, in lower case, such as qwen for Qwen/Qwen3-32B. A name that begins with another character
// is its own family.
func family(model string) string {
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	end := strings.IndexFunc(name, func(c rune) bool { return c < 'a' || c > 'z' })
	if end <= 0 {
		return name
	}
	return name[:end]
}

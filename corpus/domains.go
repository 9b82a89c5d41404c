package corpus

import (
	"cmp"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// Domain is a domain of attempts. SHA256 is the hash of its file. NotMeasured are the instruments
// that were off, since they were not measured on the domain.
type Domain struct {
	Name        string   `json:"name"`
	SHA256      string   `json:"sha256"`
	Attempts    int64    `json:"attempts"`
	NotMeasured []string `json:"not_measured,omitempty"`
}

// JoinDomains returns the domains of several corpora, in the order of their names and hashes. The
// attempts of a domain are added up, and an instrument that was off in one corpus is not measured.
func JoinDomains(manifests ...*Manifest) []Domain {
	var out []Domain
	for _, m := range manifests {
		for _, d := range m.Domains {
			i := slices.IndexFunc(out, func(known Domain) bool {
				return known.Name == d.Name && known.SHA256 == d.SHA256
			})
			if i < 0 {
				d.NotMeasured = slices.Clone(d.NotMeasured)
				out = append(out, d)
				continue
			}
			out[i].Attempts += d.Attempts
			for _, instrument := range d.NotMeasured {
				if !slices.Contains(out[i].NotMeasured, instrument) {
					out[i].NotMeasured = append(out[i].NotMeasured, instrument)
				}
			}
		}
	}
	slicesx.SortFunc(out, func(a, b Domain) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.SHA256, b.SHA256))
	})
	return out
}

// CardDomain returns the domain whose words a card has: that of all attempts, or the domain base if
// there are several, or if the domain is not built in.
func CardDomain(domains []Domain) *domain.Domain {
	var builtin *domain.Set
	names := map[string]bool{}
	for _, d := range domains {
		names[d.Name] = true
	}
	if len(names) == 1 {
		if d := builtin.ByName(domains[0].Name); d != nil {
			return d
		}
	}
	return builtin.ByName(domain.Base)
}

// commonTags are the tags on the dataset card of every corpus of attempts, whatever their domain.
var commonTags = []string{"agent", "tool-use", "trajectories", "arena"}

// NewCard returns a card with the words of a domain: its title, its tags, whose texts the rows hold,
// and in which languages.
func NewCard(d *domain.Domain) Card {
	return Card{
		Title:     d.Title,
		Tags:      slices.Insert(slices.Clone(commonTags), 2, d.Tags...),
		Authors:   d.Authors,
		Languages: d.Languages,
	}
}

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
	// Card has the words that cards take from the domain, nil for a built-in domain.
	Card *DomainWords `json:"card,omitempty"`
}

// DomainWords are the words of a domain's file that every card of its attempts has.
type DomainWords struct {
	Title     string   `json:"title"`
	Tags      []string `json:"tags,omitempty"`
	Authors   []string `json:"authors,omitempty"`
	Languages []string `json:"languages,omitempty"`
}

// NewDomain returns the entry of a manifest for a number of attempts of domain d.
func NewDomain(d *domain.Domain, attempts int64) Domain {
	out := Domain{Name: d.Name, SHA256: d.SHA256, Attempts: attempts}
	var builtin *domain.Set
	if builtin.ByName(d.Name) == nil {
		out.Card = &DomainWords{d.Title, d.Tags, d.Authors, d.Languages}
	}
	return out
}

// words returns the words of d for a card: its own, else those of the built-in domain of its name,
// else those of base.
func (d *Domain) words() DomainWords {
	if d.Card != nil {
		return *d.Card
	}
	var builtin *domain.Set
	known := builtin.ByName(d.Name)
	if known == nil {
		known = builtin.ByName(domain.Base)
	}
	return DomainWords{known.Title, known.Tags, known.Authors, known.Languages}
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

// CardDomain returns a domain with the words that a card of attempts of these domains has. The title
// and tags are those of the domain base if the domains differ in them. The authors are those of all
// domains, and the languages too, but none if one domain does not name its own.
func CardDomain(domains []Domain) *domain.Domain {
	base := Domain{Name: domain.Base}
	words := base.words()
	for i := range domains {
		w := domains[i].words()
		if i == 0 {
			words = w
			continue
		}
		if words.Title != w.Title {
			words.Title, words.Tags = base.words().Title, nil
		}
		words.Authors = union(authorsOr(words.Authors), authorsOr(w.Authors))
		if len(words.Languages) == 0 || len(w.Languages) == 0 {
			words.Languages = nil
		} else {
			words.Languages = union(words.Languages, w.Languages)
		}
	}
	return &domain.Domain{Title: words.Title, Tags: words.Tags, Authors: words.Authors, Languages: words.Languages}
}

// authorsOr returns authors, or the usual ones if there are none.
func authorsOr(authors []string) []string {
	if len(authors) == 0 {
		return usualAuthors
	}
	return authors
}

// union returns the elements of a, and behind them those of b that a lacks.
func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		out = slicesx.AppendUnique(out, s)
	}
	return out
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

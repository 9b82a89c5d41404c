package corpus_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/domain"
)

// TestCardDomainHasTheWordsOfAllDomains asks for the words of a card of built-in domains, and of a
// user's domains, which a manifest alone holds.
func TestCardDomainHasTheWordsOfAllDomains(t *testing.T) {
	t.Parallel()
	var builtin *domain.Set
	base := builtin.ByName(domain.Base)
	shop := builtin.ByName(domain.Shop)
	own := &domain.Domain{Name: "library", Title: "Library desk trajectories", Tags: []string{"library"}, Authors: []string{"models", "clerks"}, Languages: []string{"de"}}
	bare := &domain.Domain{Name: "chess", Title: "Chess trajectories"}
	for name, c := range map[string]struct {
		in   []*domain.Domain
		want domain.Domain
	}{
		"none":            {nil, domain.Domain{Title: base.Title}},
		"built in":        {[]*domain.Domain{shop}, domain.Domain{Title: shop.Title, Tags: shop.Tags, Authors: shop.Authors, Languages: shop.Languages}},
		"own":             {[]*domain.Domain{own}, domain.Domain{Title: own.Title, Tags: own.Tags, Authors: own.Authors, Languages: own.Languages}},
		"both":            {[]*domain.Domain{own, shop}, domain.Domain{Title: base.Title, Authors: []string{"models", "clerks", "sellers", "customers"}, Languages: []string{"de", "en"}}},
		"one is mute":     {[]*domain.Domain{bare, own}, domain.Domain{Title: base.Title, Authors: []string{"models", "tools", "people", "clerks"}}},
		"mute in between": {[]*domain.Domain{own, bare, shop}, domain.Domain{Title: base.Title, Authors: []string{"models", "clerks", "tools", "people", "sellers", "customers"}}},
	} {
		var domains []corpus.Domain
		for _, d := range c.in {
			domains = append(domains, corpus.NewDomain(d, 1))
		}
		got := corpus.CardDomain(domains)
		words := domain.Domain{Title: got.Title, Tags: got.Tags, Authors: got.Authors, Languages: got.Languages}
		if diff := cmp.Diff(c.want, words, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}

package llm_test

import (
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/judges/llm"
)

func TestSharesNeverPassTheWhole(t *testing.T) {
	t.Parallel()
	for n := 1; n < 200; n++ {
		usd, tokens := 10.0/3, 1000
		c := llm.Defaults()
		c.BudgetUSD, c.BudgetTokens = &usd, &tokens
		c.Endpoints = []model.Endpoint{{Name: "a", BaseURL: "http://host/v1", Concurrency: 64}}
		c.Panel = []llm.Member{{Model: "m", Role: llm.Primary}}
		dollars, paid, open := 0.0, 0, 0
		for i := range n {
			s := c.Share(i, n)
			dollars, paid, open = dollars+*s.BudgetUSD, paid+*s.BudgetTokens, open+s.Endpoints[0].Concurrency
			if err := s.Validate(); (err != nil) != (i >= 64) || err != nil && !strings.Contains(err.Error(), "concurrency is 0") {
				t.Errorf("%d of %d: %v", i, n, err)
			}
		}
		if dollars > usd || dollars < usd*0.999 || paid != tokens || open != 64 {
			t.Errorf("%d shares: %v dollars, %d tokens, %d requests at once", n, dollars, paid, open)
		}
		if c.Endpoints[0].Concurrency != 64 || *c.BudgetTokens != 1000 {
			t.Fatal("the whole was changed")
		}
	}
}

package llm_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/internal/model/modeltest"
	"github.com/trajectory-arena/arena/judges/ledger"
	"github.com/trajectory-arena/arena/judges/llm"
)

func TestSharesNeverPassTheWhole(t *testing.T) {
	t.Parallel()
	for n := 1; n < 200; n++ {
		usd := 10.0 / 3
		tokens := 1000
		c := llm.Defaults()
		c.BudgetUSD = &usd
		c.BudgetTokens = &tokens
		c.Endpoints = []model.Endpoint{{Name: "a", BaseURL: "http://host/v1", Concurrency: 64}}
		c.Panel = []llm.Member{{Model: "m", Role: llm.Primary}}
		dollars := 0.0
		priced := 0
		open := 0
		for i := range n {
			s := c.Share(i, n)
			dollars, priced, open = dollars+*s.BudgetUSD, priced+*s.BudgetTokens, open+s.Endpoints[0].Concurrency
			if err := s.Validate(); (err != nil) != (i >= 64) || err != nil && !strings.Contains(err.Error(), "concurrency is 0") {
				t.Errorf("%d of %d: %v", i, n, err)
			}
		}
		if dollars > usd || dollars < usd*0.999 || priced != tokens || open != 64 {
			t.Errorf("%d shares: %v dollars, %d tokens, %d requests at once", n, dollars, priced, open)
		}
		if c.Endpoints[0].Concurrency != 64 || *c.BudgetTokens != 1000 {
			t.Fatal("the whole was changed")
		}
	}
}

// TestAShardRunAgainHasWhatIsLeft checks that a killed shard which is run again has the same part
// of the budget.
func TestAShardRunAgainHasWhatIsLeft(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t, varied())
	dir := t.TempDir()
	cfg := config(s)
	cfg.BudgetTokens = new(4000)
	tokensOf := func(payer string) int {
		before := s.Bill()
		l, err := ledger.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		j, err := llm.New(cfg, l, llm.Options{Prices: table, Now: time.Now, Payer: payer})
		if err != nil {
			t.Fatal(err)
		}
		defer j.Close()
		for i := 1; err == nil; i++ {
			_, err = ask(t.Context(), j, i)
		}
		if !errors.Is(err, llm.ErrBudget) {
			t.Fatal(err)
		}
		b := s.Bill()
		return b.Prompt + b.Completion - before.Prompt - before.Completion
	}
	first := tokensOf("plan 0/2")
	again := tokensOf("plan 0/2")
	other := tokensOf("plan 1/2")
	if first == 0 || first+again > 4000 || again > first/4 || other < first/2 {
		t.Errorf("%d tokens, again %d, by another shard %d", first, again, other)
	}
}

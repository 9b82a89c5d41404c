package prices_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/trajectory-arena/arena/judges/prices"
)

func TestCost(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "prices.yaml")
	if err := os.WriteFile(path, []byte("vendor/judge-1: {prompt: 0.5, completion: 2}\ncached/judge-1: {prompt: 0.5, cached_prompt: 0.05, completion: 2}\nlocal: {prompt: 0, completion: 0}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	table, err := prices.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := table.Cost("vendor/judge-1", prices.Tokens{Prompt: 4000, Completion: 100}); got == nil || math.Abs(*got-0.0022) > 1e-12 {
		t.Errorf("got %v", got)
	}
	if got := table.Cost("cached/judge-1", prices.Tokens{Prompt: 4000, Cached: 3000, Completion: 100}); got == nil || math.Abs(*got-0.00085) > 1e-12 {
		t.Errorf("cached: %v", got)
	}
	if got := table.Cost("vendor/judge-1", prices.Tokens{Prompt: 4000, Cached: 3000, Completion: 100}); got == nil || math.Abs(*got-0.0022) > 1e-12 {
		t.Errorf("cached without a price of its own: %v", got)
	}
	if got := table.Cost("local", prices.Tokens{Prompt: 4000, Completion: 100}); got == nil || *got != 0 {
		t.Errorf("free: %v", got)
	}
	if got := table.Cost("vendor/judge-2", prices.Tokens{Prompt: 4000, Completion: 100}); got != nil {
		t.Errorf("unknown: %v", *got)
	}
}

func TestABadTableIsRefused(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"negative":     "m: {prompt: -1, completion: 1}",
		"not a number": "m: {prompt: .nan, completion: 1}",
		"endless":      "m: {prompt: .inf, completion: 1}",
		"half":         "m: {prompt: 1}",
		"unknown key":  "m: {prompt: 1, completion: 1, cached: 1}",
		"twice":        "m: {prompt: 1, completion: 1}\nm: {prompt: 2, completion: 1}",
		"owed":         "m: {prompt: 1, cached_prompt: -1, completion: 1}",
		"a list":       "- m",
		"a word":       "m: cheap",
	} {
		if _, err := prices.Parse([]byte(text)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// FuzzParseGivesAmounts checks that every accepted table holds amounts of money only.
func FuzzParseGivesAmounts(f *testing.F) {
	f.Add([]byte("m: {prompt: 1, completion: 2}"))
	f.Add([]byte("m: {prompt: .inf}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		table, err := prices.Parse(b)
		if err != nil {
			return
		}
		for model := range table {
			if usd := table.Cost(model, prices.Tokens{Prompt: 1000, Cached: 500, Completion: 1000}); usd == nil || *usd < 0 || math.IsNaN(*usd) {
				t.Fatalf("%q costs %v", model, usd)
			}
		}
	})
}

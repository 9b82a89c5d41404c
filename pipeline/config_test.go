package pipeline

import (
	"iter"
	"math"
	"reflect"
	"strings"
	"testing"
)

func TestEveryFieldDeclaresItsHash(t *testing.T) {
	t.Parallel()
	c := reflect.TypeFor[Config]()
	for i := range c.NumField() {
		f := c.Field(i)
		switch reach := f.Tag.Get("hash"); reach {
		case "block", "guard", "corpus", "none":
		default:
			t.Errorf("field %s has hash %q: write block, guard, corpus or none", f.Name, reach)
		}
		if f.Tag.Get("yaml") == "" {
			t.Errorf("field %s has no key", f.Name)
		}
	}
}

func TestAChangeReachesAsFarAsItsTag(t *testing.T) {
	t.Parallel()
	hashes := func(change func(*Config)) (block, corpus string) {
		c := Defaults()
		change(&c)
		return string(c.encode("block")), string(c.JSON())
	}
	block, corpus := hashes(func(*Config) {})
	for _, x := range []struct {
		name                    string
		change                  func(*Config)
		blockStays, corpusStays bool
	}{
		{"workers", func(c *Config) { c.Workers = 9 }, true, true},
		{"top", func(c *Config) { c.Select.Top = 9 }, true, false},
		{"scale", func(c *Config) { c.Multiplier.Floor = 0.9 }, true, false},
		{"steps", func(c *Config) { c.Steps = true }, false, false},
		{"harness", func(c *Config) { c.Harness = "4-tool" }, false, false},
		{"filter", func(c *Config) { c.Filter.MaxTokens = 9 }, false, false},
		{"redact", func(c *Config) { c.Redact.Hotkeys = true }, false, false},
		{"shares", func(c *Config) { c.Guard.Shares.Eval = 0.2 }, true, false},
		{"max_false", func(c *Config) { c.Guard.MaxFalse = 0.1 }, true, false},
		{"same_only", func(c *Config) { c.Guard.SameOnly = true }, true, false},
	} {
		b, allHash := hashes(x.change)
		if (b == block) != x.blockStays || (allHash == corpus) != x.corpusStays {
			t.Errorf("%s: block stays %v, corpus stays %v", x.name, b == block, allHash == corpus)
		}
	}
}

func TestValidateNamesEverythingAtOnce(t *testing.T) {
	t.Parallel()
	c := Defaults()
	c.Select.Top = 0
	c.Workers = 0
	c.MaxUnscored = 2
	c.Multiplier.Per = "agent"
	err := c.Validate()
	for _, want := range []string{"select.top", "workers", "max_unscored", "multiplier.per"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("validate does not name %s: %v", want, err)
		}
	}
}

// TestEveryNumberIsFinite sets each number of the configuration in turn: JSON has no
// other ones, and no comparison with NaN holds.
func TestEveryNumberIsFinite(t *testing.T) {
	t.Parallel()
	c := Defaults()
	seen := 0
	for name, number := range numbers(reflect.ValueOf(&c).Elem(), "") {
		seen++
		was := number.Float()
		for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			number.SetFloat(v)
			if c.Validate() == nil {
				t.Errorf("%s may be %v", name, v)
			}
		}
		number.SetFloat(was)
	}
	if err := c.Validate(); seen < 10 || err != nil {
		t.Errorf("%d numbers, %v", seen, err)
	}
}

// numbers yields the floating-point numbers below v.
func numbers(v reflect.Value, name string) iter.Seq2[string, reflect.Value] {
	return func(yield func(string, reflect.Value) bool) {
		switch v.Kind() {
		case reflect.Float64:
			yield(name, v)
		case reflect.Struct:
			for f, field := range v.Fields() {
				numbers(field, name+"."+f.Name)(yield)
			}
		}
	}
}

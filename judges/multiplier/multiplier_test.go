package multiplier_test

import (
	"math"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/trajectory-arena/arena/judges/multiplier"
	"github.com/trajectory-arena/arena/judges/shop/outcome"
)

func TestFactors(t *testing.T) {
	t.Parallel()
	p := func(x float64) *float64 { return &x }
	run := multiplier.Quality{}.Add(p(0.9)).Add(p(0.3)).Add(nil) // mean 0.6
	none := multiplier.Quality{}.Add(nil)
	with := func(change func(*multiplier.Config)) multiplier.Config {
		c := multiplier.Defaults()
		change(&c)
		return c
	}
	perRun := with(func(c *multiplier.Config) { c.Per = multiplier.Run })
	imputed := with(func(c *multiplier.Config) { c.Unscored = multiplier.Mean })
	keepFrames := with(func(c *multiplier.Config) { c.Frames = multiplier.KeepFrames })
	void := with(func(c *multiplier.Config) { c.Frames = multiplier.VoidFrames })
	gentle := with(func(c *multiplier.Config) { c.Scale = outcome.Scale{Floor: 0.5, Ceiling: 0.5} })
	for name, tt := range map[string]struct {
		cfg   multiplier.Config
		score *float64
		run   multiplier.Quality
		want  float64 // NaN: none

		framed bool
	}{
		"passed all gates":              {multiplier.Defaults(), p(0.9), run, 1, false},
		"its own":                       {multiplier.Defaults(), p(0.3), run, 0.5625, false},
		"at the ceiling":                {multiplier.Defaults(), p(0.8), run, 1, false},
		"the run's":                     {perRun, p(0.3), run, 0.825, false},
		"unscored, excluded":            {multiplier.Defaults(), nil, run, math.NaN(), false},
		"unscored, excluded, per run":   {perRun, nil, run, math.NaN(), false},
		"unscored, imputed":             {imputed, nil, run, 0.825, false},
		"unscored, nothing to impute":   {imputed, nil, none, math.NaN(), false},
		"another floor, below ceiling":  {gentle, p(0.3), run, 0.8, false},
		"another ceiling":               {gentle, p(0.5), run, 1, false},
		"scored, in a run without mean": {perRun, p(0.3), multiplier.Quality{}, math.NaN(), false},
		"framed, kept":                  {keepFrames, p(0.9), run, 1, true},
		"framed, halved":                {multiplier.Defaults(), p(0.9), run, 0.5625, true},
		"framed remark, as silence":     {multiplier.Defaults(), p(0.5), run, 0.5625, true},
		"framed, below silence":         {multiplier.Defaults(), p(0.1), run, 0.3875, true},
		"framed, void":                  {void, p(0.9), run, 0, true},
		"not framed":                    {void, p(0.9), run, 1, false},
	} {
		got := tt.cfg.Factor(tt.score, tt.run, tt.framed)
		if (got == nil) != math.IsNaN(tt.want) || got != nil && *got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
	if run.Coverage() != 2.0/3 || none.Coverage() != 0 || (multiplier.Quality{}).Coverage() != 1 || none.Mean() != nil {
		t.Error("coverage")
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	c := multiplier.Defaults()
	if err := yaml.UnmarshalWithOptions([]byte("per: run\nfloor: 0.4\n"), &c, yaml.Strict()); err != nil || c.Per != multiplier.Run || c.Floor != 0.4 || c.Ceiling != 0.8 {
		t.Errorf("%+v, %v", c, err)
	}
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
	err := multiplier.Config{Per: "day", Unscored: "zero", Scale: outcome.Scale{Floor: math.NaN()}}.Validate()
	for _, want := range []string{"per", "unscored", "floor", "ceiling"} {
		if err == nil || !strings.Contains(err.Error(), "multiplier."+want) {
			t.Errorf("nothing about %s in %v", want, err)
		}
	}
}

package yuma

import (
	"encoding/json"
	"fmt"
)

// Rules are the parameters of a subnet's consensus.
type Rules struct {
	// Kappa is the share of stake needed for consensus, from 0 to 1.
	Kappa float64
	// BondAlpha is the share of the bonds that is renewed in one epoch, from 0 to 1.
	BondAlpha float64
	// BondsPenalty tells from which weights bonds are computed: 0 means the weights that
	// validators set, 1 the clipped ones.
	BondsPenalty float64
	// Yuma3 is the chain's parameter Yuma3On.
	Yuma3 bool
	// LiquidAlpha replaces BondAlpha, for each bond, by a share between AlphaLow and AlphaHigh.
	// The chain applies it with Yuma 3 only. Steepness is the steepness of the sigmoid between
	// the two.
	LiquidAlpha         bool
	AlphaLow, AlphaHigh float64
	Steepness           float64
}

// DefaultRules returns the chain's defaults.
func DefaultRules() Rules {
	return Rules{
		Kappa:        0.5,
		BondAlpha:    0.1,
		BondsPenalty: 1,
		AlphaLow:     0.7,
		AlphaHigh:    0.9,
		Steepness:    10,
	}
}

// String returns the name of the rule with the parameters of its bonds.
func (r Rules) String() string {
	switch {
	case r.Yuma3 && r.LiquidAlpha:
		return fmt.Sprintf("Yuma 3 with liquid alpha %.4g to %.4g", r.AlphaLow, r.AlphaHigh)
	case r.Yuma3:
		return fmt.Sprintf("Yuma 3, bonds renewed by %.4g", r.BondAlpha)
	case r.LiquidAlpha:
		return fmt.Sprintf("Yuma before Yuma 3, bonds renewed by %.4g (the chain applies liquid alpha with Yuma 3 only)", r.BondAlpha)
	default:
		return fmt.Sprintf("Yuma before Yuma 3, bonds renewed by %.4g", r.BondAlpha)
	}
}

// hyperparameters are the parameters of a subnet as the chain stores them, mostly as integers. A
// parameter that the file lacks is nil.
type hyperparameters struct {
	Kappa        *float64 `json:"kappa"`
	BondsAverage *float64 `json:"bonds_moving_avg"`
	BondsPenalty *float64 `json:"bonds_penalty"`
	LiquidAlpha  *bool    `json:"liquid_alpha_enabled"`
	AlphaLow     *float64 `json:"alpha_low"`
	AlphaHigh    *float64 `json:"alpha_high"`
	Steepness    *float64 `json:"alpha_sigmoid_steepness"`
	Version      *int     `json:"yuma_version"`
}

// The chain's units: a share as a 16-bit number, the moving average in millionths, and the
// steepness in hundredths.
const (
	unitShare     = 65535
	unitAverage   = 1e6
	unitSteepness = 100
)

// ParseRules parses the hyperparameters of a subnet as the chain reports them: one JSON object
// in the chain's units. Absent parameters get the chain's defaults.
func ParseRules(text []byte) (Rules, error) {
	r := DefaultRules()
	var h hyperparameters
	if err := json.Unmarshal(text, &h); err != nil {
		return r, fmt.Errorf("read hyperparameters: %w", err)
	}
	for _, p := range []struct {
		name      string
		value     *float64
		unit      float64
		parameter *float64
	}{
		{"kappa", h.Kappa, unitShare, &r.Kappa},
		{"bonds_moving_avg", h.BondsAverage, unitAverage, &r.BondAlpha},
		{"bonds_penalty", h.BondsPenalty, unitShare, &r.BondsPenalty},
		{"alpha_low", h.AlphaLow, unitShare, &r.AlphaLow},
		{"alpha_high", h.AlphaHigh, unitShare, &r.AlphaHigh},
	} {
		if p.value == nil {
			continue
		}
		isChainUnit := *p.value == 0 || *p.value > 1 && *p.value <= p.unit
		if !isChainUnit {
			return r, fmt.Errorf("%s is %v: give it as the chain does, 0 to %v", p.name, *p.value, p.unit)
		}
		*p.parameter = *p.value / p.unit
	}
	if h.BondsAverage != nil {
		r.BondAlpha = 1 - r.BondAlpha
	}
	if h.Steepness != nil {
		r.Steepness = *h.Steepness / unitSteepness
	}
	if h.LiquidAlpha != nil {
		r.LiquidAlpha = *h.LiquidAlpha
	}
	if h.Version != nil {
		r.Yuma3 = *h.Version == 3
	}
	if r.AlphaLow > r.AlphaHigh {
		return r, fmt.Errorf("alpha_low, the share %.4g, is above alpha_high, the share %.4g", r.AlphaLow, r.AlphaHigh)
	}
	return r, nil
}

package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// Sampling is how a model is asked to draw. Nil and zero fields are left to
// the server.
type Sampling struct {
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"top_p,omitempty"`
	TopK        *int     `json:"top_k,omitempty"`
	MinP        *float64 `json:"min_p,omitempty"`
	MaxTokens   *int     `json:"max_tokens,omitempty"`
	// TemplateKwargs is chat_template_kwargs, a JSON object.
	TemplateKwargs json.RawMessage `json:"chat_template_kwargs,omitempty"`
}

// Validate returns all that no server takes, joined. What one server takes and
// another does not, such as a temperature of 2, is for the server to say.
func (s Sampling) Validate() error {
	var errs []error
	share := func(name string, v *float64) {
		if v != nil && !(*v >= 0 && *v <= 1) { // so that NaN is refused too
			errs = append(errs, fmt.Errorf("%s %v is no share from 0 to 1", name, *v))
		}
	}
	share("top_p", s.TopP)
	share("min_p", s.MinP)
	if t := s.Temperature; t != nil && !(*t >= 0 && *t <= math.MaxFloat64) {
		errs = append(errs, fmt.Errorf("temperature %v is no number from 0 on", *t))
	}
	if s.TopK != nil && *s.TopK < -1 {
		errs = append(errs, fmt.Errorf("top_k %d is below -1, which is all tokens", *s.TopK))
	}
	if s.MaxTokens != nil && *s.MaxTokens < 1 {
		errs = append(errs, fmt.Errorf("max_tokens %d leaves no room for a reply", *s.MaxTokens))
	}
	return errors.Join(errs...)
}

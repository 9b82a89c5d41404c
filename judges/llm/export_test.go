package llm

import (
	"fmt"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/domain"
)

// Render renders an attempt in the shop.
func Render(t *arena.Trace, d *arena.Dialogue) string {
	return RenderIn((*domain.Set)(nil).ByName(domain.Shop), t, d)
}

// RenderIn renders an attempt of a domain.
func RenderIn(taskDomain *domain.Domain, t *arena.Trace, d *arena.Dialogue) string {
	return renderGrounded(taskDomain, t, d)
}

// RenderBare renders an attempt without its groundings.
func RenderBare(t *arena.Trace, d *arena.Dialogue) string {
	heading := func(turn int) string { return fmt.Sprintf("step %d", t.StepNumber(d.Turns[turn].Step)) }
	return render(t, d, heading, view{resultLimit: maxResult})
}

// Hash returns the hash of a judge with this configuration.
func (c Config) Hash() (string, error) {
	k, err := newReasoningType(c)
	if err != nil {
		return "", err
	}
	return c.hash(k.prompt)
}

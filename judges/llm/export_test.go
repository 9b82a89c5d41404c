package llm

import (
	"fmt"

	"github.com/trajectory-arena/arena"
)

// RenderBare is an attempt without its groundings.
func RenderBare(t *arena.Trace, d *arena.Dialogue) string {
	return render(t, d, func(turn int) string { return fmt.Sprintf("step %d", t.StepNumber(d.Turns[turn].Step)) }, view{result: maxResult})
}

// Hash is that of a judge with this configuration.
func (c Config) Hash() (string, error) {
	k, err := reasoning(c)
	if err != nil {
		return "", err
	}
	return c.hash(k.prompt)
}

package audit

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/cmd/arena/instrument"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/judges/ledger"
	"github.com/trajectory-arena/arena/judges/llm"
)

// predict says what judging would cost, without asking.
func (d *judgeDay) predict(ctx context.Context, days []string, j *llm.Judge) error {
	attempts := 0
	total := j.Forecast()
	if d.flags.steps {
		total = j.ForecastSteps()
	}
	err := d.attempts(ctx, days, func(t *arena.Trace) error {
		attempts++
		dialogue := filters.Normalise(t)
		return total.Add(t, &dialogue)
	})
	if err != nil {
		return err
	}
	if !d.Noisy.Quiet {
		fmt.Fprintf(d.Streams.Err, "%d attempts: %d requests would be sent, %d answers are held; about %d prompt and %d completion tokens, %s\n",
			attempts, total.Calls, total.Held, total.Prompt, total.Completion, instrument.Dollars(total.USD))
	}
	return json.NewEncoder(d.Streams.Out).Encode(map[string]any{
		"attempts": attempts, "requests": total.Calls, "held": total.Held,
		"tokens": map[string]int{"prompt": total.Prompt, "completion": total.Completion}, "cost_usd": total.USD,
	})
}

func (d *judgeDay) bill() ledger.Bill {
	if d.models == nil {
		return ledger.Bill{}
	}
	return d.models.Ledger.Bill()
}

// printBill says what this run spent.
func (d *judgeDay) printBill(before ledger.Bill) {
	if d.models == nil {
		return
	}
	after := d.models.Ledger.Bill()
	usd := *after.USD - *before.USD
	cost := instrument.Dollars(&usd)
	if after.Unpriced > before.Unpriced {
		cost = "at unknown prices"
	}
	for _, sub := range d.models.Judge.Substitutes() {
		fmt.Fprintf(d.Streams.Err, "warning: %d answers for %s came from %s, as the server names it\n", sub.Answers, sub.Asked, sub.Served)
	}
	fmt.Fprintf(d.Streams.Err, "%d exchanges in this run: %d prompt and %d completion tokens, %s; kept in %s\n",
		after.Exchanges-before.Exchanges, after.Prompt-before.Prompt, after.Completion-before.Completion, cost, d.models.Folder)
}

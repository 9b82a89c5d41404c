package audit

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/contest/yuma"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/internal/text"
)

// payouts is what Yuma pays if every validator of an epoch weights agents by their scores.
type payouts struct {
	// uids are the nodes of the standings, in their order.
	uids []int
	// validators are the nodes that set weights.
	validators []int
	results    [len(filters.Measures)]*yuma.Result
}

// newPayouts computes what the first epoch of a file pays for the leaderboard by each measure.
// miners is a file that maps agents to uids; without it the agents have, in the order of their
// names, the nodes without stake.
func newPayouts(b *filters.Leaderboard, epochPath, miners string) (*payouts, error) {
	epochs, err := yuma.Read(epochPath)
	if err != nil {
		return nil, err
	}
	p := &payouts{}
	epoch := epochs[0]
	if p.uids, err = minerUIDs(b, epoch, miners); err != nil {
		return nil, err
	}
	for i, row := range epoch.Weights {
		if len(row) > 0 {
			p.validators = append(p.validators, i)
		}
	}
	for k := range filters.Measures {
		var row []yuma.Weight
		for i := range b.Standings {
			row = append(row, yuma.Weight{Target: p.uids[i], Weight: b.Standings[i].Scores[k]})
		}
		var changes []yuma.Change
		for _, v := range p.validators {
			changes = append(changes, yuma.Change{Validator: v, Row: row})
		}
		changed, err := epoch.WithChanges(changes)
		if err != nil {
			return nil, err
		}
		p.results[k] = yuma.Compute(changed, yuma.DefaultRules(), nil)
	}
	return p, nil
}

// minerUIDs returns the node of each agent of the leaderboard.
func minerUIDs(b *filters.Leaderboard, e *yuma.Epoch, path string) ([]int, error) {
	byName := map[string]int{}
	if path != "" {
		content, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(content, &byName)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	} else {
		var names []string
		for i := range b.Standings {
			names = append(names, b.Standings[i].Agent)
		}
		slices.Sort(names)
		for uid, stake := range e.Stake {
			if stake == 0 && len(byName) < len(names) {
				byName[names[len(byName)]] = uid
			}
		}
	}
	uids := make([]int, len(b.Standings))
	for i := range b.Standings {
		uid, ok := byName[b.Standings[i].Agent]
		if !ok {
			return nil, fmt.Errorf("agent %q has no node: --miners maps agents to uids, and without it each needs a node without stake", b.Standings[i].Agent)
		}
		uids[i] = uid
	}
	return uids, nil
}

// print writes the incentive of each agent and the dividends of each validator by each measure,
// as shares of all incentive and of all dividends.
func (p *payouts) print(w io.Writer, b *filters.Leaderboard) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t)
	fmt.Fprintf(t, "What the next epoch pays if every validator weights agents by score. %s.\n", p.results[0].Rule)
	fmt.Fprintf(t, "uid\tincentive of\t%s\t\n", strings.Join(filters.Measures[:], "\t"))
	for i, uid := range p.uids {
		fmt.Fprintf(t, "%d\t%s\t", uid, text.Line(b.Standings[i].Agent))
		for _, r := range p.results {
			fmt.Fprintf(t, "%.4f\t", r.Nodes[uid].Incentive)
		}
		fmt.Fprintln(t)
	}
	fmt.Fprintf(t, "uid\tdividends of\t%s\t\n", strings.Join(filters.Measures[:], "\t"))
	for _, uid := range p.validators {
		fmt.Fprintf(t, "%d\tvalidator\t", uid)
		for _, r := range p.results {
			fmt.Fprintf(t, "%.4f\t", r.Nodes[uid].Dividends)
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

// pay prints what Yuma pays for the leaderboard, if --yuma is given.
func (f *filterFlags) pay(w io.Writer, b *filters.Leaderboard) error {
	if f.yuma == "" {
		return nil
	}
	p, err := newPayouts(b, f.yuma, f.miners)
	if err != nil {
		return cli.Failed(fmt.Errorf("--yuma: %w", err), "`arena contest yuma --help` says what the file holds")
	}
	return p.print(w, b)
}

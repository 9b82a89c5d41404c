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

// pay prints what the blockchain of the subnet would pay agents if every validator weighted them by
// their scores on the leaderboard. The stakes are those of the first epoch in the file of --yuma.
// It prints the share of each agent and of each validator, with one column for each way to score.
// Without --yuma it prints nothing.
func (f *filterFlags) pay(w io.Writer, b *filters.Leaderboard) error {
	if f.yuma == "" {
		return nil
	}
	epochs, err := yuma.Read(f.yuma)
	if err != nil {
		return cli.Failed(fmt.Errorf("--yuma: %w", err), "`arena contest yuma --help` says what the file holds")
	}
	epoch := epochs[0]
	uids, err := f.minerUIDs(b, epoch)
	if err != nil {
		return cli.Failed(err, "--miners maps agents to uids; without it each agent needs a node without stake")
	}
	results, err := f.payouts(b, epoch, uids)
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "\nWhat the next epoch pays if every validator weights agents by score. %s.\n", results[0].Rule)
	fmt.Fprintf(t, "uid\tincentive of\t%s\t\n", strings.Join(filters.Measures[:], "\t"))
	for i, uid := range uids {
		fmt.Fprintf(t, "%d\t%s\t", uid, text.Line(b.Standings[i].Agent))
		for _, r := range results {
			fmt.Fprintf(t, "%.4f\t", r.Nodes[uid].Incentive)
		}
		fmt.Fprintln(t)
	}
	fmt.Fprintf(t, "uid\tdividends of\t%s\t\n", strings.Join(filters.Measures[:], "\t"))
	for v, own := range epoch.Weights {
		if len(own) == 0 {
			continue
		}
		fmt.Fprintf(t, "%d\tvalidator\t", v)
		for _, r := range results {
			fmt.Fprintf(t, "%.4f\t", r.Nodes[v].Dividends)
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

// payouts computes what Yuma, the rule by which the blockchain pays, pays in the epoch if every
// validator that has set weights replaced them by the agents' scores. It returns one result for
// each way to score, in the order of filters.Measures. uids[i] is the number on the chain of the
// agent b.Standings[i].
func (f *filterFlags) payouts(
	b *filters.Leaderboard,
	epoch *yuma.Epoch,
	uids []int,
) ([]*yuma.Result, error) {
	var results []*yuma.Result
	for k := range filters.Measures {
		row := make([]yuma.Weight, len(uids))
		for i, uid := range uids {
			row[i] = yuma.Weight{Target: uid, Weight: b.Standings[i].Scores[k]}
		}
		changed := *epoch
		changed.Weights = slices.Clone(epoch.Weights)
		for v, own := range epoch.Weights {
			if len(own) > 0 {
				changed.Weights[v] = row
			}
		}
		if err := changed.Check(); err != nil {
			return nil, cli.Failed(fmt.Errorf("--miners: %w", err), "give each agent a node of its own")
		}
		results = append(results, yuma.Compute(&changed, yuma.DefaultRules(), nil))
	}
	return results, nil
}

// minerUIDs returns the uid (number on the chain) of each agent of the leaderboard, in the order of
// b.Standings. It reads them from the file of --miners. Without one it assigns the uids that have
// no stake, from the lowest on. It returns an error if an agent gets no uid.
func (f *filterFlags) minerUIDs(b *filters.Leaderboard, e *yuma.Epoch) ([]int, error) {
	byName := map[string]int{}
	if f.miners != "" {
		content, err := os.ReadFile(f.miners)
		if err == nil {
			err = json.Unmarshal(content, &byName)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.miners, err)
		}
	}
	for uid, stake := range e.Stake {
		if n := len(byName); f.miners == "" && stake == 0 && n < len(b.Standings) {
			byName[b.Standings[n].Agent] = uid
		}
	}
	uids := make([]int, len(b.Standings))
	for i := range b.Standings {
		uid, ok := byName[b.Standings[i].Agent]
		if !ok {
			return nil, fmt.Errorf("agent %q has no node", b.Standings[i].Agent)
		}
		uids[i] = uid
	}
	return uids, nil
}

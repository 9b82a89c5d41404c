package rows

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/stats"
)

// Tally is the number of scored attempts at one problem on one day, and of successes among them.
type Tally struct {
	Attempts  int64
	Successes int64
}

// Difficulty returns the difficulty of the problem by its success rate: unseen without attempts,
// unsolved or solved if all attempts had that result, and otherwise hard, medium or easy, each
// for a third of the rates between 0 and 1. The first three give a policy gradient no signal,
// because all rollouts are expected to have the same result.
func (t Tally) Difficulty() string {
	rate := float64(t.Successes) / float64(max(t.Attempts, 1))
	switch {
	case t.Attempts == 0:
		return "unseen"
	case t.Successes == 0:
		return "unsolved"
	case t.Successes == t.Attempts:
		return "solved"
	case rate <= 1.0/3:
		return "hard"
	case rate <= 2.0/3:
		return "medium"
	default:
		return "easy"
	}
}

// NewRL returns the row of a problem for reinforcement learning. index must be unique in the
// row's split.
func NewRL(p *arena.Problem, f *Facts, t Tally, index int64) RL {
	truth := groundTruth(p)
	row := RL{
		DataSource:      "arena/" + strings.ToLower(string(p.Category)),
		Prompt:          prompt(f.Harness.System, p.Query),
		Ability:         "shopping",
		RewardModel:     RewardModel{Style: "rule", Truth: truth},
		Extra:           RLExtra{Split: f.Split, Index: index, NeedTools: true},
		AgentName:       "tool_agent",
		Tools:           "[" + strings.Join(chat.Tools(f.Harness), ",") + "]",
		Harness:         f.Harness.Name,
		TaskType:        strings.ToLower(string(p.Category)),
		Split:           f.Split,
		Attempts:        t.Attempts,
		Successes:       t.Successes,
		Difficulty:      t.Difficulty(),
		PipelineVersion: f.PipelineVersion,
		Origin:          f.Origin,
	}
	row.Extra.Tools.Recommend.Create.Truth = truth
	if t.Attempts > 0 {
		rate := float64(t.Successes) / float64(t.Attempts)
		w := stats.Wilson(int(t.Successes), int(t.Attempts))
		row.PassRate = &rate
		row.WilsonLow = &w.Low
		row.WilsonHigh = &w.High
	}
	return row
}

func prompt(system, query string) []Msg {
	out := make([]Msg, 0, 2)
	if system != "" {
		out = append(out, Msg{Role: chat.System, Content: system})
	}
	return append(out, Msg{
		Role:    chat.User,
		Content: strings.ToValidUTF8(query, "\uFFFD"),
	})
}

// groundTruth returns the specification by which a problem is scored, as a JSON object:
// category, reward (a list in the JSON of its source) and, if the task has one, voucher.
func groundTruth(p *arena.Problem) string {
	spec := struct {
		Category string            `json:"category"`
		Reward   []json.RawMessage `json:"reward"`
		Voucher  *arena.Voucher    `json:"voucher,omitempty"`
	}{
		Category: string(p.Category),
		Reward:   make([]json.RawMessage, 0, len(p.Rewards)),
		Voucher:  p.Voucher,
	}
	for _, r := range p.Rewards {
		spec.Reward = append(spec.Reward, json.RawMessage(r.Raw))
	}
	return string(asjson.Bytes(spec)) // rewards were read as JSON
}

// GoldItems returns the ids of the products that solve the row's problem.
func (r *RL) GoldItems() []string {
	return slicesx.Map(gjson.Get(r.RewardModel.Truth, "reward.#.product_id").Array(), gjson.Result.String)
}

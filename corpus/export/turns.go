package export

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/rows"
)

// The reasons for which a pair has no turn to learn from.
const (
	reasonNoFork   = "no_fork"           // the two attempts of a pair do not part at a turn of the model with the same results before it
	reasonRepeated = "fork_repeats_call" // where the two attempts of a pair part, the chosen one repeats a call: no step to prefer
)

// fork is where two attempts part: the first turn of the model that acts
// otherwise, while all before it was done alike and answered alike. Reasoning
// that leads to the same calls is no fork; what is common is told as the chosen
// attempt told it.
func fork(p *rows.Pref) (int, error) {
	for i := range min(len(p.Chosen), len(p.Rejected)) {
		a, b := p.Chosen[i], p.Rejected[i]
		switch {
		case a.Role != b.Role:
			return 0, &chat.Unfit{Reason: reasonNoFork}
		case a.Role == chat.Assistant && act(a.Content) != act(b.Content):
			did := func(m rows.Msg) bool { return m.Role == a.Role && act(m.Content) == act(a.Content) }
			if slices.ContainsFunc(p.Chosen[:i], did) {
				return 0, &chat.Unfit{Reason: reasonRepeated}
			}
			return i, nil
		case a.Role != chat.Assistant && a.Content != b.Content:
			return 0, &chat.Unfit{Reason: reasonNoFork}
		}
	}
	return 0, &chat.Unfit{Reason: reasonNoFork}
}

// act is what a turn in text form does: its calls, or what it says where it
// makes none.
func act(content string) string {
	if at := strings.Index(content, "<tool_call>\n"); at >= 0 {
		return content[at:]
	}
	return content
}

// prefTurns is one turn of each attempt, behind the history that both share.
func prefTurns(r *row) ([]rows.Pref, error) {
	at, err := fork(r.pref)
	if err != nil {
		return nil, err
	}
	p := *r.pref
	p.Prompt = slices.Concat(p.Prompt, p.Chosen[:at])
	p.Chosen, p.Rejected = p.Chosen[at:at+1], p.Rejected[at:at+1]
	p.ChosenTokens, p.RejectedTokens = turnTokens(p.Chosen), turnTokens(p.Rejected)
	return []rows.Pref{p}, nil
}

func turnTokens(turn []rows.Msg) int64 { return int64(rows.Bytes4{}.Count(turn[0].Content)) }

// ktoTurns are the two turns of a fork, one wanted and one not.
func ktoTurns(r *row) ([]rows.KTO, error) {
	made, err := prefTurns(r)
	if err != nil {
		return nil, err
	}
	p := &made[0]
	one := rows.KTO{Prompt: p.Prompt, Completion: p.Chosen, Label: true, Reason: p.Reason, Score: p.ChosenScore, NTokens: p.ChosenTokens,
		SessionID: p.ChosenSession, Harness: p.Harness, TaskType: p.TaskType, Split: p.Split, PipelineVersion: p.PipelineVersion, Origin: p.Origin}
	other := one
	other.Completion, other.Label, other.Score, other.NTokens, other.SessionID = p.Rejected, false, p.RejectedScore, p.RejectedTokens, p.RejectedSession
	return []rows.KTO{one, other}, nil
}

// profileAxes is the profile of the subnet's axes as labels.
const profileAxes = "axes"

// reasonNoAxes is why an attempt has no labels: the ledger holds no score of it.
const reasonNoAxes = "not_scored"

// openAxes joins the attempts of kto, solved and unsolved ones, with the ledger.
func openAxes(j *job, split string) (sink, error) {
	outcomes := map[string]*rows.Outcome{}
	path := filepath.Join(j.feed.dir, "tables", "outcomes.parquet")
	err := corpus.Rows(j.feed.fs, path, func(o *rows.Outcome) error {
		if o.Scored && o.Rule != nil && outcomes[o.TraceID] == nil {
			outcomes[o.TraceID] = o
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // the public half has no ledger: each row says so
		return nil, err
	}
	return openRows(profileAxes, func(r *row) ([]rows.Axes, error) { return axes(r.kto, outcomes[r.kto.SessionID]) })(j, split)
}

// axes makes a row of every turn of an attempt: what the model had said and seen up
// to there, and what the attempt was given in the end.
func axes(kto *rows.KTO, o *rows.Outcome) (out []rows.Axes, err error) {
	if o == nil {
		return nil, &chat.Unfit{Reason: reasonNoAxes}
	}
	for i, m := range kto.Completion {
		if m.Role != chat.Assistant {
			continue
		}
		out = append(out, rows.Axes{
			Prompt: kto.Prompt, Completion: kto.Completion[:i+1], Turn: int64(len(out) + 1), Success: o.Success,
			Product: o.Product, Rule: o.Rule, Title: o.Title, Price: o.Price, Service: o.Service, SKUAttrs: o.SKUAttrs, Shop: o.Shop, Budget: o.Budget,
			SessionID: kto.SessionID, Harness: kto.Harness, TaskType: kto.TaskType, Split: kto.Split, Origin: kto.Origin,
		})
	}
	for i := range out {
		out[i].Turns = int64(len(out))
	}
	return out, nil
}

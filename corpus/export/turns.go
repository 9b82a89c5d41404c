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
	reasonNoFork   = "no_fork"           // the two attempts of a pair do not first differ in a turn of the model
	reasonRepeated = "fork_repeats_call" // where the two attempts of a pair differ, the chosen one repeats a call
)

// findFork returns the index in p.Chosen and p.Rejected of the first assistant messages whose
// actions differ. All earlier messages of other roles must be equal; different reasoning before
// the same calls does not count. The error is a *chat.Unfit if there is no such message, or if
// the chosen attempt repeats an earlier action in it.
func findFork(p *rows.Pref) (int, error) {
	for i := range min(len(p.Chosen), len(p.Rejected)) {
		chosen := p.Chosen[i]
		rejected := p.Rejected[i]
		if chosen.Role != rejected.Role {
			break
		}
		if chosen.Role != chat.Assistant {
			if chosen.Content != rejected.Content {
				break
			}
			continue
		}
		if action(chosen.Content) == action(rejected.Content) {
			continue
		}
		isRepeated := slices.ContainsFunc(p.Chosen[:i], func(m rows.Msg) bool {
			return m.Role == chat.Assistant && action(m.Content) == action(chosen.Content)
		})
		if isRepeated {
			return 0, &chat.Unfit{Reason: reasonRepeated}
		}
		return i, nil
	}
	return 0, &chat.Unfit{Reason: reasonNoFork}
}

// action returns the text of an assistant message from its first <tool_call> tag on, or all of
// it if it has no calls.
func action(content string) string {
	if i := strings.Index(content, "<tool_call>\n"); i >= 0 {
		return content[i:]
	}
	return content
}

// convertPrefTurns converts a preference pair of attempts to a pair of single turns: those at
// which the attempts first take different actions. The prompt is the history up to there, taken
// from the chosen attempt.
func convertPrefTurns(r *row) ([]rows.Pref, error) {
	fork, err := findFork(r.pref)
	if err != nil {
		return nil, err
	}
	p := *r.pref
	p.Prompt = slices.Concat(p.Prompt, p.Chosen[:fork])
	p.Chosen = p.Chosen[fork : fork+1]
	p.Rejected = p.Rejected[fork : fork+1]
	p.ChosenTokens = turnTokens(p.Chosen)
	p.RejectedTokens = turnTokens(p.Rejected)
	return []rows.Pref{p}, nil
}

func turnTokens(turn []rows.Msg) int64 {
	n, _ := rows.Bytes4{}.Count(turn[0].Content) // the error is always nil
	return int64(n)
}

// convertKTOTurns converts a preference pair of attempts to two rows of single turns, one wanted
// and one unwanted: those at which the attempts first take different actions.
func convertKTOTurns(r *row) ([]rows.KTO, error) {
	pairs, err := convertPrefTurns(r)
	if err != nil {
		return nil, err
	}
	p := &pairs[0]
	chosen := rows.KTO{
		Prompt:          p.Prompt,
		Completion:      p.Chosen,
		Label:           true,
		Reason:          p.Reason,
		Score:           p.ChosenScore,
		NTokens:         p.ChosenTokens,
		SessionID:       p.ChosenSession,
		Harness:         p.Harness,
		TaskType:        p.TaskType,
		Split:           p.Split,
		PipelineVersion: p.PipelineVersion,
		Origin:          p.Origin,
	}
	rejected := chosen
	rejected.Completion = p.Rejected
	rejected.Label = false
	rejected.Score = p.RejectedScore
	rejected.NTokens = p.RejectedTokens
	rejected.SessionID = p.RejectedSession
	return []rows.KTO{chosen, rejected}, nil
}

// profileAxes is the profile whose labels are the separate scores of an attempt by the subnet's
// rules, such as title and price.
const profileAxes = "axes"

const reasonNoAxes = "not_scored" // the ledger (the tables of the corpus) has no score of the attempt

// openAxes opens a sink that combines each row of profile kto with the attempt's scores from the
// ledger, the tables of the corpus. A published corpus has no ledger, so all of its rows are
// dropped.
func openAxes(j *job, split string) (sink, error) {
	outcomes := map[string]*rows.Outcome{}
	path := filepath.Join(j.feed.dir, "tables", "outcomes.parquet")
	err := corpus.ReadRows(j.feed.fs, path, func(o *rows.Outcome) error {
		if o.Scored && o.Rule != nil && outcomes[o.TraceID] == nil {
			outcomes[o.TraceID] = o
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	convert := func(r *row) ([]rows.Axes, error) {
		return convertAxes(r.kto, outcomes[r.kto.SessionID])
	}
	return openRows(profileAxes, convert)(j, split)
}

// convertAxes converts an attempt to a row for each assistant turn: the dialogue up to that turn
// with the scores o of the complete attempt. The error is a *chat.Unfit if o is nil, which means
// that the attempt was not scored.
func convertAxes(kto *rows.KTO, o *rows.Outcome) ([]rows.Axes, error) {
	if o == nil {
		return nil, &chat.Unfit{Reason: reasonNoAxes}
	}
	var out []rows.Axes
	for i, m := range kto.Completion {
		if m.Role != chat.Assistant {
			continue
		}
		out = append(out, rows.Axes{
			Prompt:     kto.Prompt,
			Completion: kto.Completion[:i+1],
			Turn:       int64(len(out) + 1),
			Success:    o.Success,
			Product:    o.Product,
			Rule:       o.Rule,
			Title:      o.Title,
			Price:      o.Price,
			Service:    o.Service,
			SKUAttrs:   o.SKUAttrs,
			Shop:       o.Shop,
			Budget:     o.Budget,
			SessionID:  kto.SessionID,
			Harness:    kto.Harness,
			TaskType:   kto.TaskType,
			Split:      kto.Split,
			Origin:     kto.Origin,
		})
	}
	for i := range out {
		out[i].Turns = int64(len(out))
	}
	return out, nil
}

package export

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/rows"
)

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

package finish

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/guard"
)

// surely is the least lexical score of a leak in a corpus that is made: which rows a
// build leaves out is its configuration's and its version's. No bank raises it further.
const surely = 0.5

// Leaks calls found for each row of the train split that is of a protected cluster,
// or in which the guard finds what is protected. An attempt is looked at once,
// however many rows are made of it.
func (k *Known) Leaks(ctx context.Context, s *Source, found func(id, evidence string)) error {
	if k.Bank == nil {
		return nil
	}
	all := InBank(k.Bank, k.HeldOut)
	g, err := guard.New(slices.Concat(all.HeldOut, all.NeverTouch, all.Eval), guard.Config{Least: max(surely, k.Least), MaxFalse: 1})
	if errors.Is(err, guard.ErrEmptyBank) {
		return nil
	}
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	look := func(row *Seen) error {
		fresh := len(row.Sessions) == 0
		for _, session := range row.Sessions {
			fresh = fresh || !seen[session]
			seen[strings.Clone(session)] = true // a row's texts live as long as its batch
		}
		if !fresh {
			return ctx.Err()
		}
		if pool := k.Bank.Pool(row.Cluster); pool != "" && pool != guard.PoolTrain {
			found(row.Candidate.ID, fmt.Sprintf("its cluster is %s", pool))
		} else if f := g.Check(row.Candidate); f.Drop {
			found(row.Candidate.ID, f.Evidence)
		}
		return ctx.Err()
	}
	return Close(
		func() error { return eachRow[rows.SFT](s, corpus.ProfileHFJSON, look) },
		func() error { return eachRow[rows.RL](s, corpus.ProfileVerlRL, look) },
		func() error { return eachRow[rows.KTO](s, corpus.ProfileKTO, look) },
		func() error { return eachRow[rows.Pref](s, corpus.ProfilePref, look) },
		func() error { return eachRow[rows.Steps](s, corpus.ProfileStepwise, look) },
	)
}

func eachRow[T any](s *Source, profile string, see func(*Seen) error) error {
	return Rows(s, profile, corpus.SplitTrain, func(row *T) error {
		seen, err := Look(row)
		if err != nil {
			return err
		}
		return see(&seen)
	})
}

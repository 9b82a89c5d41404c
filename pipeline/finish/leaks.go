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
// build leaves out is its configuration's and its version's.
const surely = 0.5

// Leaks calls found for each row of the train split that is of a protected cluster,
// or in which the guard finds what is protected. An attempt is looked at once,
// however many rows are made of it.
func (k *Known) Leaks(ctx context.Context, s *Source, found func(id, evidence string)) error {
	if k.Bank == nil {
		return nil
	}
	all := InBank(k.Bank, k.HeldOut)
	g, err := guard.New(slices.Concat(all.HeldOut, all.NeverTouch, all.Eval), guard.Config{Drop: surely})
	if errors.Is(err, guard.ErrEmptyBank) {
		return nil
	}
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	look := func(of *rows.Origin, c guard.Candidate, sessions ...string) error {
		fresh := len(sessions) == 0
		for _, session := range sessions {
			fresh = fresh || !seen[session]
			seen[strings.Clone(session)] = true // a row's texts live as long as its batch
		}
		if !fresh {
			return ctx.Err()
		}
		if pool := k.Bank.Pool(of.Cluster); pool != "" && pool != guard.PoolTrain {
			found(c.ID, fmt.Sprintf("its cluster is %s", pool))
		} else if f := g.Check(c); f.Drop {
			found(c.ID, f.Evidence)
		}
		return ctx.Err()
	}
	return Close(
		func() error {
			return Rows(s, corpus.ProfileHFJSON, corpus.SplitTrain, func(r *rows.SFT) error {
				c, err := CandidateOfSFT(r)
				return errors.Join(err, look(&r.Origin, c, r.SessionID))
			})
		},
		func() error {
			return Rows(s, corpus.ProfileVerlRL, corpus.SplitTrain, func(r *rows.RL) error { return look(&r.Origin, CandidateOfRL(r)) })
		},
		func() error {
			return Rows(s, corpus.ProfileKTO, corpus.SplitTrain, func(r *rows.KTO) error { return look(&r.Origin, CandidateOfKTO(r), r.SessionID) })
		},
		func() error {
			return Rows(s, corpus.ProfilePref, corpus.SplitTrain, func(r *rows.Pref) error {
				return look(&r.Origin, CandidateOfPref(r), r.ChosenSession, r.RejectedSession)
			})
		},
	)
}

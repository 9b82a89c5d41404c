package environment

import (
	"fmt"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/student"
)

// injectionSeed draws what is planted in the guard to see that it finds it.
const injectionSeed = 1

// Refuse finds the problems that may not be trained on, and why: those of the bank's
// protected clusters, and those in which the guard finds a protected problem. It fails
// where nothing is protected.
func Refuse(known *finish.Known, p student.Problems) (map[string]string, error) {
	if known.Bank == nil {
		return nil, guard.ErrEmptyBank
	}
	protection, err := finish.Protect(finish.InBank(known.Bank, known.HeldOut), guard.Config{Least: known.Least}, injectionSeed)
	if err != nil {
		return nil, err
	}
	refused := map[string]string{}
	for i := range p.All {
		q := &p.All[i]
		c := guard.Candidate{ID: p.IDs[i], Text: q.Query}
		for _, r := range q.Rewards {
			c.ProductIDs = append(c.ProductIDs, r.ProductID)
		}
		if pool := known.Bank.Pool(guard.SpecHash(*q)); pool != "" && pool != guard.PoolTrain {
			refused[c.ID] = "its cluster is " + string(pool)
		} else if f := protection.Check(corpus.SplitTrain, c); f.Drop {
			refused[c.ID] = fmt.Sprintf("it is taken for a protected problem: %s", f.Evidence)
		}
	}
	return refused, nil
}

// Teachers are the calls of the best paid attempt at each problem that the train
// split of a corpus holds, by the problem's id.
func Teachers(s *finish.Source) (map[string][]arena.Call, error) {
	paid, teachers := map[string]float64{}, map[string][]arena.Call{}
	err := finish.Rows(s, corpus.ProfileHFJSON, corpus.SplitTrain, func(r *rows.SFT) error {
		if best, known := paid[r.ProblemID]; known && best >= r.Reward {
			return nil
		}
		turns, err := r.Turns()
		if err != nil {
			return err
		}
		id := strings.Clone(r.ProblemID) // a row's texts live as long as its batch
		paid[id], teachers[id] = r.Reward, nil
		for _, t := range turns {
			for _, c := range t.Calls {
				teachers[id] = append(teachers[id], arena.Call{Name: strings.Clone(c.Name), Arguments: arena.Raw(strings.Clone(string(c.Arguments)))})
			}
		}
		return nil
	})
	return teachers, err
}

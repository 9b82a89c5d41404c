package environment

import (
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/pipeline/finish"
)

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

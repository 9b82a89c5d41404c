package agreement

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/trajectory-arena/arena"
)

// ReadRatings reads judge lines or labels, or what arena score writes (1 for a success): JSON lines with eval_run_id,
// problem_id and score, an outcome where a judge wrote them, and the probability
// with which the attempt was drawn where labels were sampled. A line is
// unscored if its score is null or its outcome is not "scored". Lines with steps
// instead of a score rate each step: waste is 0, unclear 0.5, needed 1. Two
// lines for one attempt are an error: which of them counts would be a guess.
func ReadRatings(r io.Reader, name string, limit int) (Ratings, error) {
	all := Ratings{Name: name, Scores: map[Key]*float64{}, Drawn: map[Key]float64{}}
	lines := map[Key]int{}
	for line, err := range arena.Lines(r, limit) {
		if err != nil {
			return Ratings{}, fmt.Errorf("read ratings %s: %w", name, err)
		}
		if err := all.add(line.Text, lines, line.Number); err != nil {
			return Ratings{}, fmt.Errorf("read ratings %s: line %d: %w", name, line.Number, err)
		}
	}
	if len(all.Scores) == 0 {
		return Ratings{}, fmt.Errorf("read ratings %s: the file holds none", name)
	}
	return all, nil
}

func (r *Ratings) add(text []byte, lines map[Key]int, number int) error {
	var line struct {
		Run     string          `json:"eval_run_id"`
		Problem string          `json:"problem_id"`
		Outcome *string         `json:"outcome"`
		Score   json.RawMessage `json:"score"`
		Steps   json.RawMessage `json:"steps"`
		Drawn   *float64        `json:"probability"`
		Success *bool           `json:"success"`
	}
	if err := json.Unmarshal(text, &line); err != nil {
		return err
	}
	key := Key{Run: line.Run, Problem: line.Problem}
	if key == (Key{}) {
		return errors.New("neither eval_run_id nor problem_id")
	}
	if earlier, ok := lines[key]; ok {
		return fmt.Errorf("attempt %s/%s was rated already in line %d", key.Run, key.Problem, earlier)
	}
	lines[key] = number
	if line.Drawn != nil {
		if r.Drawn[key] = *line.Drawn; !(*line.Drawn > 0 && *line.Drawn <= 1) {
			return fmt.Errorf("probability is %v: want more than 0 and at most 1", *line.Drawn)
		}
	}
	unscored := line.Outcome != nil && *line.Outcome != "scored"
	if line.Score == nil && line.Steps != nil {
		return r.addSteps(key, line.Steps, unscored)
	}
	if line.Score == nil {
		return errors.New("no score")
	}
	var score *float64
	if line.Success != nil { // a line of arena score; what timed out is a failure, as the subnet counts it
		score = new(map[bool]float64{true: 1}[*line.Success])
	} else if err := json.Unmarshal(line.Score, &score); err != nil {
		return errors.New("score is neither a number nor null")
	}
	if unscored {
		score = nil
	}
	r.Scores[key] = score
	return nil
}

// needs are the verdicts on a step as numbers, in their order.
var needs = map[arena.Need]float64{arena.StepWaste: 0, arena.StepUnclear: 0.5, arena.StepNeeded: 1}

// addSteps rates each step of an attempt. One without verdicts is unscored as a
// whole: how many steps it has, its line does not say.
func (r *Ratings) addSteps(key Key, text []byte, unscored bool) error {
	var steps []struct {
		Verdict arena.Need `json:"verdict"`
	}
	if err := json.Unmarshal(text, &steps); err != nil {
		return errors.New("steps is no list of verdicts")
	}
	if unscored || steps == nil {
		r.Scores[key] = nil
		return nil
	}
	for i, s := range steps {
		score, known := needs[s.Verdict]
		if !known {
			return fmt.Errorf("verdict %q on step %d is not needed, waste or unclear", s.Verdict, i+1)
		}
		key.Step = i + 1
		r.Scores[key] = &score
	}
	return nil
}

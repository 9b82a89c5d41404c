package agreement

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/trajectory-arena/arena"
)

// ReadRatings reads JSON lines of at most maxBytes from a judge, from labels or from arena
// score. A line has eval_run_id, problem_id and score, for judges an outcome, and for sampled
// labels the probability of the attempt. It is unscored if its score is null or its outcome is
// not "scored". A line with steps instead of a score rates each step: waste is 0, unclear 0.5,
// needed 1. A second line for an attempt is an error.
func ReadRatings(r io.Reader, name string, maxBytes int) (Ratings, error) {
	ratings := Ratings{
		Name:        name,
		Scores:      map[Key]*float64{},
		Votes:       map[Key][]arena.Vote{},
		Agents:      map[Key][]string{},
		Probability: map[Key]float64{},
	}
	if err := EachAttempt(r, maxBytes, ratings.add); err != nil {
		return Ratings{}, fmt.Errorf("read ratings %s: %w", name, err)
	}
	if len(ratings.Scores) == 0 {
		return Ratings{}, fmt.Errorf("read ratings %s: the file holds none", name)
	}
	return ratings, nil
}

// EachAttempt calls add with each line of r, JSON of at most maxBytes that names an attempt. A line
// that names none and a second line for an attempt are errors. Errors have the number of the line.
func EachAttempt(r io.Reader, maxBytes int, add func(Key, []byte) error) error {
	lines := map[Key]int{}
	for line, err := range arena.Lines(r, maxBytes) {
		if err != nil {
			return err
		}
		var key Key
		err := json.Unmarshal(line.Text, &key)
		if err == nil && key == (Key{}) {
			err = errors.New("neither eval_run_id nor problem_id")
		}
		if earlier, ok := lines[key]; ok {
			err = fmt.Errorf("attempt %s/%s was rated already in line %d", key.Run, key.Problem, earlier)
		}
		if err == nil {
			lines[key] = line.Number
			err = add(key, line.Text)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", line.Number, err)
		}
	}
	return nil
}

// ratingLine is one line of a file of ratings: of a judge, of labels, or of the output of arena
// score.
type ratingLine struct {
	Outcome     *string         `json:"outcome"`
	Score       json.RawMessage `json:"score"`
	Steps       json.RawMessage `json:"steps"`
	Probability *float64        `json:"probability"`
	Success     *bool           `json:"success"`
	Votes       []arena.Vote    `json:"votes"`
	AgentModels []string        `json:"agent_models"`
}

// add parses text, a line of a file, and adds its rating of an attempt.
func (r *Ratings) add(key Key, text []byte) error {
	var line ratingLine
	if err := json.Unmarshal(text, &line); err != nil {
		return err
	}
	if p := line.Probability; p != nil {
		if !(*p > 0 && *p <= 1) {
			return fmt.Errorf("probability is %v: want more than 0 and at most 1", *p)
		}
		r.Probability[key] = *p
	}

	unscored := line.Outcome != nil && *line.Outcome != "scored"
	if line.Score == nil {
		if line.Steps == nil {
			return errors.New("no score")
		}
		return r.addSteps(key, line.Steps, unscored)
	}
	score, err := line.score()
	if err != nil {
		return err
	}
	if unscored {
		score = nil
	}
	if score != nil && line.Votes != nil {
		r.Votes[key] = line.Votes
		r.Agents[key] = line.AgentModels
	}
	r.Scores[key] = score
	return nil
}

// score returns the score of a line, nil if it is null. A line with the member success, as arena
// score writes it, counts as 1 for a success and 0 for a failure; an attempt that timed out is a
// failure there, as in the subnet. It returns an error for a score that is neither a number nor
// null.
func (l *ratingLine) score() (*float64, error) {
	if l.Success != nil {
		score := 0.0
		if *l.Success {
			score = 1
		}
		return &score, nil
	}
	var score *float64
	if err := json.Unmarshal(l.Score, &score); err != nil {
		return nil, errors.New("score is neither a number nor null")
	}
	return score, nil
}

// needScores maps a judge's verdict on one step of an attempt to a score: waste to 0, unclear to
// 0.5 and needed to 1.
var needScores = map[arena.Need]float64{arena.StepWaste: 0, arena.StepUnclear: 0.5, arena.StepNeeded: 1}

// addSteps adds a rating for each step of an attempt, from a JSON list of verdicts. If the
// attempt is unscored or has no list, the number of its steps is unknown, so it adds one
// unscored rating for the whole attempt.
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
		score, ok := needScores[s.Verdict]
		if !ok {
			return fmt.Errorf("verdict %q on step %d is not needed, waste or unclear", s.Verdict, i+1)
		}
		key.Step = i + 1
		r.Scores[key] = &score
	}
	return nil
}

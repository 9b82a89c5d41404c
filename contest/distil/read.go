// Package distil replays the rounds of subnet 97, in which the student with the lowest KL to a
// teacher is king. It reads the validator's published files, compares published means with those
// of the prompts, and applies the rule in force. If the published king differs from the rule's,
// it reports what in the files explains the difference.
package distil

import (
	"errors"
	"fmt"
	"math"
	"os"

	"github.com/trajectory-arena/arena/internal/python"
	"github.com/trajectory-arena/arena/internal/stats"
	plaintext "github.com/trajectory-arena/arena/internal/text"
	"github.com/trajectory-arena/arena/internal/wrong"
)

// Student is one model in a round.
type Student struct {
	Model string
	// UID is the number of the model's miner, "" if it is unknown.
	UID string
	// Status is the published status: scored, early_stopped, fraud_vram or empty.
	Status string
	// Stopped reports whether the validator stopped the student's run early.
	Stopped bool
	// Published is the published KL, NaN if there is none.
	Published float64
	// KLs has the KL on each prompt in the round's order. A student that was stopped early has
	// only those of the first prompts. Positions has the number of tokens of each prompt, nil if
	// the file does not have them.
	KLs       []float64
	Positions []float64
	// Extremes has the minimum and maximum KL over the tokens of each prompt, NaN or nil if the file
	// does not have them.
	Extremes [][2]float64
	// Axes are the parts of the composite score by name, from 0 to 1. Most files have none.
	Axes map[string]float64
	// Parameters, Vocabulary and Hash are zero if the file does not have them.
	Parameters float64
	Vocabulary int
	Hash       string
}

// Eval is one result file of the validator.
type Eval struct {
	// Vocabulary is the size of the teacher's vocabulary, 0 if the file does not have it.
	Vocabulary int
	// Students are sorted by the order of their runs, the king first.
	Students []Student
}

// maxEvalBytes is the maximum size of a result file in bytes. The largest of March and April
// 2026 has 111 KB.
const maxEvalBytes = 64 << 20

// ReadEval reads a result file that Python wrote, in which Infinity and NaN are numbers. Unknown
// keys are ignored.
func ReadEval(path string) (e *Eval, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	b, err := plaintext.ReadAll(f, maxEvalBytes)
	if err == nil {
		e, err = parseEval(string(b))
	}
	return e, wrong.Wrap(path, err)
}

func parseEval(content string) (*Eval, error) {
	v, err := python.Loads(content)
	if err != nil {
		return nil, err
	}
	students, ok := v.Get("students")
	if !ok || students.Kind != python.Dict {
		return nil, fmt.Errorf("no students: a result file has {students: {model: {kl_per_prompt: […]}}}")
	}
	e := &Eval{
		Vocabulary: int(number(v, "vocab_size", 0)),
	}
	for _, item := range students.Dict {
		s, err := parseStudent(item.Key, item.Value)
		if err == nil && s.Model == "" {
			err = errors.New("it has no name")
		}
		if err != nil {
			return nil, fmt.Errorf("student %q: %w", item.Key, err)
		}
		e.Students = append(e.Students, s)
	}
	return e, nil
}

func parseStudent(model string, v python.Value) (Student, error) {
	s := Student{
		Model:      model,
		Axes:       map[string]float64{},
		Status:     text(v, "status"),
		Published:  number(v, "kl_global_avg", math.NaN()),
		Parameters: number(v, "total_params", 0),
		Vocabulary: int(number(v, "vocab_size", 0)),
		Hash:       text(v, "model_hash"),
	}
	stopped, _ := v.Get("early_stopped")
	s.Stopped = stopped.Truth() || s.Status == "early_stopped"
	kls, _ := v.Get("kl_per_prompt")
	for i, k := range kls.List {
		if err := s.addPrompt(k); err != nil {
			return s, fmt.Errorf("prompt %d: %w", i, err)
		}
	}
	if len(s.Positions) != len(s.KLs) {
		s.Positions = nil
		s.Extremes = nil
	}
	axes, _ := v.Get("axes")
	for _, a := range axes.Dict {
		if f, ok := a.Value.Float64(); ok {
			s.Axes[a.Key] = f
		}
	}
	return s, nil
}

// addPrompt adds the result of the student on one prompt, an element of the file's list
// kl_per_prompt. The element is the mean KL over the prompt's tokens or, in files before 31 March
// 2026, an object with that mean and the lowest and highest KL of a token.
func (s *Student) addPrompt(v python.Value) error {
	kl := v
	if v.Kind == python.Dict {
		kl, _ = v.Get("kl_mean")
		if n := number(v, "n_positions", 0); n > 0 {
			s.Positions = append(s.Positions, n)
			s.Extremes = append(s.Extremes, [2]float64{
				number(v, "kl_min", math.NaN()),
				number(v, "kl_max", math.NaN()),
			})
		}
	}
	value, ok := kl.Float64()
	if !ok {
		return fmt.Errorf("its KL is no number")
	}
	s.KLs = append(s.KLs, value)
	return nil
}

// Mean computes the student's KL as the validator does: the mean over tokens if the file has
// their numbers, otherwise over prompts. It returns NaN if there are no prompts.
func (s *Student) Mean() float64 {
	if s.Positions == nil {
		return stats.Mean(s.KLs)
	}
	sum := 0.0
	n := 0.0
	for i, kl := range s.KLs {
		sum += float64(kl * s.Positions[i])
		n += s.Positions[i]
	}
	return sum / n
}

// text returns the string at key of a Python dict. It returns "" if the key is missing or its value
// is not a string.
func text(v python.Value, key string) string {
	if s, _ := v.Get(key); s.Kind == python.Str {
		return s.Text
	}
	return ""
}

// number returns the number at key of a Python dict, or the argument missing if there is none.
func number(v python.Value, key string, missing float64) float64 {
	n, _ := v.Get(key)
	if f, ok := n.Float64(); ok {
		return f
	}
	return missing
}

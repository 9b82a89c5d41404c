package distil

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/trajectory-arena/arena/contest"
	"github.com/trajectory-arena/arena/internal/jsonl"
)

// Round is one evaluation and what was in force, as a line of a rounds file.
type Round struct {
	ID      string `json:"eval"`
	Network string `json:"network"`
	// File is the result file, relative to the rounds; UIDs are those of its models.
	File string         `json:"file"`
	UIDs map[string]uid `json:"uid_of_model"`
	// Block is 0 where nobody recorded it.
	Block int64 `json:"block"`
	// KingUID and KingModel are those of the king before; empty where unknown.
	KingUID   uid    `json:"king_uid_before"`
	KingModel string `json:"king_model"`
	// Rule is nil where none is known.
	Rule *Rule `json:"rule_in_force"`
	Eval *Eval `json:"-"`
}

// uid is text in some files and a number in others.
type uid string

func (u *uid) UnmarshalJSON(b []byte) error {
	*u = uid(strings.Trim(string(b), `"`))
	if *u == "null" {
		*u = ""
	}
	return nil
}

// ReadRounds reads a file of rounds, one JSON object a line, and the result file
// that each names, relative to it: {eval, block, file, king_uid_before,
// king_model, uid_of_model, rule_in_force, network}.
func ReadRounds(path string) (all []*Round, err error) {
	var network contest.Network
	err = jsonl.Each(path, func(r Round) error {
		if broken := r.read(filepath.Dir(path)); broken != nil {
			return fmt.Errorf("round %q: %w", r.ID, broken)
		}
		all = append(all, &r)
		return network.Add(r.Network)
	})
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("%s: no rounds", path)
	}
	return all, err
}

func (r *Round) read(folder string) (err error) {
	if !filepath.IsLocal(r.File) {
		return fmt.Errorf("file %q does not lie beside the rounds", r.File)
	}
	if r.Eval, err = ReadEval(filepath.Join(folder, r.File)); err != nil {
		return err
	}
	for i := range r.Eval.Students {
		s := &r.Eval.Students[i]
		s.UID = string(r.UIDs[s.Model])
	}
	return r.Rule.check()
}

// State is what the validator had on record after a block: the score of each uid.
type State struct {
	Block  int64
	Scores map[string]float64
}

// ReadStates reads the series of a validator's scores, one JSON object a line:
// {block, scores: {uid: KL}}.
func ReadStates(path string) (all []State, err error) {
	err = jsonl.Each(path, func(s State) error {
		if len(all) > 0 && s.Block <= all[len(all)-1].Block {
			return fmt.Errorf("block %d comes after %d", s.Block, all[len(all)-1].Block)
		}
		all = append(all, s)
		return nil
	})
	return all, err
}

// king is the student that sat in the king's place: the one with the king's uid,
// or his model, or the first, who runs first.
func (r *Round) king() *Student {
	for _, is := range []func(*Student) bool{
		func(s *Student) bool { return r.KingUID != "" && s.UID == string(r.KingUID) },
		func(s *Student) bool { return r.KingModel != "" && s.Model == r.KingModel },
		func(s *Student) bool { return true },
	} {
		for i := range r.Eval.Students {
			if s := &r.Eval.Students[i]; is(s) {
				return s
			}
		}
	}
	return nil
}

package distil

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/trajectory-arena/arena/contest"
	"github.com/trajectory-arena/arena/internal/jsonl"
)

// Round is one evaluation of students, with the king before it and the rule in force. It is one
// line of a rounds file.
type Round struct {
	ID      string `json:"eval"`
	Network string `json:"network"`
	// File is the path of the result file, relative to the rounds file. UIDs maps the models in
	// that file to their uids.
	File string         `json:"file"`
	UIDs map[string]uid `json:"uid_of_model"`
	// Block is 0 if it is unknown.
	Block int64 `json:"block"`
	// KingUID and KingModel identify the king before the round. They are empty if unknown.
	KingUID   uid    `json:"king_uid_before"`
	KingModel string `json:"king_model"`
	// Rule is the rule in force: the one in the line or, if there is none, the one that was in
	// force at the time Committed (seconds since 1970). It is nil if neither is known.
	Rule      *Rule           `json:"-"`
	Said      json.RawMessage `json:"rule_in_force"`
	Committed int64           `json:"commit_time"`
	// RuleFrom is "said" or "date", empty if the rule is unknown.
	RuleFrom string `json:"-"`
	Eval     *Eval  `json:"-"`
}

// uid is the number of a miner as text, such as "12". In JSON it may be a string or a number; null
// becomes "".
type uid string

func (u *uid) UnmarshalJSON(b []byte) error {
	*u = uid(strings.Trim(string(b), `"`))
	if *u == "null" {
		*u = ""
	}
	return nil
}

// ReadRounds reads a file of rounds and the result files that it names. Each line is a JSON
// object {eval, block, file, king_uid_before, king_model, uid_of_model, rule_in_force, network}.
func ReadRounds(path string) ([]*Round, error) {
	var rounds []*Round
	var network contest.Network
	err := jsonl.Each(path, func(r Round) error {
		if err := r.readEval(filepath.Dir(path)); err != nil {
			return fmt.Errorf("round %q: %w", r.ID, err)
		}
		rounds = append(rounds, &r)
		return network.Add(r.Network)
	})
	if err == nil && len(rounds) == 0 {
		err = fmt.Errorf("%s: no rounds", path)
	}
	return rounds, err
}

// readEval reads the round's result file, relative to dir, into r.Eval, and sets the uids (miner
// numbers) of its students. It sets r.Rule and r.RuleFrom, from the line of the rounds file or else
// by the round's time. It returns an error if the file is outside of dir or cannot be read, or if
// the rule is invalid.
func (r *Round) readEval(dir string) (err error) {
	if !filepath.IsLocal(r.File) {
		return fmt.Errorf("file %q does not lie beside the rounds", r.File)
	}
	if r.Eval, err = ReadEval(filepath.Join(dir, r.File)); err != nil {
		return err
	}
	for i := range r.Eval.Students {
		s := &r.Eval.Students[i]
		s.UID = string(r.UIDs[s.Model])
	}
	if len(r.Said) == 0 || string(r.Said) == "null" {
		r.Rule = ruleAt(r.Committed)
		if r.Rule != nil {
			r.RuleFrom = "date"
		}
		return nil
	}
	r.RuleFrom = "said"
	if r.Rule, err = parseRule(r.Said); err != nil {
		return err
	}
	return r.Rule.check()
}

// State is the validator's record after a block: the KL of each uid.
type State struct {
	Block  int64
	Scores map[string]float64
}

// ReadStates reads the validator's scores over time, one JSON object per line: {block, scores:
// {uid: KL}}.
func ReadStates(path string) ([]State, error) {
	var states []State
	err := jsonl.Each(path, func(s State) error {
		if n := len(states); n > 0 && s.Block <= states[n-1].Block {
			return fmt.Errorf("block %d comes after %d", s.Block, states[n-1].Block)
		}
		states = append(states, s)
		return nil
	})
	return states, err
}

// king returns the student that was king (the model to beat) before the round: the one with the
// king's uid (miner number), else the one with the king's model, else the first one, since the king
// runs first. It returns nil if there are no students.
func (r *Round) king() *Student {
	students := r.Eval.Students
	if len(students) == 0 {
		return nil
	}
	if r.KingUID != "" {
		for i := range students {
			if students[i].UID == string(r.KingUID) {
				return &students[i]
			}
		}
	}
	for i := range students {
		if students[i].Model == r.KingModel {
			return &students[i]
		}
	}
	return &students[0]
}

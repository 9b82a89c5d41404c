package distil

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/contest"
)

// Round is one evaluation and what was in force.
type Round struct {
	ID      string
	Network string
	// Block is 0 where nobody recorded it.
	Block int64
	// KingUID and KingModel are those of the king before; empty where unknown.
	KingUID, KingModel string
	// Rule is nil where none is known.
	Rule *Rule
	Eval *Eval
}

// round is a line of a rounds file. A uid is text in some files and a number in
// others.
type round struct {
	ID      string         `json:"eval"`
	Network string         `json:"network"`
	File    string         `json:"file"`
	Block   *int64         `json:"block"`
	King    uid            `json:"king_uid_before"`
	Model   string         `json:"king_model"`
	UIDs    map[string]uid `json:"uid_of_model"`
	Rule    *Rule          `json:"rule_in_force"`
}

type uid string

// UnmarshalJSON is json.Unmarshaler.
func (u *uid) UnmarshalJSON(b []byte) error {
	*u = uid(strings.Trim(string(b), `"`))
	if *u == "null" {
		*u = ""
	}
	return nil
}

// maxLine is far above a round of a thousand models.
const maxLine = 16 << 20

// ReadRounds reads a file of rounds, one JSON object a line, and the result file
// that each names, relative to it: {eval, block, file, king_uid_before,
// king_model, uid_of_model, rule_in_force, network}.
func ReadRounds(path string) ([]*Round, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	var all []*Round
	var network contest.Network
	for l, err := range arena.Lines(f, maxLine) {
		var r *Round
		if err == nil {
			r, err = parseRound(l.Text, filepath.Dir(path))
		}
		if err == nil {
			err = network.Add(r.Network)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", path, l.Number, err)
		}
		all = append(all, r)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no rounds", path)
	}
	return all, nil
}

func parseRound(line []byte, folder string) (*Round, error) {
	var j round
	if err := json.Unmarshal(line, &j); err != nil {
		return nil, fmt.Errorf("read round: %w", err)
	}
	if !filepath.IsLocal(j.File) {
		return nil, fmt.Errorf("round %q: file %q does not lie beside the rounds", j.ID, j.File)
	}
	e, err := ReadEval(filepath.Join(folder, j.File))
	if err != nil {
		return nil, fmt.Errorf("round %q: %w", j.ID, err)
	}
	r := &Round{ID: j.ID, Network: j.Network, KingUID: string(j.King), KingModel: j.Model, Rule: j.Rule, Eval: e}
	if j.Block != nil {
		r.Block = *j.Block
	}
	for i := range e.Students {
		e.Students[i].UID = string(j.UIDs[e.Students[i].Model])
	}
	return r, j.Rule.check()
}

// State is what the validator had on record after a block: the score of each uid.
type State struct {
	Block  int64
	Scores map[string]float64
}

// ReadStates reads the series of a validator's scores, one JSON object a line:
// {block, scores: {uid: KL}}.
func ReadStates(path string) (all []State, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	for l, err := range arena.Lines(f, maxLine) {
		var s State
		if err == nil {
			err = json.Unmarshal(l.Text, &s)
		}
		if err == nil && len(all) > 0 && s.Block <= all[len(all)-1].Block {
			err = fmt.Errorf("block %d comes after %d", s.Block, all[len(all)-1].Block)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", path, l.Number, err)
		}
		all = append(all, s)
	}
	return all, nil
}

// king is the student that sat in the king's place: the one with the king's uid,
// or his model, or the first, who runs first.
func (r *Round) king() *Student {
	for _, is := range []func(*Student) bool{
		func(s *Student) bool { return r.KingUID != "" && s.UID == r.KingUID },
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

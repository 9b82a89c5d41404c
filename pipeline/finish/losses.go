package finish

import (
	"slices"

	"github.com/trajectory-arena/arena"
)

// The codes of parts of a trace that a training row may lack. docs/profiles.md explains each
// code.
const (
	lostSystemStep = "system_step"
	lostEnding     = "ending"
	lostTurnEnd    = "turn_end"
)

// Losses returns the codes of the parts of a trace that its training row lacks, such as the
// ending.
func Losses(t *arena.Trace, d *arena.Dialogue) []string {
	lost := append([]string{}, t.Lost...)
	if slices.ContainsFunc(t.Steps, func(s arena.Step) bool { return s.Role == arena.RoleSystem }) {
		lost = append(lost, lostSystemStep)
	}
	turns := d.Turns
	for len(turns) > 0 && turns[len(turns)-1].User != "" {
		turns = turns[:len(turns)-1]
	}
	hasResult := func(c arena.Call) bool {
		return c.Result.Kind() != arena.Absent
	}
	endsInUser := len(turns) < len(d.Turns)
	endsInResult := len(turns) > 0 && slices.ContainsFunc(turns[len(turns)-1].Calls, hasResult)
	if endsInUser || endsInResult {
		lost = append(lost, lostEnding)
	}
	previous := arena.Turn{User: t.Query}
	for _, turn := range turns {
		sameRole := (turn.User == "") == (previous.User == "")
		if sameRole && len(previous.Calls) == 0 {
			return append(lost, lostTurnEnd)
		}
		previous = turn
	}
	return lost
}

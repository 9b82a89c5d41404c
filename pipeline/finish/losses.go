package finish

import (
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/domain"
)

// The codes of parts of a trace that a training row may lack. docs/profiles.md explains each
// code.
const (
	lostSystemStep = "system_step"
	lostEnding     = "ending"
	lostTurnEnd    = "turn_end"
)

// keyLost is the key of a row's metadata with the codes of the parts of the trace that the row lacks.
const keyLost = "lost"

// losses returns the codes of the parts of a trace that its training row lacks, such as the
// ending.
func losses(t *arena.Trace, d *arena.Dialogue) []string {
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

// DeclaredRow returns the row of table declared on an attempt of the domain d, with the reward that
// its source states. It returns nil if the domain takes outcomes from elsewhere.
func DeclaredRow(a *rows.Attempt, d *domain.Domain, reward *float64) *rows.Declared {
	if d.Outcome.From != domain.FromDeclared {
		return nil
	}
	return &rows.Declared{
		TraceID:      a.TraceID,
		RecordSHA256: a.RecordSHA256,
		Domain:       d.Name,
		Reward:       reward,
	}
}

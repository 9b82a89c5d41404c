package records

import (
	"cmp"
	"context"

	"github.com/trajectory-arena/arena/filters/habits"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/judges/multiplier"
	"github.com/trajectory-arena/arena/pipeline/block"
	"github.com/trajectory-arena/arena/pipeline/shuffle"
)

// addGrade writes the judge's grade of an attempt, if it can have one.
func addGrade(pos Position, x *block.Entry, out *shuffle.Store) {
	if !x.HasDialogue || !x.Judgement.Outcome.IsGradable() {
		return
	}
	out.Add(gradeStream, shuffle.PartitionOf(x.RunID), func(b []byte) []byte {
		b = habits.AppendText(pos.Append(b), x.RunID)
		if x.Score == nil {
			return habits.AppendFlag(b, false)
		}
		return habits.AppendFloat(habits.AppendFlag(b, true), *x.Score)
	})
}

// sumGrades sums the judge's grades of each run in a partition, in the order of the inputs. Each
// attempt with a dialogue counts once, even if it is dropped.
func (c *Comparison) sumGrades(_ context.Context, part int, out *shuffle.Store) error {
	type grade struct {
		Position
		run   string
		score *float64
	}
	var grades []grade
	err := c.Each(gradeStream, part, func(u *habits.Unpacker) {
		x := grade{Position: UnpackPosition(u), run: u.Text()}
		if u.Flag() {
			x.score = new(u.Float())
		}
		if c.CopyOf(x.Position) == Original {
			grades = append(grades, x)
		}
	})
	slicesx.SortFunc(grades, func(x, y grade) int {
		return cmp.Or(cmp.Compare(x.Input, y.Input), cmp.Compare(x.Entry, y.Entry))
	})
	runs := map[string]multiplier.Quality{}
	for _, x := range grades {
		runs[x.run] = runs[x.run].Add(x.score)
	}
	for _, name := range slicesx.SortedKeys(runs) {
		q := runs[name]
		out.Add(runStream, part, func(b []byte) []byte {
			b = AppendInts(habits.AppendText(b, name), q.Judged, q.Scored)
			return habits.AppendFloat(b, q.Sum)
		})
	}
	return err
}

// loadRuns reads the sums of the judge's grades of all runs.
func (c *Comparison) loadRuns() error {
	if !c.NeedsRuns {
		return nil
	}
	c.Runs = map[string]multiplier.Quality{}
	return c.All(runStream, func(u *habits.Unpacker) {
		c.Runs[u.Text()] = multiplier.Quality{Judged: u.Int(), Scored: u.Int(), Sum: u.Float()}
	})
}

package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus/where"
	"github.com/trajectory-arena/arena/student"
	"github.com/trajectory-arena/arena/traces"
)

// DayInputs lists the files of days; standard input is spooled to a file that is
// there until the run ends.
func (s *Streams) DayInputs(ctx context.Context, days []string) (all []traces.Input, err error) {
	if days, err = s.LocalDays(ctx, days); err != nil {
		return nil, err
	}
	for _, day := range days {
		inputs, err := traces.Discover(day)
		if err != nil {
			return nil, Failed(err, "DAY is a folder, a glob, a file, the URL of a folder in a bucket, or -")
		}
		if day == traces.Stdin {
			dir, err := s.Temporary("arena-spool-")
			if err != nil {
				return nil, err
			}
			if err := inputs[0].Spool(ctx, s.In, dir); err != nil {
				return nil, err
			}
		}
		all = append(all, inputs...)
	}
	slices.SortStableFunc(all, func(a, b traces.Input) int { return cmp.Compare(a.Path, b.Path) })
	return all, nil
}

// LocalDays gives the paths of days as Local does. The folder of a run that has
// not ended is refused: its traces are written with its results, and what is
// there before is none.
func (s *Streams) LocalDays(ctx context.Context, days []string) (paths []string, err error) {
	if paths, err = s.Local(ctx, days...); err != nil {
		return nil, err
	}
	for _, day := range paths {
		spec, err := student.ReadFinished(day)
		if spec.Schema == student.SpecSchema && errors.Is(err, student.ErrUnfinished) {
			return nil, err
		}
	}
	return paths, nil
}

// maxAttemptLine bounds a line that speaks of one attempt: scores with their
// rewards are a few thousand bytes, judge lines quote some hundred characters each.
const maxAttemptLine = 16 << 20

// ReadByAttempt reads JSON lines that each speak of one attempt into what they
// say, by the attempt's id. The hint says where such a file comes from.
func ReadByAttempt[T any](path, hint string) (map[string]T, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, Failed(err, hint)
	}
	defer f.Close() //nolint:errcheck // only read
	said := map[string]T{}
	for line, err := range arena.Lines(f, maxAttemptLine) {
		if err != nil {
			return nil, Failed(fmt.Errorf("read %s: %w", path, err), hint)
		}
		var id struct {
			Run     string `json:"eval_run_id"`
			Problem string `json:"problem_id"`
		}
		var saying T
		if err := cmp.Or(json.Unmarshal(line.Text, &id), json.Unmarshal(line.Text, &saying)); err != nil {
			return nil, Failed(fmt.Errorf("read %s: line %d: %w", path, line.Number, err), hint)
		}
		said[id.Run+"/"+id.Problem] = saying
	}
	return said, nil
}

// ParseWhere reads the flag --where; nil where it was not given.
func ParseWhere(source string) (*where.Expr, error) {
	expr, err := where.ParseOptional(source)
	if unknown, is := errors.AsType[*where.Unknown](err); is {
		return nil, Usage(fmt.Errorf("read --where: %w", err), fmt.Sprintf("did you mean %q? docs/columns.md lists the columns", unknown.Nearest))
	}
	if err != nil {
		return nil, Usage(fmt.Errorf("read --where: %w", err), "an example: --where 'judge_score >= 0.7 && n_steps <= 15 && task_type != \"voucher\"'")
	}
	return expr, nil
}

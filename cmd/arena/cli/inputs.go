package cli

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/pipeline/finish"
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
			return nil, Failed(err, "the command that began the run goes on with it")
		}
	}
	return paths, nil
}

// BankForms is what helps where a bank cannot be read.
const BankForms = "a bank is a problems file or suite, rows with text, query, problem or messages, a corpus folder or its bank.json, or a folder of banks"

// NotProtected says what helps where a corpus cannot be guarded; nil for errors of
// other kinds.
func NotProtected(err error) error {
	switch {
	case errors.Is(err, finish.ErrNotProtected):
		return Usage(err, "give the file with --held-out, or the bank.json of the corpus with --held-out or --bank: what was held out once stays held out")
	case errors.Is(err, guard.ErrBank):
		return Failed(err, BankForms)
	}
	return nil
}

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/student"
	"github.com/trajectory-arena/arena/traces"
)

// DayInputs lists the files of days; standard input is spooled to a file that
// cleanUp removes.
func DayInputs(ctx context.Context, s *Streams, days []string) (all []traces.Input, cleanUp func(), err error) {
	days, cleanUp, err = LocalDays(ctx, days)
	if err != nil {
		return nil, cleanUp, err
	}
	for _, day := range days {
		inputs, err := traces.Discover(day, traces.DefaultRules())
		if err != nil {
			return nil, cleanUp, Failed(err, "DAY is a folder, a glob, a file, the URL of a folder in a bucket, or -")
		}
		if day == traces.Stdin {
			dir, err := os.MkdirTemp("", "arena-spool-")
			if err != nil {
				return nil, cleanUp, fmt.Errorf("spool standard input: %w", err)
			}
			removeCopies := cleanUp
			cleanUp = func() {
				removeCopies()
				os.RemoveAll(dir) //nolint:errcheck // a spool that stays behind is the system's to clear
			}
			if err := inputs[0].Spool(ctx, s.In, dir); err != nil {
				return nil, cleanUp, err
			}
		}
		all = append(all, inputs...)
	}
	slices.SortStableFunc(all, func(a, b traces.Input) int { return cmp.Compare(a.Path, b.Path) })
	return all, cleanUp, nil
}

// LocalDays gives the paths of days as Local does. The folder of a run that has
// not ended is refused: its traces are written with its results, and what is
// there before is none.
func LocalDays(ctx context.Context, days []string) (paths []string, cleanUp func(), err error) {
	if paths, cleanUp, err = Local(ctx, days); err != nil {
		return nil, cleanUp, err
	}
	for _, day := range paths {
		spec, err := student.ReadFinished(day)
		if spec.Schema == student.SpecSchema && errors.Is(err, student.ErrUnfinished) {
			return nil, cleanUp, Failed(err, "the command that began the run goes on with it")
		}
	}
	return paths, cleanUp, nil
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

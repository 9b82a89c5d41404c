package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/guard"
)

type bankFlags struct {
	state     string
	pool      string
	date      string
	rotatedBy string
	release   []string
}

func (f *bankFlags) register(c *cobra.Command, moves bool) {
	flags := c.Flags()
	flags.StringVar(&f.state, "state", "protected.json", "the bank's state file")
	if !moves {
		cli.Reads(c, "state")
		return
	}
	flags.StringVar(&f.date, "date", "", "day of the move, such as 2026-01-31")
	flags.StringVar(&f.rotatedBy, "by", "", "who moves the problems")
	cli.Replaces(c, "state")
}

func newBankAdd(s *cli.Streams) *cobra.Command {
	f := bankFlags{}
	c := cli.Command("add --pool POOL FILES…", "Add problems to a pool", cli.NumArgs(1, cli.AnyNumber), func(c *cobra.Command, files []string) error {
		return f.change(s, func(r *guard.Rotation) ([]guard.Rotated, error) {
			bank, err := readBanks(files)
			if err != nil {
				return nil, err
			}
			before := len(r.Problems)
			if err := r.Add(c.Context(), bank, f.move()); err != nil {
				return nil, err
			}
			return make([]guard.Rotated, len(r.Problems)-before), nil
		})
	})
	f.register(c, true)
	c.Flags().StringVar(&f.pool, "pool", "", "open, held-out or never-touch")
	cli.ReadsFiles(c)
	return c
}

func newBankRotate(s *cli.Streams) *cobra.Command {
	f := bankFlags{}
	takes := func(_ *cobra.Command, ids []string) error {
		if len(ids)+len(f.release) == 0 {
			return cli.Misuse("no problem is named", "name the problems that move, or --release one that is opened again")
		}
		return nil
	}
	c := cli.Command("rotate --to POOL IDS…", "Move problems and their clusters to a more protected pool", takes, func(_ *cobra.Command, ids []string) error {
		return f.change(s, func(r *guard.Rotation) ([]guard.Rotated, error) {
			return r.Rotate(append(ids, f.release...), f.move())
		})
	})
	f.register(c, true)
	c.Flags().StringVar(&f.pool, "to", "", "held-out or never-touch; open with --release")
	c.Flags().StringArrayVar(&f.release, "release", nil, "id of a problem that is no longer held out, with --to open; may be repeated")
	return c
}

func (f *bankFlags) move() guard.Move {
	return guard.Move{
		To:      guard.Stage(f.pool),
		Date:    f.date,
		By:      f.rotatedBy,
		Release: f.release,
	}
}

func (f *bankFlags) change(s *cli.Streams, move func(*guard.Rotation) ([]guard.Rotated, error)) error {
	r, err := guard.ReadRotation(f.state)
	if errors.Is(err, fs.ErrNotExist) { // none yet is an empty bank
		r = &guard.Rotation{Schema: guard.RotationSchema}
		err = nil
	}
	if err != nil {
		return cli.Failed(err, "give --state a file that arena leak bank wrote; one of another version cannot be changed")
	}
	moved, err := move(r)
	var failure *cli.Failure
	switch {
	case errors.As(err, &failure), errors.Is(err, context.Canceled):
		return err
	case err != nil:
		return cli.Usage(err, "pools go one way: open, held-out, never-touch; --date and --by are needed")
	}
	if err := cli.WriteText(s, f.state, string(r.Encode())); err != nil {
		return err
	}
	s.Notef("arena: %d problems moved, %d in the bank\n", len(moved), len(r.Problems))
	return nil
}

// newBankFreeze returns the command `arena leak bank freeze`. It writes protected problems
// (problems kept for evaluation) to a file with a name, a version and a hash, so that others can
// cite exactly this set.
func newBankFreeze(s *cli.Streams) *cobra.Command {
	var name, out string
	version := 1
	c := cli.Command("freeze --name NAME --version N FILES…", "Write a held-out set that can be cited: with a name, a version and a hash", cli.NumArgs(1, cli.AnyNumber), func(_ *cobra.Command, files []string) error {
		bank, err := readBanks(files)
		if err != nil {
			return err
		}
		frozen, err := guard.Freeze(name, version, bank)
		if err != nil {
			return cli.Usage(err, "give --name and --version, as in --name held-out --version 3")
		}
		content := frozen.Encode()
		if earlier, readErr := os.ReadFile(out); readErr == nil && !bytes.Equal(earlier, content) {
			return cli.Failed(fmt.Errorf("%s has another content: a frozen bank is never replaced", out), "write the next version to another file")
		}
		if err := cli.WriteText(s, out, string(content)); err != nil {
			return err
		}
		s.Notef("arena: %s: %d problems\n", frozen.Citation(), len(bank))
		return nil
	})
	c.Flags().StringVar(&name, "name", "held-out", "name of the set: a to z, digits and hyphens")
	c.Flags().IntVar(&version, "version", version, "version of the set, from 1")
	cli.Out(c, &out)
	cli.ReadsFiles(c)
	return c
}

func newBankList(s *cli.Streams) *cobra.Command {
	f := bankFlags{}
	c := cli.Command("list", "List the bank's problems with pool, cluster, date and mover", cli.NumArgs(0, 0), func(*cobra.Command, []string) error {
		r, err := guard.ReadRotation(f.state)
		if err != nil {
			return cli.Failed(err, "name the bank's state file with --state")
		}
		t := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "id\tbank\tpool\tcluster\tsince\tby")
		for _, p := range r.Problems {
			fmt.Fprintf(
				t,
				"%s\t%s\t%s\t%s\t%s\t%s\n",
				p.ID,
				p.Bank,
				p.Stage,
				p.Cluster,
				p.Since,
				p.By,
			)
		}
		return t.Flush()
	})
	f.register(c, false)
	return c
}

package audit

import (
	"context"
	"errors"
	"fmt"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/pipeline/finish"
)

// verifyPublic opens every file of a folder, and fails if anything stands there that
// held-out files protect.
func verifyPublic(ctx context.Context, s *cli.Streams, name string, heldOut []string) error {
	if len(heldOut) == 0 {
		return cli.Usage(errors.New("--public has nothing to look for"), "name what is protected by --held-out: a problems file, or the corpus that this was published from")
	}
	bank, err := readBanks(heldOut)
	if err != nil {
		return err
	}
	paths, err := s.Local(ctx, name)
	if err != nil {
		return err
	}
	files := 0
	err = guard.NewExposed(bank).Folder(paths[0], func(path, what string) {
		files++
		fmt.Fprintf(s.Err, "%s: %s\n", path, cli.WithoutSecrets(what))
	})
	switch {
	case err != nil:
		return cli.Failed(err, "a file could not be searched to its end")
	case files > 0:
		return cli.Limit(fmt.Errorf("verify %s: %s what is protected", name, cli.Counted(files, "file holds", "files hold")), "do not publish it; `arena publish` makes what may be")
	}
	fmt.Fprintf(s.Err, "%s: nothing protected: no request, id or title of %d problems\n", name, len(bank))
	return nil
}

// verifyTrain holds every training row against what the corpus and held-out files
// protect.
func verifyTrain(ctx context.Context, s *cli.Streams, name string, heldOut []string, quiet bool) error {
	leaks := 0
	err := cli.ReadCorpus(ctx, name, func(fsys corpus.FS, dir string) error {
		source, err := finish.Open(fsys, dir)
		if err != nil {
			return err
		}
		known, err := finish.Gather([]*finish.Source{source}, heldOut)
		if err != nil {
			return err
		}
		return known.Leaks(ctx, source, func(id, evidence string) {
			leaks++
			fmt.Fprintf(s.Err, "%s: %s\n", cli.WithoutSecrets(id), cli.WithoutSecrets(evidence))
		})
	})
	switch {
	case errors.Is(err, finish.ErrNotProtected):
		if !quiet {
			fmt.Fprintf(s.Err, "training rows were not searched for what is not known (--held-out): %v\n", err)
		}
		return nil
	case err == nil && leaks > 0:
		return cli.Limit(fmt.Errorf("verify %s: leak: %s for what is protected", name, cli.Counted(leaks, "training row asks", "training rows ask")), "do not train on it; build it again")
	}
	return err
}

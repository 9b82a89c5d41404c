package audit

import (
	"context"
	"errors"
	"fmt"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/guard"
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
	paths, cleanUp, err := cli.Local(ctx, []string{name})
	defer cleanUp()
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

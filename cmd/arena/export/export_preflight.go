package export

import (
	"context"
	"errors"
	"fmt"
	"os/exec"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/corpus/export"
)

// preflight renders the finished export through chat templates, in Python:
// their language is Jinja, and another implementation of it would prove little.
func preflight(ctx context.Context, s *cli.Streams, python, dir string, templates []string) error {
	if _, err := exec.LookPath(python); err != nil {
		return cli.Failed(fmt.Errorf("run preflight: %w", err), "the export is written; --preflight needs Python with jinja2 and pyarrow, named by --python")
	}
	c := exec.CommandContext(ctx, python, append([]string{"-c", export.Preflight, dir}, templates...)...)
	c.Stdout, c.Stderr = s.Err, s.Err
	err := c.Run()
	if _, ended := errors.AsType[*exec.ExitError](err); ended {
		return cli.Limit(fmt.Errorf("preflight of %s: something of the rows is lost, or the check could not run (%w)", dir, err), "the export is written; the lines above say what is lost in which template, and what to use")
	}
	return err
}

package evaluate

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/internal/atomicfile"
	"github.com/trajectory-arena/arena/report"
)

// pageFile is the page of a run.
const pageFile = "report.html"

// writePages draws the pages of a finished run: report.html, which is the same
// however the run went, and beside it what depends on clock and machine.
func (f *Flags) writePages() error {
	run, err := report.ReadRun(f.Out)
	if err != nil {
		return err
	}
	page, err := run.Page()
	if err != nil {
		return err
	}
	if err = writePage(filepath.Join(f.Out, pageFile), page); err != nil {
		return err
	}
	machine, err := report.ReadTelemetry(f.Out)
	if errors.Is(err, os.ErrNotExist) {
		return nil // scored again in a folder that came without
	}
	if err != nil {
		return err
	}
	if page, err = machine.Page(); err != nil {
		return err
	}
	return writePage(filepath.Join(f.Out, report.TelemetryPage), page)
}

// writePage writes a page without the secrets in what it quotes, all or nothing.
func writePage(path string, p *report.Page) error {
	html, err := p.HTML()
	if err != nil {
		return err
	}
	return atomicfile.WriteFile(path, []byte(cli.WithoutSecrets(string(html))))
}

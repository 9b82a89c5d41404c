package evaluate

import (
	"fmt"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/student"
)

// openFiles is how many files a run has open at most: the connections of its
// requests, the traces of each sample while they are written, and the rest.
func (f *Flags) openFiles(s student.Spec) int {
	// Journals, results, search index, telemetry and the standard streams are about twenty.
	const rest = 32
	connections := min(f.concurrency, s.Problems*s.Samples) * len(f.Endpoints)
	if f.search != "" {
		connections *= 2
	}
	return connections + s.Samples + rest
}

// enoughFiles refuses a run that would come to need more open files than the
// system gives: what it could not connect to for that reason would look like a
// server that is not there.
func (f *Flags) enoughFiles(s student.Spec) error {
	need, given := f.openFiles(s), cli.OpenFiles()
	if uint64(need) <= given { //nolint:gosec // a count
		return nil
	}
	return cli.Usage(fmt.Errorf("so many requests and samples at once take %d open files, and the system gives %d", need, given),
		"lower --concurrency, or raise the limit (ulimit -n)")
}

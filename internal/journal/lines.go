package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/trajectory-arena/arena/internal/atomicfile"
)

// Lines is an append-only file of lines, for programs of any kind to read. Its
// methods may be called from any goroutine, and others may read the file at any
// moment: only its last line may be there in part.
type Lines struct {
	appended
	path string
}

// CreateLines makes a file of its own in dir, named as os.CreateTemp does by
// pattern: no other process has it, on whatever machine it runs.
func CreateLines(dir, pattern string) (*Lines, error) {
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return nil, fmt.Errorf("create journal: %w", err)
	}
	if err := atomicfile.SyncDir(filepath.Clean(dir)); err != nil {
		return nil, errors.Join(fmt.Errorf("create journal: %w", err), f.Close())
	}
	return &Lines{appended: appended{file: f}, path: f.Name()}, nil
}

// Path is the file's.
func (l *Lines) Path() string { return l.path }

// Append adds a line, which ends in its newline and has no other, and says where
// it begins. It survives a crash of the machine after the next Sync.
func (l *Lines) Append(line []byte) (offset int64, err error) { return l.append(line) }

package ledger

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	_ "modernc.org/sqlite" // the pure Go driver named "sqlite"
)

const (
	suffix = ".sqlite"
	// version is the schema's, kept in user_version.
	version = 2
	// sealEvery bounds the log of an open segment: about 1,000 exchanges of 20
	// KB are 20 MB to copy for a process that reads it meanwhile.
	sealEvery = 1024
)

// segment is one SQLite file: the one this process writes, or one it reads.
type segment struct {
	path    string
	version int
	db      *sql.DB
	// rows counts the exchanges written by this process.
	rows int
}

// create claims a new file name, which no other process can then have, and
// opens it for writing.
func create(dir string) (*segment, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	path, err := claim(dir)
	if err != nil {
		return nil, err
	}
	db, err := open(path, "vfs", lockless())
	if err != nil {
		return nil, err
	}
	s := &segment{path: path, version: version, db: db}
	for _, statement := range slices.Concat([]string{
		// No shared memory: only one process opens this file for writing.
		"PRAGMA locking_mode = EXCLUSIVE",
		"PRAGMA journal_mode = WAL",
		"PRAGMA wal_autocheckpoint = 0",
		"PRAGMA synchronous = FULL",
	}, schema, []string{
		// The version last: a file without one holds nothing yet.
		fmt.Sprintf("PRAGMA user_version = %d", version),
	}) {
		if _, err := db.Exec(statement); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", statement, err), db.Close())
		}
	}
	return s, nil
}

// claim makes an empty file that did not exist, named by the process.
func claim(dir string) (string, error) {
	for n := 0; ; n++ {
		path := filepath.Join(dir, fmt.Sprintf("%d-%d%s", os.Getpid(), n, suffix))
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		return path, f.Close()
	}
}

// lockless names SQLite's file layer without locks: shared folders often have
// none that work, and a claimed name needs none.
func lockless() string {
	if runtime.GOOS == "windows" {
		return "win32-none"
	}
	return "unix-none"
}

// open opens one SQLite file with one connection.
func open(path, option, value string) (*sql.DB, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(abs), RawQuery: url.Values{option: {value}}.Encode()}
	db, err := sql.Open("sqlite", u.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// seal folds the log into the main file and opens that for reading.
func (s *segment) seal() error {
	if err := s.db.Close(); err != nil {
		return err
	}
	db, err := open(s.path, "immutable", "1")
	s.db = db
	return err
}

// openSegment opens another process's segment for reading, or nil where it
// holds nothing yet.
func (l *Ledger) openSegment(path string) (*segment, error) {
	source, err := l.settled(path)
	if err != nil || source == "" {
		return nil, err
	}
	option, value := "immutable", "1"
	if source != path {
		option, value = "mode", "rw" // the copy is ours, on a local disk
	}
	db, err := open(source, option, value)
	if err != nil {
		return nil, err
	}
	var found int
	if err := db.QueryRow("PRAGMA user_version").Scan(&found); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	switch {
	case found == 0:
		return nil, db.Close()
	case found < 0 || found > version:
		return nil, errors.Join(fmt.Errorf("schema %d is above %d: written by a later version of arena", found, version), db.Close())
	}
	return &segment{path: path, version: found, db: db}, nil
}

// settled gives a file that nobody writes: path itself once it is sealed, else
// a copy of it with its log; nothing where the file is empty, a name claimed
// and no more. The main file is copied first: should its writer seal it
// meanwhile, the log that is copied afterwards repairs the copy, or is gone and
// the sealed file is there to read.
func (l *Ledger) settled(path string) (string, error) {
	wal := path + "-wal"
	if _, err := os.Stat(wal); errors.Is(err, fs.ErrNotExist) {
		info, err := os.Stat(path)
		if err != nil || info.Size() == 0 {
			return "", err
		}
		return path, nil
	}
	if l.temp == "" {
		dir, err := os.MkdirTemp("", "arena-ledger-")
		if err != nil {
			return "", err
		}
		l.temp = dir
	}
	copied := filepath.Join(l.temp, filepath.Base(path))
	if err := copyFile(copied, path); err != nil {
		return "", err
	}
	err := copyFile(copied+"-wal", wal)
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil
	}
	return copied, err
}

func copyFile(to, from string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o600)
}

// escapeGlob makes a path match itself.
func escapeGlob(path string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(path)
}

package block

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/filters/habits"
	"github.com/trajectory-arena/arena/internal/digest"
)

// Version names the layout of a block; a block of another one is made again. Its
// last part is made of what an entry holds, so that a field more is a layout of
// its own.
var Version = func() string {
	layout := layoutOf(reflect.TypeFor[Entry]()) + layoutOf(reflect.TypeFor[Draft]())
	for _, c := range habits.Counts() { // the places of a sample's counts
		layout += "\n" + c.Name
	}
	layout += "\n" + filters.ValueNames()
	return "arena.block.v17-" + digest.SHA256([]byte(layout))[:16]
}()

const (
	indexName  = "index"
	bodiesName = "bodies"
	markerName = "done.json"
	maxMarker  = 1 << 20
)

// Key is what a block depends on: the content of its input, what run.json beside
// it and its path say of its attempts, and every part of the configuration that
// reaches an attempt.
type Key struct {
	Input  string `json:"input_sha256"`
	Meta   string `json:"meta_sha256"`
	Config string `json:"config_sha256"`
}

// Folder names the block's folder by its input's content.
func (k Key) Folder() string {
	return digest.SHA256([]byte(k.Input + "\n" + k.Meta))[:32]
}

// Status says whether a block can be used as it is, and if not, why.
type Status uint8

// The statuses of a block.
const (
	Missing Status = iota
	Corrupt
	SchemaMismatch
	ConfigMismatch
	InputMismatch
	Unfinished
	Equal
)

// String is the reason as a run prints it.
func (s Status) String() string {
	return [...]string{"missing", "corrupt", "schema_mismatch", "config_mismatch", "input_mismatch", "unscored_attempts", "equal"}[s]
}

type marker struct {
	Version string `json:"version"`
	Key     Key    `json:"key"`
	// Unscored counts attempts whose judge gave no answer: the next run asks
	// again.
	Unscored    int    `json:"unscored"`
	IndexSHA256 string `json:"index_sha256"`
	BodiesBytes int64  `json:"bodies_bytes"`
}

// State compares the block in dir with what is wanted of it. An error means
// that the disk did not answer, which says nothing of the block.
func State(fsys corpus.FS, dir string, want Key) (Status, error) {
	m, err := readMarker(fsys, dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Missing, nil
	case errors.Is(err, errMarker):
		return Corrupt, nil
	case err != nil:
		return Missing, err
	case m.Version != Version:
		return SchemaMismatch, nil
	case m.Key.Input != want.Input || m.Key.Meta != want.Meta:
		return InputMismatch, nil
	case m.Key.Config != want.Config:
		return ConfigMismatch, nil
	}
	whole, err := intact(fsys, dir, m)
	switch {
	case err != nil:
		return Missing, err
	case !whole:
		return Corrupt, nil
	case m.Unscored > 0:
		return Unfinished, nil
	default:
		return Equal, nil
	}
}

// Content names what the block in dir holds: two blocks with one key differ
// where a judge answered for one and not for the other.
func Content(fsys corpus.FS, dir string) (string, error) {
	m, err := readMarker(fsys, dir)
	return m.IndexSHA256, err
}

var errMarker = errors.New("no marker of a block")

func readMarker(fsys corpus.FS, dir string) (m marker, err error) {
	name := filepath.Join(dir, markerName)
	b, err := corpus.ReadFile(fsys, name, maxMarker)
	if err == nil {
		if bad := json.Unmarshal(b, &m); bad != nil {
			err = fmt.Errorf("parse %s: %w: %w", name, errMarker, bad)
		}
	}
	return m, err
}

// intact reports whether the files are those that the marker was written for. A
// file that is gone is no error: the block is made again.
func intact(fsys corpus.FS, dir string, m marker) (bool, error) {
	_, index, err := corpus.Hash(fsys, filepath.Join(dir, indexName))
	if err == nil {
		var bodies stored
		if bodies, err = open(fsys, dir, bodiesName); err == nil {
			defer bodies.Close()
			info, failed := bodies.file.Stat()
			return failed == nil && info.Size() == m.BodiesBytes && index == m.IndexSHA256, failed
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return false, err
}

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

// Version identifies the layout of a block. A run writes blocks of another version again. Its
// suffix is a hash of the types Entry and Draft and of the names of the counts and values that
// are stored, so that every change of these is a new version.
var Version = func() string {
	layout := layoutOf(reflect.TypeFor[Entry]()) + layoutOf(reflect.TypeFor[Draft]()) + layoutOf(reflect.TypeFor[Sources]())
	for _, c := range habits.Counts() { // a sample stores its counts in this order
		layout += "\n" + c.Name
	}
	layout += "\n" + filters.ValueNames()
	return "arena.block.v21-" + digest.SHA256([]byte(layout))[:16]
}()

const (
	indexName  = "index"
	bodiesName = "bodies"
	markerName = "done.json"
	maxMarker  = 1 << 20
)

// Key is the set of hashes of everything that a block depends on besides its Sources: the content
// of its input, the data about its attempts in its path and in run.json next to it, and the
// configuration as far as it affects an attempt.
type Key struct {
	Input  string `json:"input_sha256"`
	Meta   string `json:"meta_sha256"`
	Config string `json:"config_sha256"`
}

// Folder returns the name of the block's folder. The name depends on the input alone.
func (k Key) Folder() string {
	return digest.SHA256([]byte(k.Input + "\n" + k.Meta))[:32]
}

// Status is the state of a block: usable, or the reason why it is not.
type Status uint8

// The states of a block.
const (
	Missing Status = iota
	Corrupt
	SchemaMismatch
	ConfigMismatch
	InputMismatch
	// Unfinished is a block with attempts for which the judge gave no answer.
	Unfinished
	// Unguarded is a block whose attempts were compared with other protected problems, or with none.
	// A run compares the stored drafts again.
	Unguarded
	// Equal is a block that can be used unchanged.
	Equal
)

// The words for the states in which a run works on an input again.
const (
	againCorrupt = "corrupt"             // the finished work on the input is damaged
	againSchema  = "schema_mismatch"     // another version of arena stored the finished work on the input
	againConfig  = "config_mismatch"     // the program, the configuration, the judges, or the problems and items that its attempts name differ
	againInput   = "input_mismatch"      // the input has other content
	againUnasked = "unscored_attempts"   // a judge gave no answer on some of its attempts
	againGuard   = "protection_mismatch" // other problems are protected: its rows are compared with them, and all else stays
)

var statusNames = [...]string{
	Missing:        "missing",
	Corrupt:        againCorrupt,
	SchemaMismatch: againSchema,
	ConfigMismatch: againConfig,
	InputMismatch:  againInput,
	Unfinished:     againUnasked,
	Unguarded:      againGuard,
	Equal:          "equal",
}

// String returns the status in the words that a run prints.
func (s Status) String() string { return statusNames[s] }

type marker struct {
	Version string `json:"version"`
	Key     Key    `json:"key"`
	// Unscored counts the attempts for which a judge gave no answer. The next run asks again.
	Unscored    int    `json:"unscored"`
	IndexSHA256 string `json:"index_sha256"`
	BodiesBytes int64  `json:"bodies_bytes"`

	// Sources is the place of the sources in the file of drafts, after the last of them.
	Sources       Place  `json:"sources"`
	SourcesSHA256 string `json:"sources_sha256"`
}

// State returns the state of the block in dir for a run that needs a block with the key want. An
// error means that the disk failed, not that the block is unusable.
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
	intact, err := isIntact(fsys, dir, m)
	switch {
	case err != nil:
		return Missing, err
	case !intact:
		return Corrupt, nil
	case m.Unscored > 0:
		return Unfinished, nil
	default:
		return Equal, nil
	}
}

// HasKey reports whether there is a block for want. It does not check whether the block is intact.
func HasKey(fsys corpus.FS, dir string, want Key) bool {
	m, err := readMarker(fsys, dir)
	return err == nil && m.Version == Version && m.Key == want
}

// Content returns the hash of the index of the block in dir. Two blocks with the same key have
// different hashes if a judge answered for one of them only.
func Content(fsys corpus.FS, dir string) (string, error) {
	m, err := readMarker(fsys, dir)
	return m.IndexSHA256, err
}

// HasDrafts reports whether the block in dir has the draft of any attempt.
func HasDrafts(fsys corpus.FS, dir string) (bool, error) {
	m, err := readMarker(fsys, dir)
	return m.BodiesBytes > 0, err
}

var errMarker = errors.New("no marker of a block")

func readMarker(fsys corpus.FS, dir string) (marker, error) {
	var m marker
	path := filepath.Join(dir, markerName)
	b, err := corpus.ReadFile(fsys, path, maxMarker)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return m, fmt.Errorf("parse %s: %w: %w", path, errMarker, err)
	}
	return m, nil
}

// isIntact reports whether two files of a block (the stored results of an input) are as the marker
// m records: the index file has its hash, the file of rendered rows its size. If a file is missing,
// it returns false without an error, so that the run writes the block again.
func isIntact(fsys corpus.FS, dir string, m marker) (bool, error) {
	_, index, err := corpus.HashFile(fsys, filepath.Join(dir, indexName))
	if err != nil {
		return false, ignoreMissing(err)
	}
	bodies, err := open(fsys, dir, bodiesName)
	if err != nil {
		return false, ignoreMissing(err)
	}
	defer bodies.Close()

	info, err := bodies.file.Stat()
	if err != nil {
		return false, err
	}
	return info.Size() == m.BodiesBytes && index == m.IndexSHA256, nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

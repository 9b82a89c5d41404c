package block

import (
	"fmt"
	"path/filepath"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/internal/digest"
)

// Sources are what the entries of a block take from the problems and the catalogue of a run. A
// block can be used in a run of other days if that run has the same of each.
type Sources struct {
	_ struct{} `cbor:",toarray"`
	// Problems are the distinct problems that the attempts name. The field Problem of an entry is an
	// index in this list.
	Problems []Reference
	// Documents are the sorted ids that were looked up in the catalogue. DocumentsSHA256 is the hash
	// of what the catalogue has of them, CatalogSHA256 that of the catalogue's files.
	Documents       []string
	DocumentsSHA256 string
	CatalogSHA256   string
}

// Reference is how attempts name their problem.
type Reference struct {
	_ struct{} `cbor:",toarray"`
	// ID is the problem_id of the attempts. Query is their request, empty if the ID was sufficient.
	ID    string
	Query string
	// SHA256 is the hash of the problem, empty if the run has none.
	SHA256 string
}

// maxSources is the maximum size in bytes of the file that lists which problems and which items of
// the catalogue the results of one block (the stored results of an input) depend on.
const maxSources = 1 << 30

// writeSources writes the file that lists which problems and which items of the catalogue the
// results in a block's folder depend on. A later run compares this list with its own inputs. It
// returns the hash of the file.
func writeSources(fsys corpus.FS, dir string, s *Sources) (string, error) {
	b, err := (&coder{}).pack(s)
	if err != nil {
		return "", err
	}
	out, err := corpus.Create(fsys, filepath.Join(dir, sourcesName))
	if err != nil {
		return "", err
	}
	if _, err = out.Write(b); err != nil {
		_ = out.File.Close() // the caller has the error that led here
		return "", err
	}
	err = out.Close()
	return out.SHA256(), err
}

// ReadSources reads the sources of the block in dir. The error is ErrDamaged if they do not have the
// hash that the marker records.
func ReadSources(fsys corpus.FS, dir string) (*Sources, error) {
	m, err := readMarker(fsys, dir)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, sourcesName)
	b, err := corpus.ReadFile(fsys, path, maxSources)
	if err != nil {
		return nil, err
	}
	s := &Sources{}
	if digest.SHA256(b) != m.SourcesSHA256 || (&coder{}).unpack(b, maxSources, s) != nil {
		return nil, fmt.Errorf("read %s: %w", path, ErrDamaged)
	}
	return s, nil
}

package block

import (
	"fmt"

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

// maxSources is the maximum size in bytes of stored sources.
const maxSources = 1 << 30

// ReadSources reads the sources of the block in dir. The error is ErrDamaged if they do not have the
// hash that the marker records.
func ReadSources(fsys corpus.FS, dir string) (*Sources, error) {
	m, err := readMarker(fsys, dir)
	if err != nil {
		return nil, err
	}
	f, err := open(fsys, dir, bodiesName)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err = f.readFrame(m.Sources, maxSources); err != nil {
		return nil, err
	}
	s := &Sources{}
	if digest.SHA256(f.frame) != m.SourcesSHA256 || f.coder.unpack(f.frame, maxSources, s) != nil {
		return nil, fmt.Errorf("read the sources in %s: %w", f.path, ErrDamaged)
	}
	return s, nil
}

package block

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/guard"
)

// Findings are what the guard found in the attempts of a block. They are stored apart from the
// block, because they depend on the protected problems of all days of a run, and the block depends
// on one input.
type Findings struct {
	_ struct{} `cbor:",toarray"`
	// Version is the Version of the program that wrote the findings.
	Version string
	// Block is the hash of the block's index, as Content returns it. Run is the hash of everything
	// else that the findings depend on.
	Block string
	Run   string
	// Entries are the indexes of the entries that have a finding, Values their findings. All other
	// entries have the zero finding.
	Entries []int
	Values  []guard.Finding
}

// Add adds the finding on the entry with index n. Entries are added in their order.
func (f *Findings) Add(n int, value guard.Finding) {
	if value != (guard.Finding{}) {
		f.Entries = append(f.Entries, n)
		f.Values = append(f.Values, value)
	}
}

// Finding returns the finding on the entry with index n.
func (f *Findings) Finding(n int) guard.Finding {
	if i, ok := slices.BinarySearch(f.Entries, n); ok {
		return f.Values[i]
	}
	return guard.Finding{}
}

// maxSummed is the maximum size in bytes of a file with a checksum: of what the guard, which searches
// attempts for protected problems, found in one block (the stored results of an input), or of a segment
// of an unfinished block.
const maxSummed = 1 << 30

// WriteFindings writes findings to a file, after their checksum.
func WriteFindings(fsys corpus.FS, path string, f *Findings) error {
	f.Version = Version
	return writeSummed(fsys, path, f)
}

// ReadFindings reads the findings in a file. The error is ErrDamaged if the file does not have its
// checksum, or if another version wrote it.
func ReadFindings(fsys corpus.FS, path string) (*Findings, error) {
	f := &Findings{}
	if err := readSummed(fsys, path, f); err != nil {
		return nil, err
	}
	if f.Version != Version || len(f.Entries) != len(f.Values) {
		return nil, fmt.Errorf("read %s: %w", path, ErrDamaged)
	}
	return f, nil
}

// writeSummed writes v to a file, after its checksum.
func writeSummed(fsys corpus.FS, path string, v any) error {
	b, err := (&coder{}).pack(v)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(b)
	out, err := corpus.Create(fsys, path)
	if err != nil {
		return err
	}
	if _, err = out.Write(append(sum[:], b...)); err != nil {
		_ = out.File.Close() // the caller has the error that led here
		return err
	}
	return out.Close()
}

// readSummed reads a file of writeSummed into v. The error is ErrDamaged if the file does not have its
// checksum.
func readSummed(fsys corpus.FS, path string, v any) error {
	b, err := corpus.ReadFile(fsys, path, maxSummed)
	if err != nil {
		return err
	}
	content := b[min(sha256.Size, len(b)):]
	sum := sha256.Sum256(content)
	if !bytes.HasPrefix(b, sum[:]) || (&coder{}).unpack(content, maxSummed, v) != nil {
		return fmt.Errorf("read %s: %w", path, ErrDamaged)
	}
	return nil
}

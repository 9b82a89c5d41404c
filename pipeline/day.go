package pipeline

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/judges/outcome"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/traces"
)

// Sources names the files of a run as its user gave them.
type Sources struct {
	// Days are folders, globs or files of traces, or "-" for standard input.
	Days []string
	// Problems, Catalogs and HeldOut override or add to what lies in the days.
	Problems []string
	Catalogs []string
	HeldOut  []string
	// Bank is the bank.json of an earlier run, empty on a first day.
	Bank string
	// Release names problems that the bank holds out and that are to be split anew.
	Release []string
	// Stdin is read where a day is "-"; Spool is the folder it is kept in.
	Stdin io.Reader
	Spool string
	// AnyNetwork lets runs of several networks, such as mainnet and testnet, come together.
	AnyNetwork bool
	// Draft asks for a corpus to look at: it may be empty, and its days have no
	// problems, too few, or lines that cannot be read.
	Draft bool
	// planned are catalogues, by their whole paths, that nobody will look into.
	planned map[string]File
}

// Day is what a run reads: its inputs, its problems and its catalogue.
type Day struct {
	Inputs   []traces.Input
	Problems *Problems
	Catalog  outcome.Catalog
	// Files are the inputs that are no traces, by kind and content.
	Files   []File
	derived int
	spooled []string
}

// inputError is an error of ErrInput that says no more than its cause.
type inputError struct{ error }

// Is reports whether the error is one of ErrInput.
func (inputError) Is(target error) bool { return target == ErrInput }

// Unwrap gives the cause.
func (e inputError) Unwrap() error { return e.error }

// Close closes the catalogue and removes what was kept of standard input.
func (d *Day) Close() error {
	errs := []error{d.Catalog.Close()}
	for _, path := range d.spooled {
		errs = append(errs, os.Remove(path))
	}
	return errors.Join(errs...)
}

// File is one input file that is no trace.
type File struct {
	corpus.Input
	path string
}

// Catalogs are the paths of the day's catalogues.
func (d *Day) Catalogs() []string {
	return slicesx.FilterMap(d.Files, func(f File) (string, bool) { return f.path, f.Kind == kindCatalog })
}

// The kinds of files.
const (
	kindProblems = "problems"
	kindCatalog  = "catalog"
	kindHeldOut  = corpus.InputHeldOut
	kindBank     = "bank"
)

// OpenDay finds and reads everything of a day but its traces.
func OpenDay(ctx context.Context, src Sources) (*Day, error) {
	d := &Day{}
	err := finish.InTurn(
		func() error { return d.discover(src) },
		func() error { return d.readProblems(ctx, src) },
		func() error { return d.readCatalog(src) },
		func() error { return d.spool(ctx, src) },
	)
	if err != nil {
		return nil, errors.Join(inputError{err}, d.Close())
	}
	return d, nil
}

// ErrNetworks says that runs are of more than one network.
var ErrNetworks = errors.New("runs of two networks")

func (d *Day) discover(src Sources) error {
	for _, day := range src.Days {
		ins, err := traces.Discover(day)
		if err != nil {
			return err
		}
		d.Inputs = append(d.Inputs, ins...)
	}
	slices.SortStableFunc(d.Inputs, func(a, b traces.Input) int { return cmp.Compare(a.Path, b.Path) })
	first := ""
	for i := range d.Inputs {
		network := d.Inputs[i].Meta.Network
		if first = cmp.Or(first, network); network != "" && network != first && !src.AnyNetwork {
			return fmt.Errorf("%w: %.20q and %.20q", ErrNetworks, first, network)
		}
	}
	return nil
}

// spool keeps standard input in a file: blocks are named by their input's
// content, and it can be read only once.
func (d *Day) spool(ctx context.Context, src Sources) error {
	for i := range d.Inputs {
		in := &d.Inputs[i]
		if in.Path != traces.Stdin {
			continue
		}
		if err := os.MkdirAll(src.Spool, 0o755); err != nil {
			return fmt.Errorf("create folder for standard input: %w", err)
		}
		if err := in.Spool(ctx, src.Stdin, src.Spool); err != nil {
			return err
		}
		d.spooled = append(d.spooled, in.Path)
	}
	return nil
}

// ErrInput marks a file or folder that was named by the user and cannot be
// used: nothing was worked on yet.
var ErrInput = errors.New("input cannot be used")

// ErrNoProblems says that no day has problems and none were given.
var ErrNoProblems = errors.New("no problems.jsonl: attempts cannot be graded without the problems they answer")

// ErrNoCatalog says that no day has a catalogue and none was given.
var ErrNoCatalog = errors.New("no catalog.jsonl: recommended products cannot be looked up without the catalogue")

func (d *Day) readProblems(ctx context.Context, src Sources) error {
	paths := found(src.Problems, src.Days, traces.TablePattern("problems"))
	d.Problems = &Problems{position: map[*arena.Problem]int{}, byID: map[string]int{}, seen: map[string]bool{}, files: map[string]string{}}
	for _, path := range paths {
		err := d.readFile(kindProblems, path, func(r io.Reader) (int, error) {
			ps, err := arena.ReadProblems(r, maxProblem)
			if err != nil {
				return 0, err
			}
			return len(ps), d.Problems.add(path, ps)
		})
		if err != nil {
			return err
		}
	}
	if err := d.deriveProblems(ctx, src); err != nil {
		return err
	}
	if len(d.Problems.All) == 0 && !src.Draft {
		return ErrNoProblems
	}
	d.Problems.sort()
	return nil
}

// maxProblem bounds one problem of a file: with vectors it has 40 KB.
const maxProblem = 64 << 20

func (d *Day) readCatalog(src Sources) error {
	paths := found(src.Catalogs, src.Days, traces.TablePattern("catalog"))
	if len(paths) == 0 && d.derived < len(d.Problems.All) && !src.Draft {
		return ErrNoCatalog
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		if f, known := src.planned[whole(path)]; known && err == nil && info.Size() == f.Bytes {
			d.Files = append(d.Files, f)
			continue
		}
		err = d.readFile(kindCatalog, path, func(io.Reader) (int, error) {
			before := d.Catalog.Len()
			failed := d.Catalog.Open(path, maxDocument)
			return d.Catalog.Len() - before, failed
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// maxDocument bounds one line of a catalogue: descriptions end at some
// thousand characters.
const maxDocument = 16 << 20

func (d *Day) readFile(kind, path string, read func(io.Reader) (int, error)) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open %s: %w", kind, err)
	}
	defer func() { _ = f.Close() }() // it was only read
	h := sha256.New()
	all := io.TeeReader(f, h)
	n, err := read(all)
	if err == nil {
		_, err = io.Copy(io.Discard, all)
	}
	size := int64(0)
	if err == nil {
		size, err = f.Seek(0, io.SeekCurrent)
	}
	if err != nil {
		return fmt.Errorf("read %s %s: %w", kind, path, err)
	}
	d.Files = append(d.Files, File{corpus.Input{Kind: kind, SHA256: hex.EncodeToString(h.Sum(nil)), Bytes: size, Records: int64(n)}, path})
	return nil
}

// found are the files given, or else those that lie in the days under the
// usual name.
func found(given, days []string, pattern string) []string {
	if len(given) > 0 {
		return given
	}
	var out []string
	for _, day := range days {
		out = append(out, traces.SideFiles(day, pattern)...)
	}
	return out
}

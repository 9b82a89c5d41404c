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
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/judges/shop/outcome"
	"github.com/trajectory-arena/arena/pipeline/halves"
	"github.com/trajectory-arena/arena/traces"
)

// Sources are the files of a run, as the user named them.
type Sources struct {
	// Days are folders, globs or files of traces, or "-" for standard input.
	Days []string
	// Problems and Catalogs replace the files in the days, HeldOut adds to them.
	Problems []string
	Catalogs []string
	HeldOut  []string
	// Bank is the bank.json of an earlier run, empty if there was none.
	Bank string
	// Release lists held-out problems of the bank that are to be split again.
	Release []string
	// Stdin is read for the day "-" and stored in the folder Spool.
	Stdin io.Reader
	Spool string
	// Limits are the limits of a record, for problems that are read from attempts.
	Limits traces.Limits
	// AnyNetwork allows runs of several networks, such as mainnet and testnet.
	AnyNetwork bool
	// Draft asks for a corpus to look at: it may be empty, and its days may have few
	// problems or none, and lines that cannot be read.
	Draft bool
	// recorded asks for the attempts as their sources recorded them: problems are those that the
	// attempts name, and problems files and catalogues are not read.
	recorded bool
	// Domains are the domains among which the attempts are. If it is nil, they are the built-in
	// ones.
	Domains *domain.Set
	// planned has the catalogues, by absolute path, that are identified by the hash of a plan and
	// not read.
	planned map[string]File
}

// Day is the input of a run: traces, problems and catalogue.
type Day struct {
	Inputs   []traces.Input
	Problems *Problems
	Catalog  outcome.Catalog
	// Files are the inputs that are not traces.
	Files []File
	// halves are the prompts and answers in records of their own.
	halves *halves.Halves
	// derived is the number of problems that were read from attempts, since there is no problems
	// file.
	derived int
	// unread is an ErrNoAttempt with the first fault if a day without problems file has no attempt
	// that can be read, otherwise nil.
	unread error
	// spooled are the paths of the temporary copies of standard input.
	spooled []string
}

// inputError is an error that matches ErrInput and has the text of its cause.
type inputError struct{ error }

// Is reports whether target is ErrInput.
func (inputError) Is(target error) bool { return target == ErrInput }

// Unwrap returns the cause.
func (e inputError) Unwrap() error { return e.error }

// Close closes the catalogue and removes the copies of standard input.
func (d *Day) Close() error {
	errs := []error{d.Catalog.Close()}
	for _, path := range d.spooled {
		errs = append(errs, os.Remove(path))
	}
	return errors.Join(errs...)
}

// File is an input file that has no traces.
type File struct {
	corpus.Input
	path string
}

// Catalogs returns the paths of the day's catalogues.
func (d *Day) Catalogs() []string {
	return slicesx.FilterMap(d.Files, func(f File) (string, bool) {
		return f.path, f.Kind == kindCatalog
	})
}

// The kinds of input files that contain no traces, as manifests name them.
const (
	kindProblems = "problems"
	kindCatalog  = "catalog"
	kindHeldOut  = corpus.InputHeldOut
	kindBank     = "bank"
)

// OpenDay finds the traces of a day and reads its problems and catalogue.
func OpenDay(ctx context.Context, src Sources) (*Day, error) {
	d := &Day{halves: halves.New()}
	if err := d.read(ctx, src); err != nil {
		return nil, errors.Join(inputError{err}, d.Close())
	}
	return d, nil
}

func (d *Day) read(ctx context.Context, src Sources) error {
	if err := d.discover(src); err != nil {
		return err
	}
	if err := d.spool(ctx, src); err != nil {
		return err
	}
	if err := d.readProblems(ctx, src); err != nil {
		return err
	}
	return d.readCatalog(src)
}

// ErrNetworks reports that runs are of more than one network.
var ErrNetworks = errors.New("runs of two networks")

// discover finds the trace files in all input folders (days) and sorts them by path. It returns
// ErrNetworks if their runs are of several networks, such as mainnet and testnet, unless
// src.AnyNetwork is set.
func (d *Day) discover(src Sources) error {
	for _, day := range src.Days {
		inputs, err := traces.Discover(day)
		if err != nil {
			return err
		}
		d.Inputs = append(d.Inputs, inputs...)
	}
	slicesx.SortByKey(d.Inputs, func(x traces.Input) string {
		return x.Path
	})
	first := ""
	for i := range d.Inputs {
		network := d.Inputs[i].Meta.Network
		first = cmp.Or(first, network)
		if network != "" && network != first && !src.AnyNetwork {
			return fmt.Errorf("%w: %.20q and %.20q", ErrNetworks, first, network)
		}
	}
	return nil
}

// spool copies standard input to a temporary file in the folder src.Spool, if standard input is
// among the inputs. Stored results are identified by the hash of their input, and standard input
// can be read only once.
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

// ErrInput reports that a file or folder that the user named cannot be used. No work
// was done yet.
var ErrInput = errors.New("input cannot be used")

// ErrNoProblems reports that no day has problems and the user named none.
var ErrNoProblems = errors.New("no problems.jsonl: attempts cannot be graded without the problems they answer")

// ErrCorpus reports that a corpus was given in place of a day of traces.
var ErrCorpus = errors.New("it is a corpus, and not a day of traces")

// ErrNoAttempt reports that a day has no attempt that can be read.
var ErrNoAttempt = errors.New("no attempt can be read")

// ErrNoCatalog reports that no day has a catalogue and the user named none.
var ErrNoCatalog = errors.New("no catalog.jsonl: the ids of answers cannot be looked up without the catalogue")

func (d *Day) readProblems(ctx context.Context, src Sources) error {
	d.Problems = newProblems()
	var paths []string
	if !src.recorded {
		paths = findFiles(src.Problems, src.Days, traces.TablePattern("problems"))
	}
	for _, path := range paths {
		err := d.readFile(kindProblems, path, func(r io.Reader) (int, error) {
			problems, err := arena.ReadProblems(r, maxProblem)
			if err != nil {
				return 0, err
			}
			return len(problems), d.Problems.add(path, problems)
		})
		if err != nil {
			return err
		}
	}
	if err := d.deriveProblems(ctx, src); err != nil {
		return err
	}
	if len(d.Problems.All) == 0 && !src.Draft && !src.recorded {
		return d.noProblems(src.Days)
	}
	d.Problems.sort()
	return nil
}

// noProblems returns the error that explains why no problems were found in the given input folders
// (days). It is ErrCorpus if one of them is a finished corpus instead of traces, ErrNoAttempt if no
// attempt can be read, otherwise ErrNoProblems.
func (d *Day) noProblems(days []string) error {
	for _, day := range days {
		if isCorpus, err := corpus.IsCorpus(corpus.Disk{}, day); err == nil && isCorpus {
			return fmt.Errorf("%w: %s", ErrCorpus, day)
		}
	}
	if d.unread != nil {
		return d.unread
	}
	return ErrNoProblems
}

// maxProblem limits the size in bytes of one problem in a problems file. Even a problem with
// embedding vectors has only 40 KB.
const maxProblem = 64 << 20

func (d *Day) readCatalog(src Sources) error {
	if src.recorded {
		return nil
	}
	paths := findFiles(src.Catalogs, src.Days, traces.TablePattern("catalog"))
	if len(paths) == 0 && d.derived < len(d.Problems.All) && !src.Draft {
		return ErrNoCatalog
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		if f, ok := src.planned[absPath(path)]; ok && err == nil && info.Size() == f.Bytes {
			d.Files = append(d.Files, f)
			continue
		}
		if err = d.openCatalog(path); err != nil {
			return err
		}
	}
	return nil
}

// openCatalog adds a file of items to the catalogue. If the file is a copy of one that was added
// before, it is read for its hash only. Such copies are common, since each day's folder may have
// one of hundreds of megabytes.
func (d *Day) openCatalog(path string) error {
	others := len(d.Files)
	if err := d.readFile(kindCatalog, path, func(io.Reader) (int, error) { return 0, nil }); err != nil {
		return err
	}
	f := &d.Files[others]
	isCopy := func(other File) bool { return other.Kind == kindCatalog && other.SHA256 == f.SHA256 }
	if slices.ContainsFunc(d.Files[:others], isCopy) {
		return nil
	}
	before := d.Catalog.Len()
	if err := d.Catalog.Open(path, maxDocument); err != nil {
		return fmt.Errorf("read %s %s: %w", kindCatalog, path, err)
	}
	f.Records = int64(d.Catalog.Len() - before)
	return nil
}

// maxDocument is the maximum size in bytes of one line of a catalogue, which is one
// item. Descriptions have some thousand characters.
const maxDocument = 16 << 20

// readFile opens a file and calls read with its content. It then adds to d.Files the file's kind,
// hash and size, and the number of records that read returned.
func (d *Day) readFile(kind, path string, read func(io.Reader) (int, error)) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open %s: %w", kind, err)
	}
	defer func() { _ = f.Close() }() // it was only read
	in, err := hashFile(f, read)
	if err != nil {
		return fmt.Errorf("read %s %s: %w", kind, path, err)
	}
	in.Kind = kind
	d.Files = append(d.Files, File{in, path})
	return nil
}

func hashFile(f *os.File, read func(io.Reader) (int, error)) (corpus.Input, error) {
	h := sha256.New()
	r := io.TeeReader(f, h)
	n, err := read(r)
	if err != nil {
		return corpus.Input{}, err
	}
	if _, err = io.Copy(io.Discard, r); err != nil { // read may not have read it all
		return corpus.Input{}, err
	}
	size, err := f.Seek(0, io.SeekCurrent)
	return corpus.Input{
		SHA256:  hex.EncodeToString(h.Sum(nil)),
		Bytes:   size,
		Records: int64(n),
	}, err
}

// findFiles returns the configured files. If none are configured, it returns the files whose names
// match pattern in the folders of the days' traces.
func findFiles(configured, days []string, pattern string) []string {
	if len(configured) > 0 {
		return configured
	}
	var out []string
	for _, day := range days {
		out = append(out, traces.SideFiles(day, pattern)...)
	}
	return out
}

package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/internal/inorder"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/pipeline/block"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/traces"
)

// input is one trace file, or several small ones, whose results are stored together in one folder
// (a block). bytes is the total size of the files as stored, dir the folder.
type input struct {
	files []traces.Input
	bytes int64
	key   block.Key
	// date is the date in UTC on which the run of the files started, empty if it is unknown.
	date string
	// dir is the folder of the block, findings the file of the guard's findings on it.
	dir      string
	findings string
}

// A block is four files, so that days with one attempt a file would have four times
// as many files of blocks as attempts. Small files therefore share blocks.
const (
	// smallFile is the size in bytes, as stored, below which a trace file counts as small. Small
	// files share folders of results, so that many files do not need as many folders.
	smallFile = 256 << 10
	// maxOwnBlocks is the number of small trace files above which several of them share a folder of
	// stored results.
	maxOwnBlocks = 64
	// The small files of a date share folders with about fewFiles files each, unless these are more
	// than manyBlocks folders, and then with at most about manyFiles files each.
	fewFiles   = 1 << 4
	manyBlocks = 1 << 6
	manyFiles  = 1 << 10
)

// newInputs groups trace files into inputs, one for each block (folder of stored results), ordered
// by the date of their runs, then by content, and never by path. Large files have a block each. If
// there are more than maxOwnBlocks small files, those of a date share blocks, so that a later day
// changes no block of an earlier one.
func newInputs(files []traces.Input) []input {
	small := 0
	dates := map[string][]traces.Input{}
	for i := range files {
		date := dateOf(&files[i])
		dates[date] = append(dates[date], files[i])
		if files[i].Bytes < smallFile {
			small++
		}
	}
	var out []input
	for _, date := range slicesx.SortedKeys(dates) {
		inputs := inputsOfDate(dates[date], small > maxOwnBlocks)
		for i := range inputs {
			inputs[i].date = date
		}
		out = append(out, inputs...)
	}
	return out
}

// dateOf returns the date in UTC on which the run of a trace file started, "" if its metadata does
// not say or if the year in UTC has not four digits, so that dates sort as texts.
func dateOf(file *traces.Input) string {
	started, err := time.Parse(time.RFC3339Nano, file.Meta.Agent.StartedAt)
	date := started.UTC().Format(time.DateOnly)
	if err != nil || len(date) != len(time.DateOnly) {
		return ""
	}
	return date
}

// inputsOfDate groups the trace files of a date into inputs. If small files share blocks, the first
// bits of a file's hash select its block, so that one more file changes one block.
func inputsOfDate(files []traces.Input, share bool) []input {
	small := uint(0)
	for i := range files {
		if files[i].Bytes < smallFile {
			small++
		}
	}
	blocks := 0
	if share && small > 0 {
		blocks = max(min(1<<bits.Len((small-1)/fewFiles), manyBlocks), 1<<bits.Len((small-1)/manyFiles))
	}

	var out []input
	shared := make([][]traces.Input, blocks)
	for i := range files {
		if blocks == 0 || files[i].Bytes >= smallFile {
			out = append(out, newInput(files[i:i+1]))
			continue
		}
		prefix := files[i].SHA256[:min(8, len(files[i].SHA256))]
		n, _ := strconv.ParseUint(prefix, 16, 32) // a hash is hex
		k := n * uint64(blocks) >> 32
		shared[k] = append(shared[k], files[i])
	}
	for _, group := range shared {
		if len(group) > 0 {
			out = append(out, newInput(group))
		}
	}
	slicesx.SortStableFunc(out, func(a, b input) int {
		return cmp.Or(cmp.Compare(a.key.Input, b.key.Input), cmp.Compare(a.key.Meta, b.key.Meta))
	})
	return out
}

// sortedInputs returns a copy of inputs that is sorted by content, and by what is known of their
// attempts from elsewhere, so that the order does not depend on the folder that holds them.
func sortedInputs(inputs []traces.Input) []traces.Input {
	inputs = slices.Clone(inputs)
	slicesx.SortStableFunc(inputs, func(a, b traces.Input) int {
		return cmp.Or(cmp.Compare(a.SHA256, b.SHA256), cmp.Compare(metaDigest(&a), metaDigest(&b)))
	})
	return inputs
}

func newInput(files []traces.Input) input {
	files = sortedInputs(files)
	in := input{files: files}
	hashes := make([]string, len(files))
	metas := make([]string, len(files))
	for i := range files {
		in.bytes += files[i].Bytes
		hashes[i] = files[i].SHA256
		metas[i] = metaDigest(&files[i])
	}
	if len(files) == 1 {
		in.key = block.Key{
			Input: hashes[0],
			Meta:  metas[0],
		}
	} else {
		in.key = block.Key{
			Input: finish.Digest(hashes...),
			Meta:  finish.Digest(metas...),
		}
	}
	return in
}

// metaDigest returns a hash of everything about a trace file's attempts that is not in the file
// itself: the metadata file next to it, the IDs in its path, and results that evaluators recorded
// in other files. If it changes, the stored results of the file are made again.
func metaDigest(in *traces.Input) string {
	run, problem := in.PathIDs()
	switch {
	case in.ResultSHA256 != "":
		return finish.Digest(in.MetaSHA256, run, problem, in.ResultSHA256)
	case run == "" && problem == "":
		return in.MetaSHA256
	}
	return finish.Digest(in.MetaSHA256, run, problem)
}

// title returns the input's name for messages: the path of its first file, and the number of
// further files if there are any.
func (in *input) title() string {
	if more := len(in.files) - 1; more > 0 {
		return fmt.Sprintf("%s and %d more", in.files[0].Path, more)
	}
	return in.files[0].Path
}

// attemptsAhead is the maximum number of finished attempts that wait in memory for a slower attempt
// before them.
const attemptsAhead = 4096

// ProcessAttempts calls work for each attempt that read emits, on several workers at
// once, and collect for each result in the order of the attempts. It suits work that
// waits for servers, because a single long input occupies all workers.
func ProcessAttempts[T any](
	ctx context.Context,
	workers int,
	read func(ctx context.Context, emit func(*arena.Trace) error) error,
	work func(context.Context, *arena.Trace) (T, error),
	collect func(T) error,
) error {
	s := inorder.Stream[*arena.Trace, T]{
		Workers:   workers,
		MaxWeight: attemptsAhead,
		Work:      work,
		Take:      collect,
		Read: func(ctx context.Context, emit func(*arena.Trace, int64) error) error {
			return read(ctx, func(t *arena.Trace) error {
				return emit(t, 1)
			})
		},
	}
	return s.Run(ctx)
}

const (
	// hashesFile is the file in a work folder with the hashes of the trace files of the last build,
	// so that the next one does not read unchanged files for their hashes.
	hashesFile = "hashes.json"
	// quiet is the minimum age of a file's last change for its hash to be stored for later runs. A
	// younger file may still be written, and a change within the same tick of the clock would not
	// show in its time. The clocks of file servers differ, too.
	quiet = time.Minute
)

// storedHash is the hash of a trace file, with the stamp (size, times and the like, from the file
// system) that the file had before it was read. If the stamp is still equal, the file is not read
// again to hash it.
type storedHash struct {
	traces.Stamp
	SHA256 string `json:"sha256"`
}

// ErrUnnoticedChange reports that a file has another content than an earlier build read, and the
// same size and times.
var ErrUnnoticedChange = errors.New("its content changed, and its size and times did not (--force reads all files again)")

// hashInputs sets the hashes of all trace files. It takes those of unchanged files from the work
// folder and reads the others. It sets hashedBefore to the paths of the unchanged files, and stamps
// to the stamp of every file (what the file system reports of it), by which changes are noticed.
func (s *session) hashInputs(ctx context.Context) error {
	stored := map[string]storedHash{}
	_ = corpus.ReadJSON(s.FS, filepath.Join(s.Work, hashesFile), 1<<30, &stored) // without it, all are read
	s.stamps = map[string]traces.Stamp{}
	s.hashedBefore = map[string]bool{}
	newest := time.Now().Add(-cmp.Or(s.quiet, quiet)).UnixNano() //nolint:forbidigo // it decides what is read again, and is in no output
	for i := range s.day.Inputs {
		in := &s.day.Inputs[i]
		stamp := in.Stamp()
		if in.SHA256 != "" || stamp == (traces.Stamp{}) || stamp.Changed > newest {
			continue
		}
		path := absPath(in.Path)
		s.stamps[path] = stamp
		if known := stored[path]; known.Stamp == stamp {
			in.SHA256 = known.SHA256
			s.hashedBefore[path] = true
		}
	}
	return HashInputs(ctx, s.Config.Workers, s.day.Inputs)
}

// HashInputs hashes the content of the inputs without a hash.
func HashInputs(ctx context.Context, workers int, inputs []traces.Input) error {
	return inorder.Each(ctx, workers, len(inputs), func(ctx context.Context, i int) error {
		if inputs[i].SHA256 != "" {
			return nil
		}
		return inputs[i].Hash(ctx)
	})
}

// storeHashes writes the hashes of the trace files to the work folder, for the next run. It leaves
// out files that changed shortly before they were read, since they may change unnoticed, and files
// whose hashes the run took from a plan.
func (s *session) storeHashes() error {
	hashes := map[string]storedHash{}
	for i := range s.day.Inputs {
		path := absPath(s.day.Inputs[i].Path)
		if stamp, ok := s.stamps[path]; ok {
			hashes[path] = storedHash{stamp, s.day.Inputs[i].SHA256}
		}
	}
	return s.staging.WriteJSON(filepath.Join(s.Work, hashesFile), hashes)
}

// verifyHashes reads the files whose hashes this run took from a plan or from an earlier run, and
// compares. It returns ErrTerms if a file differs from its hash in the plan, and ErrUnnoticedChange
// if it differs from the hash that the earlier run stored.
func (s *session) verifyHashes(ctx context.Context, files []traces.Input) error {
	for _, in := range files {
		isStored := s.hashedBefore[absPath(in.Path)]
		if s.Terms == nil && !isStored {
			continue
		}
		expected := in.SHA256
		if err := in.Hash(ctx); err != nil {
			return err
		}
		switch {
		case in.SHA256 == expected:
		case isStored:
			return fmt.Errorf("read %s: %w", in.Path, ErrUnnoticedChange)
		default:
			return fmt.Errorf("%w: %s was changed since", ErrTerms, in.Path)
		}
	}
	return nil
}

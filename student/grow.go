package student

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/internal/wrong"
)

// grows reports whether a run with the settings now only extends a run with the settings old: it
// has at least as many samples, the same problems at its start, and otherwise equal settings. Only
// OverflowWords (words by which a full context is recognised in a server's error) may be more,
// since they only help to finish a run. p are the problems of now.
func (p Problems) grows(old, now Spec) (bool, error) {
	if old.Samples > now.Samples || old.Problems > now.Problems {
		return false, nil
	}
	for _, words := range old.OverflowWords {
		if !slices.Contains(now.OverflowWords, words) {
			return false, nil
		}
	}
	asNow := old
	asNow.Samples, asNow.OverflowWords = now.Samples, now.OverflowWords
	asNow.Problems, asNow.ProblemsSHA256 = now.Problems, now.ProblemsSHA256
	if len(asNow.Differences(now)) > 0 {
		return false, nil
	}
	return p.begin(old.Problems, old.ProblemsSHA256)
}

// begin reports whether the first n problems in the file of p, as lines, have this hash, or the
// complete file has it. It is false for n problems of a JSON array, which has no such lines.
func (p Problems) begin(n int, sha256 string) (bool, error) {
	if p.SHA256 == sha256 {
		return true, nil
	}
	text, err := os.ReadFile(p.path)
	if err != nil {
		return false, fmt.Errorf("read problems: %w", err)
	}
	end := 0
	for line := range bytes.Lines(text) {
		if n == 0 {
			break
		}
		end += len(line)
		if len(bytes.TrimSpace(line)) > 0 {
			n--
		}
	}
	first := text[:end]
	return slices.Contains([]string{digest.SHA256(first), digest.SHA256(bytes.TrimRight(first, "\r\n"))}, sha256), nil
}

// grow writes spec, the settings of a larger run, into the folder and keeps its rollouts. Before
// that it removes the summary, and the traces, whose names depend on the old settings. If the
// process is killed in between, the folder is an unfinished run.
func (f *folder) grow(spec Spec) error {
	err := f.unfinish()
	if err == nil {
		err = os.RemoveAll(f.file(tracesFolder))
	}
	if err != nil {
		return fmt.Errorf("let the run grow: %w", err)
	}
	return WriteJSON(f.file(specFile), spec)
}

// CopyRun copies what decides the outputs of a finished run, its settings, turns and rollouts, to a
// folder that does not exist or is empty. It does nothing if both are the same folder.
func CopyRun(from, to string) error {
	same, err := sameFolder(from, to)
	if same || err != nil {
		return err
	}
	if _, err := ReadFinished(from); err != nil {
		return err
	}
	if entries, err := os.ReadDir(to); err == nil && len(entries) > 0 {
		return fmt.Errorf("copy run: %s is not empty", to)
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return fmt.Errorf("copy run: %w", err)
	}
	for _, name := range []string{turnsFile, rolloutsFile, ServersFile, TelemetrySeries, TelemetryFile, specFile} {
		err := copyFile(filepath.Join(from, name), filepath.Join(to, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // a run scored again may have no telemetry
			return fmt.Errorf("copy run: %w", err)
		}
	}
	return nil
}

// sameFolder reports whether two paths name one folder. It is false if b does not exist, and an
// error if a does not.
func sameFolder(a, b string) (bool, error) {
	x, err := os.Stat(a)
	if err != nil {
		return false, fmt.Errorf("read run: %w", err)
	}
	y, err := os.Stat(b)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(x, y), err
}

func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer wrong.Close(&err, in.Close)
	const ownerOnly = 0o600 // journals hold requests and replies unredacted
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, ownerOnly)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}

// ErrPool is in the chain of the error for runs that cannot be pooled.
var ErrPool = errors.New("the runs cannot be pooled")

// PoolSpec returns the spec of a run that holds the samples of several finished runs, which may
// differ in their seeds and numbers of samples only. Runs that sent the same seed hold the same
// samples and are an error.
func PoolSpec(folders []string) (pooled Spec, specs []Spec, err error) {
	for i, folder := range folders {
		s, err := ReadFinished(folder)
		if err != nil {
			return pooled, nil, err
		}
		for j, other := range specs {
			same := s
			same.Seed, same.Samples = other.Seed, other.Samples
			if d := same.Differences(other); len(d) > 0 {
				return pooled, nil, fmt.Errorf("%w: %s and %s differ in %s", ErrPool, folders[j], folder, strings.Join(d, "; "))
			}
			overlap := s.Seed < other.Seed+int64(other.Samples) && other.Seed < s.Seed+int64(s.Samples)
			if overlap && !s.NoSeed {
				return pooled, nil, fmt.Errorf("%w: %s and %s hold samples of the same seeds", ErrPool, folders[j], folder)
			}
		}
		specs = append(specs, s)
		if i == 0 {
			pooled = s
			continue
		}
		pooled.Seed = min(pooled.Seed, s.Seed)
		pooled.Samples += s.Samples
	}
	return pooled, specs, nil
}

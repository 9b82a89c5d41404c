package traces

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// others are the base names, as path.Match reads them, of a day's other files and of
// what people put beside data: they are no traces whatever they hold.
var others = []string{
	MetaName, "problems.json*", "catalog.json*", "labels.json*", "scores.json*", "held_out*",
	".*", "README*", "LICENSE*",
}

func isOther(name string) bool {
	return slices.ContainsFunc(others, func(pattern string) bool {
		ok, _ := path.Match(pattern, name)
		return ok
	})
}

// Discover lists the inputs of a day in the bytewise order of their paths. A
// day is a folder (all files under its traces folder, or under itself where it
// has none), a glob of files and folders (** is any folders), one file, or "-" for standard input,
// which must be spooled before it is read. No link that leads out of a folder
// is followed: Read gives a fault for it. A day without any file is an error.
func Discover(day string) ([]Input, error) {
	if day == Stdin {
		return []Input{{Path: Stdin, Name: Stdin}}, nil
	}
	ins, err := discover(day)
	if err == nil && len(ins) == 0 {
		err = errors.New("no file")
	}
	if err != nil {
		return nil, fmt.Errorf("find traces in %s: %w", day, err)
	}
	slices.SortFunc(ins, func(a, b Input) int { return cmp.Compare(a.Path, b.Path) })
	return slices.CompactFunc(ins, func(a, b Input) bool { return a.Path == b.Path }), nil
}

// TablePattern is the pattern of a day's file of this name that is no trace: JSON or JSON
// lines, or compressed, which its reader tells.
func TablePattern(name string) string { return name + ".json{,l}{,.gz,.zst}" }

// corpusRows is where a corpus has the rows that are attempts.
const corpusRows = "data/sft"

// InputFolder is the folder whose files Discover lists for a day that is a folder;
// empty for any other day.
func InputFolder(day string) string {
	for _, name := range []string{corpusRows, "traces", "."} {
		inner := filepath.Join(day, name)
		if info, err := os.Stat(inner); err == nil && info.IsDir() {
			return inner
		}
	}
	return ""
}

// SideFiles lists the files of a day that are no traces and whose base names match
// a pattern, as doublestar.Match reads it, in bytewise order. A day is what Discover
// takes; one that is a file, or cannot be read, has none.
func SideFiles(day, pattern string) []string {
	if entries, err := os.ReadDir(day); err == nil {
		return slicesx.FilterMap(entries, func(e fs.DirEntry) (string, bool) {
			matches, _ := doublestar.Match(pattern, e.Name())
			return filepath.Join(day, e.Name()), matches
		})
	}
	matches, _ := doublestar.FilepathGlob(filepath.Join(day, pattern), doublestar.WithNoFollow())
	return matches
}

func discover(day string) ([]Input, error) {
	info, err := os.Stat(day)
	if errors.Is(err, fs.ErrNotExist) {
		return globbed(day, err)
	}
	if err != nil {
		return nil, err
	}
	abs, err := filepath.Abs(day)
	if err != nil {
		return nil, err
	}
	w := walk{folders: map[string]Input{}}
	if !info.IsDir() { // named by its user: neither links nor its name matter
		dir := filepath.Dir(abs)
		w.root, w.title, w.fsys = filepath.Dir(day), filepath.Base(dir), os.DirFS(dir)
		err = w.add(filepath.Base(abs))
		return w.found, err
	}
	root, err := os.OpenRoot(day)
	if err != nil {
		return nil, err
	}
	w.root, w.title, w.fsys = day, filepath.Base(abs), root.FS()
	err = w.tree()
	return w.found, err
}

// globbed are the inputs that a pattern names; missing is the error where it names none.
func globbed(pattern string, missing error) (all []Input, err error) {
	matches, err := doublestar.FilepathGlob(pattern, doublestar.WithNoFollow())
	if err != nil || len(matches) == 0 {
		return nil, missing
	}
	for _, m := range matches {
		if isOther(filepath.Base(m)) {
			continue
		}
		ins, err := discover(m)
		if err != nil {
			return nil, err
		}
		all = append(all, ins...)
	}
	return all, nil
}

type walk struct {
	root  string
	title string
	fsys  fs.FS
	found []Input
	// folders are inputs of which nothing is known but their folder.
	folders map[string]Input
}

// tree adds all files under the day's traces folder, or that of a corpus's rows, or
// under the day itself.
func (w *walk) tree() error {
	from := "traces"
	if _, err := fs.Stat(w.fsys, corpusRows); err == nil {
		from = corpusRows
	}
	switch info, err := fs.Stat(w.fsys, from); {
	case errors.Is(err, fs.ErrNotExist), err == nil && !info.IsDir():
		from = "."
	case err != nil:
		return err
	}
	return fs.WalkDir(w.fsys, from, func(name string, d fs.DirEntry, err error) error {
		switch {
		case !fs.ValidPath(name):
			// No file system of this program opens what has a name that is not UTF-8.
			w.found = append(w.found, Input{Path: filepath.Join(w.root, filepath.FromSlash(name)), Name: path.Join(w.title, name), refused: BadName})
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case err != nil || d.IsDir() || isOther(d.Name()):
			return err
		}
		return w.add(name)
	})
}

func (w *walk) add(name string) error {
	in, err := w.beside(path.Dir(name))
	if err != nil {
		return err
	}
	in.Path, in.Name, in.at = filepath.Join(w.root, filepath.FromSlash(name)), path.Join(w.title, name), name
	info, err := fs.Stat(w.fsys, name)
	switch {
	case err != nil:
		if in.refused = refusal(in.Path); in.refused == "" {
			return err
		}
	case info.IsDir():
		return nil // a link to a folder of the same day, which is walked itself
	case !info.Mode().IsRegular():
		in.refused = NotAFile
	default:
		in.Bytes = info.Size()
	}
	w.found = append(w.found, in)
	return nil
}

// refusal says why a link that could not be followed within the day is no
// input; empty where the failure lies elsewhere.
func refusal(name string) Reason {
	info, err := os.Lstat(name)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return ""
	}
	if _, err := os.Stat(name); err == nil {
		return LinkOutsideDay
	}
	return NotAFile
}

// beside is an input in that folder, of which nothing is known but what run.json says.
func (w *walk) beside(dir string) (in Input, err error) {
	if known, ok := w.folders[dir]; ok {
		return known, nil
	}
	in.fsys = w.fsys
	in.Meta, in.MetaSHA256, err = readMeta(w.fsys, path.Join(dir, MetaName))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if _, onDisk := errors.AsType[*fs.PathError](err); onDisk && refusal(filepath.Join(w.root, filepath.FromSlash(dir), MetaName)) == "" {
		return Input{}, err
	}
	in.badMeta = err != nil
	w.folders[dir] = in
	return in, nil
}

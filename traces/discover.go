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
	"github.com/trajectory-arena/arena/traces/results"
)

// ignoredNames are patterns of path.Match for the base names of files that are never read as
// traces: other files of this project in a folder of traces, such as run.json, and files that
// people add, such as README.
var ignoredNames = []string{
	MetaName, "problems.json*", "catalog.json*", "labels.json*", "scores.json*", "held_out*",
	".*", "README*", "LICENSE*",
}

func isIgnored(name string) bool {
	return slices.ContainsFunc(ignoredNames, func(pattern string) bool {
		ok, _ := path.Match(pattern, name)
		return ok
	})
}

// Discover returns the inputs of a day in the bytewise order of their paths. A day is a
// folder, a glob of files and folders in which ** matches any folders, one file, or "-" for
// standard input, which must be spooled before it is read. Of a folder, all files in its
// traces folder are inputs, or all its files if it has none. Read returns a fault for a
// link that leads out of the folder. A day without files is an error.
func Discover(day string) ([]Input, error) {
	if day == Stdin {
		return []Input{{Path: Stdin, Name: Stdin}}, nil
	}
	inputs, err := discover(day)
	if err == nil && len(inputs) == 0 {
		err = errors.New("no file")
	}
	if err != nil {
		return nil, fmt.Errorf("find traces in %s: %w", day, err)
	}
	slicesx.SortFunc(inputs, func(a, b Input) int {
		return cmp.Compare(a.Path, b.Path)
	})
	return slices.CompactFunc(inputs, func(a, b Input) bool {
		return a.Path == b.Path
	}), nil
}

// TablePattern returns the pattern of a side file with this name: JSON or JSON lines, plain
// or compressed.
func TablePattern(name string) string { return name + ".json{,l}{,.gz,.zst}" }

// corpusRows is the folder with the rows of attempts in a corpus. If a day is a corpus, its
// inputs are the files of this folder.
const corpusRows = "data/sft"

// InputFolder returns the folder whose files Discover returns for a day that is a folder,
// and "" for any other day.
func InputFolder(day string) string {
	for _, name := range []string{corpusRows, "traces", "."} {
		folder := filepath.Join(day, name)
		if info, err := os.Stat(folder); err == nil && info.IsDir() {
			return folder
		}
	}
	return ""
}

// SideFiles returns the files of a day that are not traces and whose base names match a
// pattern of doublestar.Match, in bytewise order. It returns none for a day that is a file
// or cannot be read.
func SideFiles(day, pattern string) []string {
	entries, err := os.ReadDir(day)
	if err != nil {
		paths, _ := doublestar.FilepathGlob(filepath.Join(day, pattern), doublestar.WithNoFollow())
		return paths
	}
	return slicesx.FilterMap(entries, func(e fs.DirEntry) (string, bool) {
		ok, _ := doublestar.Match(pattern, e.Name())
		return filepath.Join(day, e.Name()), ok
	})
}

// discover returns the input files of a day of traces, which is the path of a folder or file, or a
// glob pattern. Their order is undefined.
func discover(day string) ([]Input, error) {
	info, err := os.Stat(day)
	if errors.Is(err, fs.ErrNotExist) {
		return discoverGlob(day, err)
	}
	if err != nil {
		return nil, err
	}
	absPath, err := filepath.Abs(day)
	if err != nil {
		return nil, err
	}

	if !info.IsDir() { // the user named the file, so its name and links are accepted
		dir := filepath.Dir(absPath)
		w := newWalk(filepath.Dir(day), filepath.Base(dir), os.DirFS(dir))
		err = w.add(filepath.Base(absPath))
		return w.inputs, err
	}
	root, err := os.OpenRoot(day)
	if err != nil {
		return nil, err
	}
	w := newWalk(day, filepath.Base(absPath), root.FS())
	err = w.addFolder()
	return w.inputs, err
}

// discoverGlob returns the inputs of all files and folders that match a glob pattern, except files
// that are never traces. It returns the error notFound if nothing matches or the pattern is
// invalid.
func discoverGlob(pattern string, notFound error) ([]Input, error) {
	matches, err := doublestar.FilepathGlob(pattern, doublestar.WithNoFollow())
	if err != nil || len(matches) == 0 {
		return nil, notFound
	}
	var inputs []Input
	for _, match := range matches {
		if isIgnored(filepath.Base(match)) {
			continue
		}
		matched, err := discover(match)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, matched...)
	}
	return inputs, nil
}

// walk is the state of a search for the input files below one folder.
type walk struct {
	// root is the path of the folder as the user wrote it, title its base name.
	root   string
	title  string
	fsys   fs.FS
	inputs []Input
	// templates maps a folder to an input without a name that has the metadata of the folder's
	// run.json.
	templates map[string]Input
	// jobs has the folders of jobs of Harbor, isRun those of runs of SWE-agent, reports the reports
	// of SWE-bench by their folders, and isReport the names of the files with these.
	jobs     map[string]bool
	isRun    map[string]bool
	reports  map[string]*results.Report
	isReport map[string]bool
}

func newWalk(root, title string, fsys fs.FS) *walk {
	return &walk{
		root:      root,
		title:     title,
		fsys:      fsys,
		templates: map[string]Input{},
		jobs:      map[string]bool{},
		isRun:     map[string]bool{},
		reports:   map[string]*results.Report{},
		isReport:  map[string]bool{},
	}
}

// addFolder adds all files below one folder to the inputs. That is data/sft if it exists, which has
// the rows of a corpus, else traces if it exists, else the folder of the search itself.
func (w *walk) addFolder() error {
	start := "traces"
	if _, err := fs.Stat(w.fsys, corpusRows); err == nil {
		start = corpusRows
	}
	info, err := fs.Stat(w.fsys, start)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && !info.IsDir():
		start = "."
	case err != nil:
		return err
	}
	return fs.WalkDir(w.fsys, start, w.visit)
}

func (w *walk) visit(name string, d fs.DirEntry, err error) error {
	if !fs.ValidPath(name) {
		// Package fs cannot open a name that is not UTF-8.
		input := Input{refused: BadName}
		w.setNames(&input, name)
		w.inputs = append(w.inputs, input)
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	}
	switch {
	case err != nil:
		return err
	case d.IsDir():
		return w.visitFolder(name)
	case isIgnored(d.Name()), w.isEvaluators(name):
		return nil
	}
	return w.add(name)
}

func (w *walk) setNames(input *Input, name string) {
	input.Path = filepath.Join(w.root, filepath.FromSlash(name))
	input.Name = path.Join(w.title, name)
}

// add adds the file with a slash-separated name in fsys to the inputs. If the file may not be
// opened, such as a link out of the folder, the input records why, and Read reports that as a
// fault.
func (w *walk) add(name string) error {
	input, err := w.newInput(path.Dir(name))
	if err != nil {
		return err
	}
	w.setNames(&input, name)
	input.fsysName = name
	w.addReports(&input, name)

	info, err := fs.Stat(w.fsys, name)
	switch {
	case err != nil:
		input.refused = linkFault(input.Path)
		if input.refused == "" {
			return err
		}
	case info.IsDir():
		return nil // a link to a folder of the same day, which is walked itself
	case !info.Mode().IsRegular():
		input.refused = NotAFile
	default:
		input.Bytes = info.Size()
	}
	w.inputs = append(w.inputs, input)
	return nil
}

// linkFault returns why a symbolic link could not be followed within its folder of traces:
// LinkOutsideDay if its target exists, and NotAFile if not. It returns "" for a path that is no
// link.
func linkFault(path string) Reason {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return ""
	}
	if _, err := os.Stat(path); err == nil {
		return LinkOutsideDay
	}
	return NotAFile
}

// newInput returns an input without a name, with the metadata of the run.json in a folder of
// w.fsys. If run.json is invalid, the input records that; a missing one is ignored. The error is
// that of the file system.
func (w *walk) newInput(folder string) (Input, error) {
	if input, ok := w.templates[folder]; ok {
		return input, nil
	}
	input := Input{fsys: w.fsys}
	var err error
	input.Meta, input.MetaSHA256, err = readMeta(w.fsys, path.Join(folder, MetaName))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		metaPath := filepath.Join(w.root, filepath.FromSlash(folder), MetaName)
		if linkFault(metaPath) == "" {
			return Input{}, err
		}
	}
	input.badMeta = err != nil
	w.templates[folder] = input
	return input, nil
}

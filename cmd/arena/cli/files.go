package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trajectory-arena/arena/corpus/bucket"
	"github.com/trajectory-arena/arena/traces"
)

// What a command does with the files that its flags and arguments name is noted
// where they are declared. Run holds every output against every input by these
// notes before the command begins, so that none writes over what it reads.
const (
	noteReads    = "arena_reads"
	noteWrites   = "arena_writes"
	noteReplaces = "arena_replaces"
	noteStages   = "arena_stages"
	noteDays     = "days"
	noteFiles    = "files"
)

// File adds a flag for a file or folder that is read, Files one that may be repeated.
func File(c *cobra.Command, to *string, name, doc string) {
	c.Flags().StringVar(to, name, "", doc)
	Reads(c, name)
}

// Files adds the flag.
func Files(c *cobra.Command, to *[]string, name, doc string) {
	c.Flags().StringArrayVar(to, name, nil, doc)
	Reads(c, name)
}

// Reads notes that flags of c name files or folders that are read.
func Reads(c *cobra.Command, flags ...string) { note(c, noteReads, flags) }

// Writes notes that flags of c name files that are written, or folders that
// files are added to.
func Writes(c *cobra.Command, flags ...string) { note(c, noteWrites, flags) }

// Replaces notes that flags of c name files or folders that are written as a
// whole: nothing of what is there stays.
func Replaces(c *cobra.Command, flags ...string) { note(c, noteReplaces, flags) }

// Stages notes that what flags of c name is first written here where it goes to a
// bucket, to a folder of its name.
func Stages(c *cobra.Command, flags ...string) { note(c, noteStages, flags) }

// ReadsDays notes that the arguments of c are days.
func ReadsDays(c *cobra.Command) { c.Annotations[noteReads] = noteDays }

// ReadsFiles notes that the arguments of c are files or folders, corpora with a
// weight among them.
func ReadsFiles(c *cobra.Command) { c.Annotations[noteReads] = noteFiles }

func note(c *cobra.Command, key string, flags []string) {
	for _, name := range flags {
		if err := c.Flags().SetAnnotation(name, key, nil); err != nil {
			panic(err) // a flag that is not declared is a mistake in the program
		}
	}
}

// given are the paths that the user gave c: those of its flags that are noted
// here, and its arguments.
func given(c *cobra.Command) []string {
	paths := localPaths(c.Flags().Args())
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if len(f.Annotations) > 0 {
			paths = append(paths, localPaths(values(f))...)
		}
	})
	return paths
}

// Arguments are the flags that were given to c, as arguments, but those named;
// files by their full paths.
func Arguments(c *cobra.Command, but ...string) (args []string, err error) {
	c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if slices.Contains(but, f.Name) {
			return
		}
		for _, v := range values(f) {
			if len(f.Annotations) > 0 && f.Value.Type() != "bool" {
				var failed error
				v, failed = Absolute(v)
				err = errors.Join(err, failed)
			}
			args = append(args, "--"+f.Name+"="+v)
		}
	})
	return args, err
}

// Absolute is the full path of a file; what lies in a bucket has one.
func Absolute(name string) (string, error) {
	if bucket.IsURL(name) {
		return name, nil
	}
	return filepath.Abs(name)
}

// apart refuses an output that is one of the inputs, lies in one, or would
// replace a folder that one lies in.
func apart(c *cobra.Command, args []string, stdin io.Reader) error {
	var outputs []written
	var read inputs
	c.Flags().VisitAll(func(f *pflag.Flag) {
		noted := func(key string) bool { _, is := f.Annotations[key]; return is }
		paths := localPaths(values(f))
		for _, name := range values(f) { // the folder in which lies what goes to a bucket
			if base, err := bucket.Base(name); err == nil && bucket.IsURL(name) && noted(noteStages) {
				paths = append(paths, base)
			}
		}
		for _, path := range paths {
			switch {
			case noted(noteReads):
				read.add(path, "which is read")
			case noted(noteWrites) || noted(noteReplaces):
				outputs = append(outputs, written{path, noted(noteReplaces)})
			}
		}
	})
	if len(outputs) == 0 {
		return nil
	}
	there := slices.ContainsFunc(outputs, func(w written) bool { return !absent(w.path) })
	read.arguments(c.Annotations[noteReads], args, there)
	read.stream(args, stdin)
	for i, out := range outputs {
		if same := slices.IndexFunc(outputs[:i], out.same); same >= 0 {
			return Usage(fmt.Errorf("write %s: it is another output too", out.path), "give each output a path of its own")
		}
		for _, in := range read {
			if err := out.over(in); err != nil {
				return Usage(fmt.Errorf("write %s: %w", out.path, err), "give a path beside it")
			}
		}
	}
	return nil
}

// values are what the user gave a flag; a default is no word of the user's.
func values(f *pflag.Flag) []string {
	if !f.Changed {
		return nil
	}
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return list.GetSlice()
	}
	return []string{f.Value.String()}
}

// localPaths are the names that lead to this machine's disk.
func localPaths(names []string) (paths []string) {
	for _, name := range names {
		switch u, err := url.Parse(name); {
		case name == "" || name == "-":
		case !bucket.IsURL(name):
			paths = append(paths, name)
		case err == nil && u.Scheme == "file":
			paths = append(paths, u.Path)
		}
	}
	return paths
}

type written struct {
	path     string
	replaces bool
}

// same reports whether two outputs that are written as a whole are one file.
func (w written) same(other written) bool {
	if !w.replaces || !other.replaces {
		return false
	}
	info, err := os.Stat(other.path)
	return filepath.Clean(w.path) == filepath.Clean(other.path) || err == nil && is(w.path, info)
}

// over says how w would write over an input; nil where it does not.
func (w written) over(in input) error {
	switch {
	case in.info.Mode().IsRegular() && is(w.path, in.info):
		return errors.New("it is one of the files that are read")
	case in.info.IsDir() && holds(in.info, w.path):
		return fmt.Errorf("it lies in %s, %s", in.path, in.why)
	case !w.replaces:
		return nil
	}
	if folder, err := os.Stat(w.path); err == nil && folder.IsDir() && holds(folder, in.path) {
		return fmt.Errorf("%s lies in it, which is read", in.path)
	}
	return nil
}

type input struct {
	path string
	info os.FileInfo
	// why is what is said of a folder that nothing may be written to.
	why string
}

type inputs []input

func (r *inputs) add(path, why string) {
	if info, err := os.Stat(path); err == nil {
		*r = append(*r, input{path, info, why})
	}
}

func (r *inputs) stream(args []string, stdin io.Reader) {
	in, ok := stdin.(interface{ Stat() (os.FileInfo, error) })
	if !ok || !slices.Contains(args, "-") {
		return
	}
	if info, err := in.Stat(); err == nil {
		*r = append(*r, input{path: "-", info: info})
	}
}

// arguments adds what args name; each file of a day where each says that one of
// them may be an output by another name.
func (r *inputs) arguments(kind string, args []string, each bool) {
	for _, path := range localPaths(args) {
		switch kind {
		case noteDays:
			r.day(path, each)
		case noteFiles:
			if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
				path, _, _ = strings.Cut(path, ":") // monday:0.5
			}
			r.add(path, "which is read")
		}
	}
}

// day adds the folder that the traces of a day are found in: what is written there
// the next run would take for traces.
func (r *inputs) day(day string, each bool) {
	if walked := traces.InputFolder(day); walked != "" {
		r.add(walked, "whose files are read as traces")
	}
	if !each {
		return
	}
	for _, table := range []string{"problems", "catalog"} {
		for _, path := range traces.SideFiles(day, traces.TablePattern(table)) {
			r.add(path, "")
		}
	}
	found, err := traces.Discover(day)
	if err != nil {
		return // the command says so
	}
	for i := range found {
		r.add(found[i].Path, "")
	}
}

func is(path string, info os.FileInfo) bool {
	other, err := os.Stat(path)
	return err == nil && os.SameFile(other, info)
}

// holds reports whether path is the folder or lies in it, by whatever name. What
// does not exist yet lies where the links of its parents lead.
func holds(folder os.FileInfo, path string) bool {
	real, err := filepath.EvalSymlinks(path)
	for errors.Is(err, fs.ErrNotExist) && path != "." {
		// Unlike filepath.Dir this leaves .. to the links before it.
		above, _ := filepath.Split(strings.TrimRight(path, string(filepath.Separator)))
		path = cmp.Or(above, ".")
		real, err = filepath.EvalSymlinks(path)
	}
	if err == nil {
		real, err = filepath.Abs(real)
	}
	for err == nil && !is(real, folder) {
		above := filepath.Dir(real)
		if above == real {
			return false
		}
		real = above
	}
	return err == nil
}

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

// Annotations of flags and commands that tell what a command does with the files in its flags
// and arguments. Before the command starts, Run compares every output with every input, so that
// no command overwrites what it reads.
const (
	noteReads    = "arena_reads"
	noteWrites   = "arena_writes"
	noteReplaces = "arena_replaces"
	noteStages   = "arena_stages"
	noteDays     = "days"
	noteFiles    = "files"
)

// File adds a flag for a file or folder that the command reads.
func File(c *cobra.Command, value *string, name, doc string) {
	c.Flags().StringVar(value, name, "", doc)
	Reads(c, name)
}

// Files adds a repeatable flag for files or folders that the command reads.
func Files(c *cobra.Command, values *[]string, name, doc string) {
	c.Flags().StringArrayVar(values, name, nil, doc)
	Reads(c, name)
}

// Reads marks flags of c whose values are files or folders that the command reads.
func Reads(c *cobra.Command, flags ...string) { note(c, noteReads, flags) }

// Writes marks flags of c whose values are files that the command writes, or folders to which it
// adds files.
func Writes(c *cobra.Command, flags ...string) { note(c, noteWrites, flags) }

// Replaces marks flags of c whose values are files or folders that the command replaces
// completely.
func Replaces(c *cobra.Command, flags ...string) { note(c, noteReplaces, flags) }

// Stages marks flags of c whose output, if it is in a bucket, is first written to a local folder
// of the same name.
func Stages(c *cobra.Command, flags ...string) { note(c, noteStages, flags) }

// ReadsDays marks the arguments of c as days of traces.
func ReadsDays(c *cobra.Command) { c.Annotations[noteReads] = noteDays }

// ReadsFiles marks the arguments of c as files or folders, including corpora with a weight.
func ReadsFiles(c *cobra.Command) { c.Annotations[noteReads] = noteFiles }

func note(c *cobra.Command, key string, flags []string) {
	for _, name := range flags {
		if err := c.Flags().SetAnnotation(name, key, nil); err != nil {
			panic(err) // a flag that is not declared is a mistake in the program
		}
	}
}

// namedPaths returns the local paths that the user gave in arguments and in flags for files.
func namedPaths(c *cobra.Command) []string {
	paths := localPaths(c.Flags().Args())
	for _, path := range paths {
		if name, _, isWeighted := SplitWeight(path); isWeighted {
			paths = append(paths, name)
		}
	}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if len(f.Annotations) > 0 {
			paths = append(paths, localPaths(flagValues(f))...)
		}
	})
	return paths
}

// FlagArguments returns the flags that the user set as command-line arguments with absolute
// paths. Flags in except are left out.
func FlagArguments(c *cobra.Command, except ...string) (args []string, err error) {
	c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if slices.Contains(except, f.Name) {
			return
		}
		for _, v := range flagValues(f) {
			if len(f.Annotations) > 0 && f.Value.Type() != "bool" {
				var absErr error
				v, absErr = Absolute(v)
				err = errors.Join(err, absErr)
			}
			args = append(args, "--"+f.Name+"="+v)
		}
	})
	return args, err
}

// Absolute returns the absolute path of a file. The URL of a bucket is returned unchanged.
func Absolute(name string) (string, error) {
	if bucket.IsURL(name) {
		return name, nil
	}
	return filepath.Abs(name)
}

// checkOutputs returns an error if an output of the command is also an input, is inside an input
// folder, would replace a folder that contains an input, or is another output too.
func checkOutputs(c *cobra.Command, args []string, stdin io.Reader) error {
	var outputs []outputPath
	var inputs inputs
	c.Flags().VisitAll(func(f *pflag.Flag) {
		hasNote := func(key string) bool {
			_, ok := f.Annotations[key]
			return ok
		}
		paths := localPaths(flagValues(f))
		for _, name := range flagValues(f) { // the local folder of an output that is uploaded to a bucket
			if base, err := bucket.Base(name); err == nil && bucket.IsURL(name) && hasNote(noteStages) {
				paths = append(paths, base)
			}
		}
		for _, path := range paths {
			switch {
			case hasNote(noteReads):
				inputs.add(path, "which is read")
			case hasNote(noteWrites) || hasNote(noteReplaces):
				outputs = append(outputs, outputPath{path, hasNote(noteReplaces)})
			}
		}
	})
	if len(outputs) == 0 {
		return nil
	}
	exists := slices.ContainsFunc(outputs, func(w outputPath) bool {
		return !isAbsent(w.path)
	})
	inputs.addArguments(c.Annotations[noteReads], args, exists)
	inputs.addStdin(args, stdin)
	for i, out := range outputs {
		if earlier := slices.IndexFunc(outputs[:i], out.isSameFile); earlier >= 0 {
			return Usage(fmt.Errorf("write %s: it is another output too", out.path), "give each output a path of its own")
		}
		for _, in := range inputs {
			if err := out.checkOverwrite(in); err != nil {
				return Usage(fmt.Errorf("write %s: %w", out.path, err), "give a path beside it")
			}
		}
	}
	return nil
}

// flagValues returns the values that the user set for a flag. It returns an empty list for a flag
// that keeps its default.
func flagValues(f *pflag.Flag) []string {
	if !f.Changed {
		return nil
	}
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return list.GetSlice()
	}
	return []string{f.Value.String()}
}

// localPaths returns the local paths among names. Empty names, "-" and URLs of remote buckets
// are left out. A file:// URL becomes its path.
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

// outputPath is a path that a command writes. replaces reports whether the file or folder is
// replaced completely; otherwise files are added to it.
type outputPath struct {
	path     string
	replaces bool
}

// isSameFile reports whether two outputs are both replaced completely and are the same file or folder.
func (w outputPath) isSameFile(other outputPath) bool {
	if !w.replaces || !other.replaces {
		return false
	}
	info, err := os.Stat(other.path)
	return filepath.Clean(w.path) == filepath.Clean(other.path) || err == nil && isFile(w.path, info)
}

// checkOverwrite returns an error if writing w would overwrite the input src, add a file to the
// folder src, or replace a folder that contains src.
func (w outputPath) checkOverwrite(src input) error {
	switch {
	case src.info.Mode().IsRegular() && isFile(w.path, src.info):
		return errors.New("it is one of the files that are read")
	case src.info.IsDir() && contains(src.info, w.path):
		return fmt.Errorf("it lies in %s, %s", src.path, src.reason)
	case !w.replaces:
		return nil
	}
	if folder, err := os.Stat(w.path); err == nil && folder.IsDir() && contains(folder, src.path) {
		return fmt.Errorf("%s lies in it, which is read", src.path)
	}
	return nil
}

type input struct {
	path string
	info os.FileInfo
	// reason is the end of the error message for an output inside the folder, such as "which is
	// read".
	reason string
}

type inputs []input

func (r *inputs) add(path, reason string) {
	if info, err := os.Stat(path); err == nil {
		*r = append(*r, input{path, info, reason})
	}
}

func (r *inputs) addStdin(args []string, stdin io.Reader) {
	in, ok := stdin.(interface{ Stat() (os.FileInfo, error) })
	if !ok || !slices.Contains(args, "-") {
		return
	}
	if info, err := in.Stat(); err == nil {
		*r = append(*r, input{path: "-", info: info})
	}
}

// addArguments adds the files and folders in args to the inputs, which no output may overwrite.
// kind says what args are: folders of traces (noteDays) or other files (noteFiles). If eachFile is
// true, it also adds each file in a folder of traces, since an output may be one of these files
// under another name.
func (r *inputs) addArguments(kind string, args []string, eachFile bool) {
	for _, path := range localPaths(args) {
		switch kind {
		case noteDays:
			r.addDay(path, eachFile)
		case noteFiles:
			if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
				path, _, _ = SplitWeight(path)
			}
			r.add(path, "which is read")
		}
	}
}

// addDay adds a day (a folder of traces) to the inputs that no output may overwrite: the next run
// would read an output in that folder as a trace. If eachFile is true, it also adds each trace,
// problem and catalogue file of the folder.
func (r *inputs) addDay(addDay string, eachFile bool) {
	if walked := traces.InputFolder(addDay); walked != "" {
		r.add(walked, "whose files are read as traces")
	}
	if !eachFile {
		return
	}
	for _, table := range []string{"problems", "catalog"} {
		for _, path := range traces.SideFiles(addDay, traces.TablePattern(table)) {
			r.add(path, "")
		}
	}
	discovered, err := traces.Discover(addDay)
	if err != nil {
		return // the command says so
	}
	for i := range discovered {
		r.add(discovered[i].Path, "")
	}
}

func isFile(path string, info os.FileInfo) bool {
	other, err := os.Stat(path)
	return err == nil && os.SameFile(other, info)
}

// contains reports whether path is the folder or is inside it, also through symbolic links. If
// path does not exist, its nearest existing parent is used.
func contains(folder os.FileInfo, path string) bool {
	real, err := filepath.EvalSymlinks(path)
	for errors.Is(err, fs.ErrNotExist) && path != "." {
		// Unlike filepath.Dir, this does not resolve .. before symbolic links.
		above, _ := filepath.Split(strings.TrimRight(path, string(filepath.Separator)))
		path = cmp.Or(above, ".")
		real, err = filepath.EvalSymlinks(path)
	}
	if err == nil {
		real, err = filepath.Abs(real)
	}

	for err == nil && !isFile(real, folder) {
		above := filepath.Dir(real)
		if above == real {
			return false
		}
		real = above
	}
	return err == nil
}

// SplitWeight splits an argument such as monday:0.5 into the name of a corpus and its weight. Without a
// weight, name is the whole argument. A colon in a URL or before a slash separates nothing.
func SplitWeight(arg string) (name, weight string, isWeighted bool) {
	colon := strings.LastIndexByte(arg, ':')
	if colon < 0 || strings.ContainsAny(arg[colon:], "/&") {
		return arg, "", false
	}
	return arg[:colon], arg[colon+1:], true
}

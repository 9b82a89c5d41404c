// Package cli has what all commands share: the standard streams, failures with exit codes and
// hints, progress, settings, inputs and outputs.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/spf13/cobra"
	"github.com/zeebo/xxh3"
)

// Run runs the program: it parses args, executes the command of root that args name, and returns
// the exit code.
func Run(
	ctx context.Context,
	root func(*Streams) *cobra.Command,
	args []string,
	stdin io.Reader,
	stdout, stderr io.Writer,
) int {
	profiles := &profiler{}
	format := logFormatOf(args)
	stderr = redactingWriter{stderr}
	if format == logJSON {
		stderr = &logLines{logger: slog.New(slog.NewJSONHandler(stderr, nil))}
	}
	out := &stickyWriter{dst: stdout}
	streams := &Streams{In: stdin, Out: out, Err: stderr}
	defer streams.end()
	c := root(streams)
	profiles.flags(c)
	c.PersistentFlags().Var(oneOf(&format, logFormats), "log-format", "format of messages on standard error: text, or json for one object per line")
	c.PersistentPreRunE = func(c *cobra.Command, args []string) error {
		if err := checkAddressSpace(addressSpace()); err != nil {
			return err
		}
		if err := checkNumbers(c); err != nil {
			return err
		}
		if err := checkOutputs(c, args, stdin); err != nil {
			return err
		}
		return profiles.start()
	}
	c.SetUsageFunc(printUsage)
	unknown := failUnknownHelp(c)
	c.SetArgs(args)
	c.SetIn(stdin)
	c.SetOut(out)
	c.SetErr(stderr)
	c, err := c.ExecuteContextC(ctx)
	err = profiles.stop(cmp.Or(err, *unknown))
	if err == nil {
		err = out.err
	}
	if err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = &Failure{errors.New("cancelled"), "run the same command again: the finished work of a build, and the answers in a ledger or a run, are kept", ExitCancelled}
	}
	return printError(stderr, asUsageError(withHint(err), namedPaths(c)))
}

// Streams are the standard streams of a run, with the functions to call at its end. Data is
// written to Out, messages for people to Err.
type Streams struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer

	atEnd []func()
}

// Notef prints a message for people to Err.
func (s *Streams) Notef(format string, args ...any) { fmt.Fprintf(s.Err, format, args...) }

// Linef prints a message for people to Err, as a line.
func (s *Streams) Linef(format string, args ...any) { s.Notef(format+"\n", args...) }

// AtEnd adds a function that is called when the run ends. The function that was added last is
// called first.
func (s *Streams) AtEnd(f func()) { s.atEnd = append(s.atEnd, f) }

func (s *Streams) end() {
	for _, do := range slices.Backward(s.atEnd) {
		do()
	}
}

// cancellable reads a stream through a pipe, so that a blocked read ends with the context. begin
// starts copying the stream to the pipe.
type cancellable struct {
	*io.PipeReader
	begin  func()
	stream io.Reader
}

// Cancellable returns a reader of a stream, such as a terminal, whose reads may block. A blocked
// read ends when ctx is done. The stream is not read before the first Read.
func Cancellable(ctx context.Context, stream io.Reader) io.Reader {
	r, w := io.Pipe()
	context.AfterFunc(ctx, func() {
		_ = w.CloseWithError(context.Cause(ctx))
	}) // a pipe's close never fails
	return cancellable{r, sync.OnceFunc(func() {
		go func() {
			_, err := io.Copy(w, stream)
			_ = w.CloseWithError(err) // likewise
		}()
	}), stream}
}

func (c cancellable) Read(p []byte) (int, error) {
	c.begin()
	return c.PipeReader.Read(p)
}

// Stat returns the file info of the stream. It returns fs.ErrNotExist if the stream is not a
// file.
func (c cancellable) Stat() (os.FileInfo, error) {
	if f, ok := c.stream.(*os.File); ok {
		return f.Stat()
	}
	return nil, fs.ErrNotExist
}

// Version returns the program's version, as in CHANGELOG.md. It is written to every row, so it
// changes only if rows may change.
func Version() string { return "0.1.0" }

// NewVersion returns the command `arena version`.
func NewVersion(s *Streams) *cobra.Command {
	return Command("version", "Print the version, with the commit it was built from", NumArgs(0, 0), func(*cobra.Command, []string) error {
		_, err := fmt.Fprintf(s.Out, "arena %s%s\n", Version(), buildInfo())
		return err
	})
}

// Program returns what identifies this build of the program: the commit or the published module that it was
// built from, or the hash of its file if neither is known.
var Program = sync.OnceValues(func() (string, error) {
	_, settings := buildSettings()
	source := settings["vcs.revision"]
	if settings["vcs.modified"] != "false" {
		source = settings["module"]
	}
	if source != "" {
		return source, nil
	}
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // it was only read
	h := xxh3.New() // SHA-256 would take a tenth of the time of a small build
	_, err = io.Copy(h, f)
	return fmt.Sprintf("%x", h.Sum128().Bytes()), err
})

// buildSettings returns the version of Go and the settings by which the program was built.
func buildSettings() (version string, settings map[string]string) {
	settings = map[string]string{}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", settings
	}
	settings["module"] = info.Main.Sum
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	return info.GoVersion, settings
}

func buildInfo() string {
	version, settings := buildSettings()
	if version == "" {
		return ""
	}
	var b string
	if revision := settings["vcs.revision"]; revision != "" {
		b = " " + revision + " of " + settings["vcs.time"]
		if settings["vcs.modified"] == "true" {
			b += ", changed"
		}
	}
	return b + ", " + version
}

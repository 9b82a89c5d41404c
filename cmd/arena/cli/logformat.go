package cli

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"

	"github.com/spf13/pflag"
)

// The formats of what is said on standard error.
const (
	logText = "text"
	logJSON = "json"
)

// logFormat is the value of --log-format.
type logFormat string

func (f *logFormat) String() string { return string(*f) }
func (f *logFormat) Type() string   { return "string" }

func (f *logFormat) Set(value string) error {
	if value != logText && value != logJSON {
		return fmt.Errorf("want %s or %s", logText, logJSON)
	}
	*f = logFormat(value)
	return nil
}

// logFormatOf looks --log-format up before the arguments are read, since what
// is wrong with them is told in that format too.
func logFormatOf(args []string) logFormat {
	format := logFormat(logText)
	flags := pflag.NewFlagSet("log", pflag.ContinueOnError)
	flags.ParseErrorsWhitelist.UnknownFlags = true
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	flags.Var(&format, "log-format", "")
	_ = flags.Parse(args) // the command itself tells what is wrong
	return format
}

// logLines makes a line of JSON of each line that is written to it.
type logLines struct {
	mu     sync.Mutex
	logger *slog.Logger
	rest   []byte
}

func newLogLines(w io.Writer) *logLines {
	return &logLines{logger: slog.New(slog.NewJSONHandler(w, nil))}
}

// Write takes text for people in any pieces.
func (l *logLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest = append(l.rest, p...)
	for {
		line, rest, found := bytes.Cut(l.rest, []byte{'\n'})
		if !found {
			return len(p), nil
		}
		l.line(string(line))
		l.rest = rest
	}
}

func (l *logLines) line(text string) {
	text = strings.TrimPrefix(strings.TrimSpace(text), "arena: ")
	if warning, found := strings.CutPrefix(text, "warning: "); found {
		l.logger.Warn(warning)
	} else if text != "" {
		l.logger.Info(text)
	}
}

func (l *logLines) tellError(text, hint string, code int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.line(string(l.rest))
	l.rest = nil
	l.logger.Error(text, "hint", hint, "exit_code", code)
}

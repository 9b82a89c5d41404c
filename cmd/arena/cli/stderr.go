package cli

import (
	"bytes"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus/redact"
)

// The formats of the messages on standard error.
const (
	logText = "text"
	logJSON = "json"
)

var logFormats = []string{logText, logJSON}

// logFormatOf returns the value of the flag --log-format in args, or the default text. It is
// called before all other arguments are parsed, since errors about them are printed in this
// format.
func logFormatOf(args []string) string {
	format := logText
	flags := pflag.NewFlagSet("log", pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	flags.Var(oneOf(&format, logFormats), "log-format", "")
	_ = flags.Parse(args) // the command itself tells what is wrong
	return format
}

// logLines is a writer that writes each line of text as a JSON log record.
type logLines struct {
	mu      sync.Mutex
	logger  *slog.Logger
	pending []byte
}

// Write logs each complete line of text, which may be written in pieces of any length.
func (l *logLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending = append(l.pending, p...)
	for {
		line, remaining, ok := bytes.Cut(l.pending, []byte{'\n'})
		if !ok {
			return len(p), nil
		}
		l.line(string(line))
		l.pending = remaining
	}
}

func (l *logLines) line(text string) {
	text = strings.TrimPrefix(strings.TrimSpace(text), "arena: ")
	if warning, ok := strings.CutPrefix(text, "warning: "); ok {
		l.logger.Warn(warning)
	} else if text != "" {
		l.logger.Info(text)
	}
}

func (l *logLines) printError(text, hint string, code int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.line(string(l.pending))
	l.pending = nil
	l.logger.Error(text, "hint", hint, "exit_code", code)
}

// WithoutSecrets replaces secrets and personal data in a text that quotes a trace, such as an
// error, an explanation or a passage that a judge cites. JSON remains valid JSON.
func WithoutSecrets(text string) string {
	if len(text) < redact.Shortest && utf8.ValidString(text) {
		return text
	}
	return redact.New(redact.Options{}).Text(text, redact.Counts{})
}

// redactingWriter is a writer for standard error. It replaces secrets in every text, except for
// the user's own folders, and escapes control characters that a terminal would execute.
type redactingWriter struct{ dst io.Writer }

// Write writes p without secrets. p must be a complete text, since a secret that is split over
// two writes is not found.
func (w redactingWriter) Write(p []byte) (int, error) {
	text := redact.New(redact.Options{Homes: true}).Text(string(p), redact.Counts{})
	if _, err := io.WriteString(w.dst, visible(text)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// visible returns text with control characters and bidirectional controls escaped. Newlines and
// tabs are kept.
func visible(text string) string {
	hidden := func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r)
	}
	if strings.IndexFunc(text, hidden) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if !hidden(r) {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRuneToASCII(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}

// NamesOf returns the ids of a trace in the form in which output lines have them. An id that is
// a secret becomes a placeholder, which is the same in all commands.
func NamesOf(t *arena.Trace) *arena.Trace {
	out := arena.Trace{
		RunID:     WithoutSecrets(t.RunID),
		ProblemID: WithoutSecrets(t.ProblemID),
	}
	out.Agent.VersionID = WithoutSecrets(t.Agent.VersionID)
	return &out
}

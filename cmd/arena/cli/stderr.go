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

// The formats of what is said on standard error.
const (
	logText = "text"
	logJSON = "json"
)

var logFormats = []string{logText, logJSON}

// logFormatOf looks --log-format up before the arguments are read, since what
// is wrong with them is told in that format too.
func logFormatOf(args []string) string {
	format := logText
	flags := pflag.NewFlagSet("log", pflag.ContinueOnError)
	flags.ParseErrorsWhitelist.UnknownFlags = true
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	flags.Var(oneOf(&format, logFormats), "log-format", "")
	_ = flags.Parse(args) // the command itself tells what is wrong
	return format
}

// logLines makes a line of JSON of each line that is written to it.
type logLines struct {
	mu     sync.Mutex
	logger *slog.Logger
	rest   []byte
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

// WithoutSecrets is what may be shown of words that quote a trace: errors,
// explanations, passages that a judge cites. JSON stays JSON.
func WithoutSecrets(text string) string {
	if len(text) < redact.Shortest && utf8.ValidString(text) {
		return text
	}
	return redact.New(redact.Options{}).Text(text, redact.Counts{})
}

// words is standard error: whatever is said on it, and whoever says it, passes
// a redactor, to which the user's own folders are no secret, and holds no control character that a terminal would obey.
type words struct{ to io.Writer }

// Write takes a whole piece of text, as each print of words is one.
func (w words) Write(p []byte) (int, error) {
	text := redact.New(redact.Options{Homes: true}).Text(string(p), redact.Counts{})
	if _, err := io.WriteString(w.to, visible(text)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// visible writes out the control characters of a text, and those that turn its
// direction, but for the ends of lines and tabs.
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

// NamesOf is what lines say of a trace: its ids, of which one that is a secret
// becomes a placeholder, in the lines of every command alike.
func NamesOf(t *arena.Trace) *arena.Trace {
	out := arena.Trace{RunID: WithoutSecrets(t.RunID), ProblemID: WithoutSecrets(t.ProblemID)}
	out.Agent.VersionID = WithoutSecrets(t.Agent.VersionID)
	return &out
}

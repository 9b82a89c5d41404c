package traces

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"unicode/utf8"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/cursor"
	"github.com/trajectory-arena/arena/traces/formats"
)

// decoder turns records into traces. It keeps working memory from one record
// to the next; a trace it gave out shares none of it.
type decoder struct {
	c      *cursor.Cursor
	limits cursor.Limits
	parts  parts
	// mended are the words for what the record needed to be read.
	mended []string
	// taken counts the elements taken from JSON in its strings; surrogate reports
	// whether one held half of a pair.
	taken     int
	surrogate bool
}

// found is a trace before it has its ids.
type found struct {
	trace *arena.Trace
	// lone is set if the trace is all that its file holds.
	lone bool
	// session and trial are the recording's own, where it has them.
	session string
	trial   string
	// part is the part of the record that the trace is, where it holds several, and
	// others are those behind the first.
	part   string
	others []found
	// line names the session that the record is one line of; it has no trace then.
	line string
}

func newDecoder(l Limits) *decoder {
	return &decoder{c: cursor.New("", l.cursor()), limits: l.cursor()}
}

// record decodes one record. Its errors are *cursor.Error where the text is no
// JSON within the limits and *damage where it is no attempt.
func (d *decoder) record(text []byte) (found, error) {
	size := len(text)
	var mended []string
	if !utf8.Valid(text) {
		text, mended = mendUTF8(text), []string{repairUTF8}
	}
	f, err := d.text(string(text))
	if err != nil && bytes.IndexByte(text, 0) >= 0 {
		mended = append(mended, repairNUL)
		// A killed sandbox writes them in the middle of a line, and the subnet's own reader
		// drops them. JSON allows none.
		f, err = d.text(string(bytes.ReplaceAll(text, []byte{0}, nil)))
	}
	if err != nil {
		return found{}, err
	}
	if f.trace == nil {
		return f, nil
	}
	if d.c.LoneSurrogate() || d.surrogate {
		mended = append(mended, repairSurrogate)
	}
	for _, one := range append([]found{f}, f.others...) {
		one.trace.Bytes = cmp.Or(len(one.part), size)
		for _, word := range append(mended, d.mended...) {
			one.trace.Veto(word)
		}
	}
	return f, nil
}

// text decodes a record that is valid UTF-8. The trace shares its memory.
func (d *decoder) text(text string) (found, error) {
	d.mended, d.parts.problemID, d.taken, d.surrogate = nil, "", 0, false
	d.c.Reset(text)
	switch d.c.Kind() {
	case arena.Object:
		return d.object()
	case arena.Array:
		return d.list()
	case arena.Null: // what a dialogue file holds of an attempt that left none
		d.c.Skip()
		return found{trace: new(formats.NewTrace(dialogueFile))}, d.c.End()
	default:
		return d.nothing("neither an object nor an array")
	}
}

// object reads a record as an envelope, and as another shape if its keys say
// that it is one: envelopes are nearly all that there is.
func (d *decoder) object() (found, error) {
	e := envelope{d: d}
	e.read()
	if err := d.c.End(); err != nil {
		return found{}, err
	}
	if e.isEnvelope() {
		t, err := e.trace()
		return found{trace: t}, err
	}
	d.mended = nil
	if f, err, is := d.foreign(e.schema, d.c.Source()); is {
		return f, err
	}
	for _, s := range shapes {
		if s.is(&e) {
			return d.attempts(s.format, d.c.Source())
		}
	}
	if e.schema != "" && e.marks.any(stepKeys) {
		return found{}, &damage{UnsupportedSchema, "schema_version " + shownWord(e.schema)}
	}
	return found{}, &damage{NotATrace, "object with the keys " + e.shownKeys()}
}

// shape is a format of objects that are no envelopes, told by a schema that the
// object names or by its keys.
type shape struct {
	schema         string // a pattern, as path.Match reads it
	all, any, none mark
	format         *formats.Format
}

// shapes are tried in this order.
var shapes = []shape{
	{schema: "ATIF-v1.[0-7]", format: &formats.ATIF},
	{schema: "oro.environment_episode.v1", format: &formats.Episode},
	{all: keys("episode_result_id", "task_id"), format: &formats.Feedback},
	{all: keys("ledger_format"), any: keys("episode"), format: &formats.Ledger},
	{all: keys("ledger", "verdict"), format: &formats.Ledger},
	{all: keys("conversations"), format: &formats.ShareGPT},
	{any: keys("messages", "traj", "trajectory"), none: keys("history"), format: &formats.OpenAI},
	{all: keys("raw_text", "tool_calls"), format: &formats.OpenAI},
	{all: keys("sample", "grade"), format: &formats.Graded},
	{all: keys("input", "output"), any: keys("reward", "score"), format: &formats.Rendered},
}

// stepKeys are what documents hold that name their schema.
var stepKeys = keys("steps", "episode")

func (s *shape) is(e *envelope) bool {
	if s.schema != "" {
		ok, _ := path.Match(s.schema, e.schema)
		return ok
	}
	named := e.schema != "" && e.marks.any(stepKeys)
	return !named && e.marks.has(s.all) && (s.any == 0 || e.marks.any(s.any)) && !e.marks.any(s.none)
}

// list reads an array as the dialogue or the messages of one attempt. An empty
// one is a dialogue that never began.
func (d *decoder) list() (found, error) {
	switch source := listSource(d.c.Source()); source {
	case openAI, shareGPT:
		return d.messages(source)
	case dialogueFile:
	default:
		if empty := d.c.Source() == "[]"; !empty {
			return d.nothing("array of neither steps nor messages")
		}
	}
	t := new(formats.NewTrace(dialogueFile))
	d.readDialogue(t)
	if err := d.c.End(); err != nil {
		return found{}, err
	}
	t.ProblemID = d.parts.problemID
	return found{trace: t}, nil
}

func (d *decoder) messages(source arena.Source) (found, error) {
	doc := `{"messages":` + d.c.Source() + "}"
	if d.c.Skip(); d.c.End() != nil {
		return found{}, d.c.Err()
	}
	if f, err, is := d.foreign("", doc); is {
		return f, err
	}
	if source == shareGPT {
		return d.attempts(&formats.ShareGPT, doc)
	}
	return d.attempts(&formats.OpenAI, doc)
}

func (d *decoder) nothing(what string) (found, error) {
	d.c.Skip()
	if err := d.c.End(); err != nil {
		return found{}, err
	}
	return found{}, &damage{NotATrace, what}
}

func wrongType(field, want string, got arena.Kind) error {
	is := [...]string{"absent", "null", "a bool", "a number", "a string", "an array", "an object"}[got]
	return &damage{WrongType, fmt.Sprintf("%s is %s where %s should be", field, is, want)}
}

// The vetoes for what is mended in a record before it can be read: it is no longer what
// its source wrote, so it is scored and counted but may not enter a corpus.
const (
	repairUTF8      = "invalid_utf8"
	repairSurrogate = "lone_surrogate"
	repairNUL       = "nul_bytes"
	repairDialogue  = "dialogue_wrong_type"
)

// mendUTF8 turns each byte that is not UTF-8 into U+FFFD, as encoding/json does.
func mendUTF8(text []byte) []byte {
	return bytes.Map(func(r rune) rune { return r }, text)
}

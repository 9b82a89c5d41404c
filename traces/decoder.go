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

// decoder decodes records to traces. It reuses its working memory for the next record; the
// traces that it returns do not share that memory.
type decoder struct {
	c      *cursor.Cursor
	limits cursor.Limits
	parts  parts
	// repairs are the vetoes (reasons not to train) for the repairs without which the record could
	// not be read.
	repairs []string
	// unread has the key paths of the values in a record of the sandbox for which a trace has no
	// field.
	unread formats.Unread
	// logPath is the key path of the list that proxyCall reads, for the names of unread values.
	logPath string
	// nestedElements is the number of list elements in the record's transcript of inference
	// calls, which has a cursor of its own.
	nestedElements int
	// nestedSurrogate reports whether that transcript has half of a surrogate pair.
	nestedSurrogate bool
}

// decoded is the result for one record: its traces, which have no ids yet. For a record that is
// only one line of a session, it has no traces but the key of the session.
type decoded struct {
	// trace is nil if sessionKey is set.
	trace *arena.Trace
	// isOnlyRecord is set if the file has no other record.
	isOnlyRecord bool
	// session and trial identify the attempt if its format has such ids, otherwise they are
	// empty.
	session string
	trial   string
	// part is the text of this attempt within the record if the record has several attempts, and
	// empty otherwise. siblings are the attempts after the first.
	part     string
	siblings []decoded
	// sessionKey identifies the session of which the record is one line, such as one message. It
	// is empty for any other record.
	sessionKey string
}

func newDecoder(l Limits) *decoder {
	return &decoder{
		c:      cursor.New("", l.cursor()),
		limits: l.cursor(),

		logPath: "dialogue.extra_info.proxy_calls",
	}
}

// record decodes one record. It repairs invalid UTF-8 and, if JSON syntax requires it, NUL bytes;
// each repair becomes a veto (reason not to train) of the trace. Numbers that JSON does not have,
// such as NaN, are read as null and recorded as a loss, so that one unknown score does not lose a
// record. The error is a *cursor.Error if the text is not JSON within the limits, and a *damage if
// it is not an attempt.
func (d *decoder) record(text []byte) (decoded, error) {
	size := len(text)
	var repairs []string
	if !utf8.Valid(text) {
		text = replaceInvalidUTF8(text)
		repairs = []string{repairUTF8}
	}
	out, err := d.text(string(text))
	if err != nil && bytes.IndexByte(text, 0) >= 0 {
		// A killed sandbox writes NUL bytes, which JSON does not allow, in the middle of a
		// line. The subnet's reader drops them as well.
		repairs = append(repairs, repairNUL)
		out, err = d.text(string(bytes.ReplaceAll(text, []byte{0}, nil)))
	}
	if err != nil {
		if known, found := WithoutNotNumbers(text); found {
			var secondErr error
			if out, secondErr = d.text(string(known)); secondErr == nil {
				out.addLoss(formats.LostNumber)
				err = nil
			}
		}
	}
	if err != nil {
		return decoded{}, err
	}
	if out.trace == nil {
		return out, nil
	}

	if d.c.LoneSurrogate() || d.nestedSurrogate {
		repairs = append(repairs, repairSurrogate)
	}
	repairs = append(repairs, d.repairs...)
	out.setRecord(size, repairs)
	for i := range out.siblings {
		out.siblings[i].setRecord(size, repairs)
	}
	return out, nil
}

// setRecord sets the size of the trace in bytes, and adds each repair that was made to the record
// as a veto (reason not to train). The size is that of the trace's part of the record, or
// recordBytes if the record has only this trace.
func (d *decoded) setRecord(recordBytes int, repairs []string) {
	d.trace.Bytes = cmp.Or(len(d.part), recordBytes)
	for _, repair := range repairs {
		d.trace.Veto(repair)
	}
}

// text decodes a record that is valid UTF-8, by its JSON type. The strings of the trace share the
// memory of text.
func (d *decoder) text(text string) (decoded, error) {
	d.repairs = nil
	d.unread = formats.Unread{}
	d.parts.problemID = ""
	d.nestedElements = 0
	d.nestedSurrogate = false
	d.c.Reset(text)
	switch d.c.Kind() {
	case arena.Object:
		return d.object()
	case arena.Array:
		return d.list()
	case arena.Null: // the dialogue file of an attempt without a dialogue
		d.c.Skip()
		return decoded{trace: new(formats.NewTrace(dialogueFile))}, d.c.End()
	default:
		return d.notATrace("neither an object nor an array")
	}
}

// object decodes a record that is a JSON object. It first reads the object as an envelope (the
// sandbox's record of an attempt), as nearly all records are. If the object does not have the keys
// of an envelope, it is read as another format.
func (d *decoder) object() (decoded, error) {
	e := envelope{d: d}
	e.read()
	if err := d.c.End(); err != nil {
		return decoded{}, err
	}
	if e.isEnvelope() {
		t, err := e.trace()
		return decoded{trace: t}, err
	}

	d.repairs = nil
	if e.schema == "" {
		if out, ok, err := d.detect(d.c.Source()); ok {
			return out, err
		}
	}
	for i := range shapes {
		if shapes[i].matches(&e) {
			return d.attempts(shapes[i].format, d.c.Source())
		}
	}
	if e.schema != "" && e.keys.hasAny(stepKeys) {
		detail := "schema_version " + quotableWord(e.schema) + "; write an older version, or report it at " + reportAddress
		return decoded{}, &damage{UnsupportedSchema, detail}
	}
	if formats.HasConversation(d.c.Source()) {
		return d.attempts(&formats.OpenAI, d.c.Source())
	}
	detail := "object with the keys " + e.firstKeys() + "; " + guess(d.c.Source())
	return decoded{}, &damage{NotATrace, detail}
}

// shape is a file format of JSON objects other than envelopes (the sandbox's records), with the
// schema or the keys by which it is recognised.
type shape struct {
	schema         string // a pattern of path.Match
	all, any, none keySet
	format         *formats.Format
}

// shapes lists file formats in the order in which object compares them with a record.
var shapes = []shape{
	{schema: "ATIF-v1.[0-8]", format: &formats.ATIF},
	{schema: "oro.environment_episode.v1", format: &formats.Episode},
	{all: keys("episode_result_id", "task_id"), format: &formats.Feedback},
	{
		all:    keys("ledger_format"),
		any:    keys("episode"),
		format: &formats.Ledger,
	},
	{all: keys("ledger", "verdict"), format: &formats.Ledger},
	{all: keys("conversations"), format: &formats.ShareGPT},
	{
		any:    keys("messages", "traj", "trajectory"),
		none:   keys("history"),
		format: &formats.OpenAI,
	},
	{all: keys("raw_text", "tool_calls"), format: &formats.OpenAI},
	{all: keys("sample", "grade"), format: &formats.Graded},
	{
		all:    keys("input", "output"),
		any:    keys("reward", "score"),
		format: &formats.Rendered,
	},
}

// stepKeys are keys that occur in documents with a schema name. If a record names an unknown schema
// and has one of these keys, it is reported as an unsupported version of such a document.
var stepKeys = keys("steps", "episode")

func (s *shape) matches(e *envelope) bool {
	if s.schema != "" {
		ok, _ := path.Match(s.schema, e.schema)
		return ok
	}
	if e.schema != "" && e.keys.hasAny(stepKeys) {
		return false // a document of another schema
	}
	if !e.keys.hasAll(s.all) || e.keys.hasAny(s.none) {
		return false
	}
	return s.any == 0 || e.keys.hasAny(s.any)
}

// list decodes a JSON array as the steps or the messages of one attempt. An empty array is an
// attempt without steps. Any other array is an error.
func (d *decoder) list() (decoded, error) {
	switch source := listSource(d.c.Source()); source {
	case openAI, shareGPT:
		return d.messages(source)
	case dialogueFile:
	default:
		if d.c.Source() != "[]" {
			return d.notATrace("array of neither steps nor messages")
		}
	}
	t := new(formats.NewTrace(dialogueFile))
	d.readDialogue(t)
	if err := d.c.End(); err != nil {
		return decoded{}, err
	}
	t.ProblemID = d.parts.problemID
	t.Lost = d.unread.Words()
	return decoded{trace: t}, nil
}

// messages decodes an array of messages as the first of formats.Detectable that it matches. If it
// matches none, it decodes the array as OpenAI's or ShareGPT's messages, according to source.
func (d *decoder) messages(source arena.Source) (decoded, error) {
	doc := `{"messages":` + d.c.Source() + "}"
	d.c.Skip()
	if err := d.c.End(); err != nil {
		return decoded{}, err
	}
	if out, ok, err := d.detect(doc); ok {
		return out, err
	}
	if source == shareGPT {
		return d.attempts(&formats.ShareGPT, doc)
	}
	return d.attempts(&formats.OpenAI, doc)
}

// skip skips the value of the member name in the object at path, a path of keys, and records it in
// the list of parts of the record that were not read.
func (d *decoder) skip(path, name string) { d.unread.Add(path, name, d.c.Raw()) }

// members calls member for each member of the object at path (a path of keys). A member whose value
// has the wrong type is recorded as not read. It returns false if the value is no object.
func (d *decoder) members(path string, member func(key string)) bool {
	return d.c.Members(member, func(key string, value arena.Raw) {
		d.unread.Add(path, key, value)
	})
}

// notATrace returns the error for a record that is no attempt: a syntax error if it is not valid
// JSON, otherwise a *damage with the reason NotATrace and this detail.
func (d *decoder) notATrace(detail string) (decoded, error) {
	d.c.Skip()
	if err := d.c.End(); err != nil {
		return decoded{}, err
	}
	return decoded{}, &damage{NotATrace, detail}
}

// wrongType returns the error for a field that has the JSON type got where its format requires
// want, a type in words such as "an array".
func wrongType(field, want string, got arena.Kind) error {
	kinds := [...]string{"absent", "null", "a bool", "a number", "a string", "an array", "an object"}
	return &damage{WrongType, fmt.Sprintf("%s is %s where %s should be", field, kinds[got], want)}
}

// Vetoes (reasons not to train) for records that were repaired before they could be read. Such
// an attempt is scored and counted but may not enter a corpus, because it is no longer what its
// source wrote.
const (
	repairUTF8      = "invalid_utf8"
	repairSurrogate = "lone_surrogate"
	repairNUL       = "nul_bytes"
	repairDialogue  = "dialogue_wrong_type"
)

// replaceInvalidUTF8 replaces each byte that is not part of valid UTF-8 by U+FFFD, as
// encoding/json does.
func replaceInvalidUTF8(text []byte) []byte {
	return bytes.Map(func(r rune) rune { return r }, text)
}

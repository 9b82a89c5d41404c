package evidence

import (
	"html"
	"iter"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/calls"
)

// maxReplyText is the maximum number of bytes of a reply that are searched for requests.
// Proxies keep 2,000 to 64,000 characters of a reply.
const maxReplyText = 64 << 10

// replyText is the text of a model's reply without the calls that were read, prepared for the
// search for calls in an unknown notation. versions are this text as written and with escapes
// decoded.
type replyText struct {
	versions []textVersion
	// calls are the texts of the calls that were read. A request may have the values of such a
	// call under other keys.
	calls []textVersion
	// cut reports whether the reply is longer than the part that is searched.
	cut bool
}

// textVersion is a text with its lower-case form and the positions of its words.
type textVersion struct {
	text  string
	lower string
	words []wordAt
}

// wordAt is a word in a text, as the hash of the word and the byte offsets of its start and end.
type wordAt struct {
	hash       uint64
	start, end int
}

// unreadText returns the text of a reply without the calls that parsers recognised, since the
// remaining text may contain calls in other notations. It caches the result by the index of the
// reply.
func (a *Attempt) unreadText(reply int) *replyText {
	if t, ok := a.unread[reply]; ok {
		return t
	}
	r := &a.Log.Replies[reply]
	t := &replyText{}
	for _, raw := range [...]arena.Raw{r.content, r.reasoning} {
		text := a.scratch.contentText(raw)
		if text == "" {
			continue
		}
		if len(text) > maxReplyText {
			t.cut = true
			text = text[:maxReplyText]
		}
		if mayContainCall(raw) {
			reading := calls.Mended(text)
			isRead := len(reading.Calls) > 0 && len(reading.Faults) == 0 && !slices.Contains(reading.Repairs, calls.RepairWords)
			if isRead {
				t.calls = appendVersions(t.calls, text)
				text = reading.Think + "\n" + reading.Text
			}
		}
		t.versions = appendVersions(t.versions, text)
	}
	if r.toolCalls != "" {
		t.calls = appendVersions(t.calls, string(r.toolCalls[:min(len(r.toolCalls), maxReplyText)]))
	}
	if a.unread == nil {
		a.unread = map[int]*replyText{}
	}
	a.unread[reply] = t
	return t
}

// appendVersions appends a text to versions and, if they differ, the text with its escapes
// decoded once and twice. A call may be quoted within a string of another call.
func appendVersions(versions []textVersion, text string) []textVersion {
	for range 3 {
		versions = append(versions, newVersion(text))
		plain, _ := Unescape(nil, text)
		if plain == text {
			break
		}
		text = plain
	}
	return versions
}

// newVersion returns a text with its words and its lower case. If lower-casing changes the length
// in bytes, the unchanged text is used as its lower case, since offsets must be equal in both.
func newVersion(text string) textVersion {
	v := textVersion{text: text, lower: strings.ToLower(text)}
	if len(v.lower) != len(text) {
		v.lower = text
	}
	for i := 0; i < len(text); {
		word, n := NextWord(text[i:])
		if n > 0 {
			v.words = append(v.words, wordAt{word, i, i + n})
		}
		i += max(n, 1)
	}
	return v
}

// Unescape decodes one level of the escapes of JSON, Python, XML, HTML and URLs: backslashes,
// entities and percent signs. Anything else is unchanged. The result may be in the memory of b,
// which it returns for the next call.
func Unescape(b []byte, text string) (decoded string, memory []byte) {
	text = decodeSigns(text)
	if strings.IndexByte(text, '\\') < 0 {
		return text, b
	}
	b = appendUnescaped(b[:0], text)
	return unsafe.String(unsafe.SliceData(b), len(b)), b
}

// decodeSigns decodes one level of the entities and percent signs of a text.
func decodeSigns(text string) string {
	if strings.IndexByte(text, '&') >= 0 {
		text = html.UnescapeString(text)
	}
	if strings.IndexByte(text, '%') >= 0 {
		if decoded, err := url.PathUnescape(text); err == nil && utf8.ValidString(decoded) {
			text = decoded
		}
	}
	return text
}

// appendUnescaped appends text to b, with one level of its backslashes decoded.
func appendUnescaped(b []byte, text string) []byte {
	for text != "" {
		i := strings.IndexByte(text, '\\')
		if i < 0 || i+1 == len(text) {
			return append(b, text...)
		}
		b = append(b, text[:i]...)
		text = text[i+1:]
		switch text[0] {
		case 'n', 'r':
			b = append(b, '\n')
			text = text[1:]
		case 't', 'f', 'b', '\n': // a backslash before a line break folds the line
			b = append(b, ' ')
			text = text[1:]
		case 'u', 'x', 'U':
			digits := map[byte]int{'u': 4, 'x': 2, 'U': 8}[text[0]]
			var length int
			b, length = appendCodePoint(b, text, digits)
			text = text[length:]
		default: // a quote, a slash or a backslash stands for itself
			b = append(b, text[0])
			text = text[1:]
		}
	}
	return b
}

// appendCodePoint appends the character of an escape sequence to b and returns b and the number of
// bytes read. text starts with the letter of the escape (u, x or U), which digits hexadecimal
// digits follow. A surrogate pair is one character. If the escape is invalid, only the letter is
// read and appended.
func appendCodePoint(b []byte, text string, digits int) ([]byte, int) {
	if len(text) <= digits {
		return append(b, text[0]), 1
	}
	n, err := strconv.ParseUint(text[1:1+digits], 16, 32)
	if err != nil {
		return append(b, text[0]), 1
	}
	length := 1 + digits
	const highSurrogate, lowSurrogate = 0xD800, 0xDC00
	if n >= highSurrogate && n < lowSurrogate && strings.HasPrefix(text[length:], `\u`) && len(text) >= length+6 {
		low, err := strconv.ParseUint(text[length+2:length+6], 16, 32)
		if err == nil && low >= lowSurrogate && low < 0xE000 {
			n = (n-highSurrogate)<<10 + (low - lowSurrogate) + 0x10000
			length += 6
		}
	}
	return utf8.AppendRune(b, rune(n)), length
}

// maxLead is the maximum number of bytes between the start of a line and a tool's name (such as "1.
// ") that are compared to recognise a list of calls.
const maxLead = 16

// leadOf returns the text between the start of the line and the offset at, its last maxLead bytes
// at most. Each digit is replaced by 0, so that the numbers of list items are equal.
func (v *textVersion) leadOf(at int) string {
	lead := v.text[max(0, at-maxLead):at]
	lead = lead[strings.LastIndexByte(lead, '\n')+1:]
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return '0'
		}
		return r
	}, lead)
}

// tokens yields the offsets in text at which name appears as a whole word.
func tokens(text, name string) iter.Seq[int] {
	return func(yield func(int) bool) {
		for start := 0; name != ""; {
			i := strings.Index(text[start:], name)
			if i < 0 {
				return
			}
			i += start
			start = i + len(name)
			before, _ := utf8.DecodeLastRuneInString(text[:i])
			after, _ := utf8.DecodeRuneInString(text[start:])
			isToken := (i == 0 || isSeparator(before)) && (start == len(text) || isSeparator(after))
			if isToken && !yield(i) {
				return
			}
		}
	}
}

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

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/calls"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// mention is how much of a request the text of a reply contains, in any syntax.
type mention uint8

const (
	// mentionNone means neither the tool's name nor any distinct value of an argument.
	mentionNone mention = iota
	// mentionPart means the tool's name, or a distinct value of an argument, but not the whole call.
	mentionPart
	// mentionWhole means the tool's name and every value of every argument, written as a call or in
	// a block of code.
	mentionWhole
)

// maxReplyText is the maximum number of bytes of a reply that are searched for requests.
// Proxies keep 2,000 to 64,000 characters of a reply.
const maxReplyText = 64 << 10

// maxComparedWords is the maximum number of comparisons of words for one attempt; real attempts
// need a hundredth of it. Beyond it, searches find nothing and links are unknown.
const maxComparedWords = 1 << 24

// replyText is the text of a reply prepared for the search for calls that no parser recognised.
// versions are the text without the calls that were read, as written and with escapes decoded.
type replyText struct {
	versions []textVersion
	// calls are the texts of the calls that were read, since a request may have the values of
	// such a call under other keys.
	calls []textVersion
	// cut reports whether the reply is longer than the part that is searched.
	cut bool
}

// textVersion is a text, its lower case, and its words with their positions.
type textVersion struct {
	text  string
	lower string
	words []wordAt
}

// wordAt is the hash of a word and the byte offsets of its start and end in the text.
type wordAt struct {
	hash       uint64
	start, end int
}

// unreadText returns the text of a reply without the calls that were read, since the remaining text
// may contain calls that no parser recognised. It caches the result.
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
			if reading := calls.Mended(text); len(reading.Calls) > 0 && len(reading.Faults) == 0 {
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

// appendVersions appends a text and, where they differ, the text with its escapes decoded once
// and twice, since a call may be quoted within a string of another.
func appendVersions(versions []textVersion, text string) []textVersion {
	for range 3 {
		versions = append(versions, newVersion(text))
		plain := unescape(text)
		if plain == text {
			break
		}
		text = plain
	}
	return versions
}

// newVersion splits a text into words. Offsets in lower must be those in text, so lower is the
// text unchanged if its length would change.
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

// unescape decodes one level of the escapes of JSON, Python, XML, HTML and URLs: backslashes,
// entities and percent signs. Anything else is unchanged.
func unescape(text string) string {
	if strings.IndexByte(text, '&') >= 0 {
		text = html.UnescapeString(text)
	}
	if strings.IndexByte(text, '%') >= 0 {
		if decoded, err := url.PathUnescape(text); err == nil && utf8.ValidString(decoded) {
			text = decoded
		}
	}
	if strings.IndexByte(text, '\\') < 0 {
		return text
	}

	var b strings.Builder
	for text != "" {
		i := strings.IndexByte(text, '\\')
		if i < 0 || i+1 == len(text) {
			b.WriteString(text)
			break
		}
		b.WriteString(text[:i])
		text = text[i+1:]
		switch text[0] {
		case 'n', 'r':
			b.WriteByte('\n')
			text = text[1:]
		case 't', 'f', 'b', '\n': // a backslash before a line break folds the line
			b.WriteByte(' ')
			text = text[1:]
		case 'u', 'x', 'U':
			digits := map[byte]int{'u': 4, 'x': 2, 'U': 8}[text[0]]
			text = text[appendCodePoint(&b, text, digits):]
		default: // a quote, a slash or a backslash stands for itself
			b.WriteByte(text[0])
			text = text[1:]
		}
	}
	return b.String()
}

// appendCodePoint appends the character of an escape sequence to b and returns the number of
// bytes read. text starts with the letter of the escape (u, x or U), and digits is the number
// of hexadecimal digits after the letter. A surrogate pair is one character. Of an invalid
// escape, only the letter is read and appended.
func appendCodePoint(b *strings.Builder, text string, digits int) int {
	if len(text) <= digits {
		b.WriteByte(text[0])
		return 1
	}
	n, err := strconv.ParseUint(text[1:1+digits], 16, 32)
	if err != nil {
		b.WriteByte(text[0])
		return 1
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
	b.WriteRune(rune(n))
	return length
}

// value is one value of a request's arguments, as the hashes of its words.
type value struct {
	words []uint64
	// distinct reports whether a text that is not about the call is unlikely to contain the
	// value: it has two words or more, or at least minDistinct characters.
	distinct bool
}

// minDistinct is the minimum number of characters of a single word or number that is evidence
// of a call: counts, pages, units and "true" are shorter or excluded.
const minDistinct = 5

// maxValues is the maximum number of values of one request that are searched for.
const maxValues = 64

// addArguments adds the keys and values of a call's arguments to r, at any depth of the JSON.
// encoded reports whether texts are URL-encoded, as they are in the proxy's log.
func (r *request) addArguments(v gjson.Result, encoded bool, depth int) {
	if depth > calls.MaxDepth || v.Type == gjson.Null {
		return
	}
	if v.Type == gjson.JSON {
		v.ForEach(func(key, item gjson.Result) bool {
			if key.Type == gjson.String {
				r.keys = append(r.keys, HashText(strings.ToLower(key.Str)))
			}
			r.addArguments(item, encoded, depth+1)
			return len(r.values) < maxValues
		})
		return
	}

	text := unquote(valueText(v), encoded && v.Type == gjson.String)
	ids := calls.AppendIDs(nil, gjson.Result{Type: gjson.String, Str: text}, maxIDs)
	if len(ids) < 2 || slices.ContainsFunc(ids, isNotID) {
		ids = []string{text}
	}
	for _, text := range ids {
		if one := newValue(text); len(one.words) > 0 {
			r.values = append(r.values, one)
		}
	}
}

func newValue(text string) value {
	v := value{words: AppendWords(nil, text)}
	isBool := text == "true" || text == "false"
	v.distinct = len(v.words) > 1 || len(v.words) == 1 && utf8.RuneCountInString(text) >= minDistinct && !isBool
	return v
}

// occurrence is the result of searching one version of a reply's text for a request: how much of
// the request the text contains, and at which position.
type occurrence struct {
	mention mention
	// name is the offset of the tool's name, -1 if the text does not contain it. lead is the
	// text before the name in its line, where the name is called.
	name    int
	lead    string
	version *textVersion
}

// findMention returns how much of a request a reply contains. A part counts only outside of the
// calls that were read. A whole request counts as a part if the reply lists more such calls
// than were sent, so that the client chose. A reply that is too long to be searched to its end
// contains a part at least.
func (a *Attempt) findMention(reply int, r *request) mention {
	best := mentionNone
	t := a.unreadText(reply)
	for i := range len(t.versions) + len(t.calls) {
		wasRead := i >= len(t.versions)
		var o occurrence
		if wasRead {
			o = a.mentionIn(&t.calls[i-len(t.versions)], r)
		} else {
			o = a.mentionIn(&t.versions[i], r)
		}
		if o.mention == mentionWhole && a.countCalls(&o) > a.requestsAfter(reply) {
			a.Offers++
			return mentionPart
		}
		if o.mention == mentionWhole || !wasRead {
			best = max(best, o.mention)
		}
	}
	if t.cut && best == mentionNone {
		return mentionPart // the part that was not searched may contain it
	}
	return best
}

// requestsAfter counts the requests to the shop between a reply and the next one. It returns at
// least 1.
func (a *Attempt) requestsAfter(reply int) int {
	n := slicesx.CountFunc(a.Log.Dispatches, func(d *Dispatch) bool {
		return d.LastReply == reply
	})
	return max(n, 1)
}

// toolNames returns the names of all tools of the attempt, in lower case: those of the harness,
// of the log, and those that the trace declares or calls.
func (a *Attempt) toolNames() []string {
	if a.tools != nil {
		return a.tools
	}
	add := func(name string) {
		if name != "" && len(a.tools) < maxTools {
			a.tools = slicesx.AppendUnique(a.tools, strings.ToLower(ToolName(name)))
		}
	}
	for i := range a.Log.Dispatches {
		add(Endpoint(a.Log.Dispatches[i].Call.Path))
	}
	for i := range a.Claims {
		add(a.Claims[i].Call.Name)
	}
	for _, schema := range gjson.Parse(string(a.Trace.Tools)).ForEach {
		add(schema.Get("name").String())
		add(schema.Get("function.name").String())
	}
	for name := range a.scratch.harness {
		add(name)
	}
	slices.Sort(a.tools)
	return a.tools
}

// request is a call to search for in the text of replies: the names of its tool, and the keys
// and values of its arguments.
type request struct {
	names  []string
	keys   []uint64
	values []value
}

// mentionIn returns how much of a request one version of a text contains. Values may precede or
// follow the tool's name, in any order. A name or value within a sentence is prose and no call,
// so that it makes the request a part only.
func (a *Attempt) mentionIn(v *textVersion, r *request) occurrence {
	o := occurrence{name: -1, version: v}
	isCalled := false
	for _, name := range r.names {
		for at := range tokens(v.lower, strings.ToLower(name)) {
			o.name = max(o.name, at)
			if v.isName(at, at+len(name), r) {
				isCalled = true
				o.lead = v.leadOf(at)
			}
		}
	}

	delimited := 0
	distinct := false
	for i := range r.values {
		for start, end := range a.wordsIn(v, r.values[i].words) {
			distinct = distinct || r.values[i].distinct
			if v.isValue(start, end, r) {
				delimited++
				isCalled = isCalled || v.isFenced(start, end, r)
				break
			}
		}
	}
	switch {
	case isCalled && delimited == len(r.values):
		o.mention = mentionWhole
	case o.name >= 0 || distinct:
		o.mention = mentionPart
	}
	return o
}

// maxLead is the maximum number of bytes before a tool's name that are compared to recognise a
// list of calls.
const maxLead = 16

// leadOf returns the text before offset at in its line, maxLead bytes at most. All digits are
// replaced by 0, so that numbered items of a list are equal.
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

// countCalls counts the calls in a text that look like the call at o: the name of any tool after
// the same beginning of the line.
func (a *Attempt) countCalls(o *occurrence) int {
	n := 0
	for _, name := range a.toolNames() {
		for at := range tokens(o.version.lower, name) {
			if o.version.leadOf(at) == o.lead {
				n++
			}
		}
	}
	return n
}

// isName reports whether the tool's name at these offsets is a call, not a word of a sentence: a
// parenthesis follows it, or no word is next to it. A key, a tool name or a value of the request
// may follow it.
func (v *textVersion) isName(start, end int, r *request) bool {
	if strings.HasPrefix(v.text[end:], "(") {
		return true
	}
	return v.wordBefore(start) == "" && v.isDelimitedAfter(end, r)
}

// isValue reports whether the words at these offsets are a value of their own: no sentence
// continues before or after them in their line.
func (v *textVersion) isValue(start, end int, r *request) bool {
	if !v.isDelimitedAfter(end, r) {
		return false
	}
	word := v.wordBefore(start)
	return word == "" || r.isKeyOrName(word)
}

// isDelimitedAfter reports whether no prose follows the offset end: the line ends there, or
// continues with a punctuation mark or a key, tool name or value of the request.
func (v *textVersion) isDelimitedAfter(end int, r *request) bool {
	next := strings.TrimLeft(v.text[end:], " \t")
	word := next[:len(next)-len(strings.TrimLeftFunc(next, isWordRune))]
	if word == "" || r.isKeyOrName(word) {
		return true
	}
	first, _ := NextWord(next)
	return slices.ContainsFunc(r.values, func(value value) bool { return value.words[0] == first })
}

// wordBefore returns the word before an offset if only blanks are between them, else "".
func (v *textVersion) wordBefore(start int) string {
	before := strings.TrimRight(v.text[:start], " \t")
	return before[len(strings.TrimRightFunc(before, isWordRune)):]
}

func (r *request) isKeyOrName(word string) bool {
	return slices.Contains(r.keys, HashText(strings.ToLower(word))) || slices.ContainsFunc(r.names, func(name string) bool {
		return strings.EqualFold(name, word)
	})
}

// isFenced reports whether the words at these offsets are the only value of a request and fill
// a fenced block with a programming language: code that the model wrote to be run.
func (v *textVersion) isFenced(start, end int, r *request) bool {
	const fence = "```"
	open := strings.LastIndex(v.text[:start], fence)
	if open < 0 || len(r.values) != 1 || !strings.HasPrefix(strings.TrimLeftFunc(v.text[end:], isSeparatorButFence), fence) {
		return false
	}
	language, lead, _ := strings.Cut(v.text[open+len(fence):start], "\n")
	return strings.TrimSpace(language) != "" && strings.TrimFunc(lead, isSeparator) == ""
}

func isSeparatorButFence(r rune) bool { return r != '`' && isSeparator(r) }

// tokens yields the offsets of a name in a text where it is not a part of a longer word.
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

// wordsIn yields the start and end offset of each occurrence of these words, one after the
// other, in a text. It stops after maxComparedWords comparisons.
func (a *Attempt) wordsIn(v *textVersion, words []uint64) iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		for i := 0; i+len(words) <= len(v.words); i++ {
			n := 0
			for n < len(words) && v.words[i+n].hash == words[n] {
				n++
			}
			if n == len(words) && !yield(v.words[i].start, v.words[i+n-1].end) {
				return
			}
			a.comparedWords += n + 1
			if a.comparedWords > maxComparedWords {
				return
			}
		}
	}
}

// linkByWords searches the text of replies for requests that were found in no call, and sets
// their links. The link is named if a reply of the request's turn contains the tool's name and
// every value, in any syntax, or an earlier reply of another model does, as in a team of
// models. It is unknown if the newest reply contains a part, which may be a call in a form that
// cannot be read.
func (a *Attempt) linkByWords() {
	for i := range a.Log.Dispatches {
		d := &a.Log.Dispatches[i]
		if d.Link != LinkNone && d.Link != LinkOverride && d.Link != LinkStale {
			continue
		}
		r := a.requestOf(d)
		if a.comparedWords > maxComparedWords {
			d.Link = LinkUnknown
			continue
		}
		newest := a.findMention(d.LastReply, r)
		for reply := d.LastReply; reply >= 0; reply-- {
			isTeam := a.Log.Replies[reply].model != a.Log.Replies[d.LastReply].model
			if reply < d.firstReply && !isTeam {
				continue
			}
			if a.findMention(reply, r) == mentionWhole {
				d.Link = LinkNamed
				d.Reply = reply
				break
			}
		}
		if d.Link == LinkNamed {
			continue
		}
		if newest == mentionPart || a.replyMentions(d.LastReply, &d.Act, a.newestListFor(d.LastReply)) {
			d.Link = LinkUnknown
		}
	}
}

// requestOf returns the tool names, keys and values of a logged request, to be searched for in
// replies. The names are those of its URL and of the dialogue's call that it was made for.
func (a *Attempt) requestOf(d *Dispatch) *request {
	r := &request{names: []string{Endpoint(d.Call.Path)}}
	if d.Claimed >= 0 {
		if name := ToolName(a.Claims[d.Claimed].Call.Name); name != r.names[0] {
			r.names = append(r.names, name)
		}
	}
	for _, raw := range [...]arena.Raw{d.Call.Params, d.Call.Body} {
		r.addArguments(gjson.Parse(string(raw)), true, 0)
	}
	return r
}

// Passage is a part of the text of a reply. Found reports whether the part is the tool's name
// or a value of the request that was searched for.
type Passage struct {
	Text  string `json:"text"`
	Found bool   `json:"found,omitempty"`
}

// maxPassages is the maximum number of passages into which a reply is split, maxQuote the
// maximum number of its bytes that are quoted.
const (
	maxPassages = 64
	maxQuote    = 2000
)

// NewestReply returns the newest reply before a dispatch, with its tool's name and values
// marked, and the number of the reply, from 1. It returns nil and 0 if no reply precedes the
// dispatch.
func (a *Attempt) NewestReply(d *Dispatch) (passages []Passage, number int) {
	if d.LastReply < 0 {
		return nil, 0
	}
	r := &a.Log.Replies[d.LastReply]
	text := strings.TrimSpace(a.scratch.contentText(r.content) + "\n" + string(r.toolCalls))
	if text == "" {
		text = a.scratch.contentText(r.reasoning)
	}
	text = strings.ToValidUTF8(text[:min(len(text), maxQuote)], "")

	v := newVersion(text)
	request := a.requestOf(d)
	marked := make([]bool, len(text))
	mark := func(start, end int) {
		for i := start; i < end; i++ {
			marked[i] = true
		}
	}
	for _, name := range request.names {
		for at := range tokens(v.lower, strings.ToLower(name)) {
			mark(at, at+len(name))
		}
	}
	for i := range request.values {
		for start, end := range a.wordsIn(&v, request.values[i].words) {
			mark(start, end)
		}
	}

	for start := 0; start < len(text); {
		end := start + 1
		for end < len(text) && (marked[end] == marked[start] || len(passages) == maxPassages) {
			end++
		}
		passages = append(passages, Passage{Text: text[start:end], Found: marked[start]})
		start = end
	}
	return passages, d.LastReply + 1
}

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

// mention is how much of a request stands in the text of a reply, whatever the syntax.
type mention uint8

const (
	// mentionNone: neither the tool's name nor any value of an argument.
	mentionNone mention = iota
	// mentionPart: the tool's name, or a value of an argument, but not both in full.
	mentionPart
	// mentionWhole: the tool's name and every value of every argument.
	mentionWhole
)

// maxReplyText is the number of bytes of a reply in which requests are looked for. Proxies
// keep 2,000 to 64,000 characters of a reply.
const maxReplyText = 64 << 10

// maxComparedWords is the limit of the comparisons of words of one attempt; real attempts
// need a hundredth of it. What exceeds it is not read, so that it counts for nothing.
const maxComparedWords = 1 << 24

// replyText is the part of a reply in which a call may stand that no reader of calls
// recognised: its text without the calls that were read, as written and with its escapes
// undone.
type replyText struct {
	versions []textVersion
	// calls are the calls that were read, as written: a request may have the values of a call
	// under other keys.
	calls []textVersion
	// cut reports whether the reply is longer than what is searched.
	cut bool
}

// textVersion is a text and its words.
type textVersion struct {
	text  string
	lower string
	words []wordAt
}

// wordAt is the hash of a word and where the word starts and ends in its text.
type wordAt struct {
	hash       uint64
	start, end int
}

// unreadText returns the text of a reply without the calls that were read in it. The result
// is kept until the next reply is asked for.
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

// appendVersions appends a text and, where that differs, the text with its escapes undone
// once and twice, since a call may be quoted within a string of another.
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

// newVersion returns a text with its words. The text in lower case has the same offsets, so
// that a text whose length changes with its case stays as it is.
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

// unescape undoes what writers do to a text within JSON, Python, XML, HTML or a URL: one
// level of backslashes, entities and percent signs. What is no escape stays as it is.
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

// appendCodePoint appends the character of an escape, which is text[0] and this many
// hexadecimal digits, and returns the length of the escape. It joins a surrogate pair.
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

// value is one value of an argument.
type value struct {
	words []uint64
	// distinct reports whether the value is unlikely in a text that is not about the call:
	// it has two words or more, or is a word or number of minDistinct characters.
	distinct bool
}

// minDistinct is the number of characters from which a single word or number is distinct:
// counts, pages, units and "true" are shorter.
const minDistinct = 5

// maxValues is the limit of the values of one request that are looked for.
const maxValues = 64

// addArguments adds the keys and values of arguments, at any depth. encoded reports whether
// texts are URL-encoded, as they are on the way to the proxy.
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

// occurrence is how much of a request stands in a version of a text, and where.
type occurrence struct {
	mention mention
	// name is the offset of the tool's name, -1 if it does not occur. lead is what stands
	// before the name in its line where it is called.
	name    int
	lead    string
	version *textVersion
}

// findMention returns how much of a request stands in a reply. A part counts only if no
// reader of calls recognised the text around it.
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

// requestsAfter returns the number of requests that were sent after a reply and before the
// next one, at least one.
func (a *Attempt) requestsAfter(reply int) int {
	n := slicesx.CountFunc(a.Log.Dispatches, func(d *Dispatch) bool {
		return d.LastReply == reply
	})
	return max(n, 1)
}

// toolNames returns the names of the tools that the trace declares or calls, in lower case.
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

// request is what is looked for in replies: the names of a tool, and the keys and values of
// its arguments.
type request struct {
	names  []string
	keys   []uint64
	values []value
}

// mentionIn returns how much of a request stands in one version of a text. The values may
// stand before or after the tool's name, in any order. A name or a value within a sentence
// is spoken of, not called, so that it makes a part of the request only.
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

// maxLead is the number of bytes before a tool's name that distinguish a list of calls.
const maxLead = 16

// leadOf returns what stands before an offset in its line, maxLead bytes at most, with all
// digits alike: the numbers of a list differ.
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

// countCalls returns the number of calls that stand in a text as the found one does: the
// names of any tools after the same lead.
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

// isName reports whether the tool's name between these offsets is called: as a function is,
// or not within a sentence.
func (v *textVersion) isName(start, end int, r *request) bool {
	if strings.HasPrefix(v.text[end:], "(") {
		return true
	}
	return v.wordBefore(start) == "" && v.isDelimitedAfter(end, r)
}

// isValue reports whether the words between these offsets are a value of their own: neither
// before nor after them does a sentence go on in their line.
func (v *textVersion) isValue(start, end int, r *request) bool {
	if !v.isDelimitedAfter(end, r) {
		return false
	}
	word := v.wordBefore(start)
	return word == "" || r.isKeyOrName(word)
}

// isDelimitedAfter reports whether the line ends after an offset, or goes on with a sign, a
// key or a value of the request.
func (v *textVersion) isDelimitedAfter(end int, r *request) bool {
	next := strings.TrimLeft(v.text[end:], " \t")
	word := next[:len(next)-len(strings.TrimLeftFunc(next, isWordRune))]
	if word == "" || r.isKeyOrName(word) {
		return true
	}
	first, _ := NextWord(next)
	return slices.ContainsFunc(r.values, func(value value) bool { return value.words[0] == first })
}

// wordBefore returns the word before an offset if only blanks are between them.
func (v *textVersion) wordBefore(start int) string {
	before := strings.TrimRight(v.text[:start], " \t")
	return before[len(strings.TrimRightFunc(before, isWordRune)):]
}

func (r *request) isKeyOrName(word string) bool {
	return slices.Contains(r.keys, HashText(strings.ToLower(word))) || slices.ContainsFunc(r.names, func(name string) bool {
		return strings.EqualFold(name, word)
	})
}

// isFenced reports whether the words between these offsets are the only value of a request
// and a whole fenced block in a programming language: code that the model wrote to be run.
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

// tokens yields the offsets at which a name stands in a text as a token of its own.
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

// wordsIn yields the offsets in a text of the start and the end of these words one after the
// other.
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

// linkByWords sets the link of requests that no reader of calls found in a reply. A request is
// named if the tool's name and every value of its arguments stand in a reply of its turn,
// in whatever syntax; or in an earlier reply of another model, which a team asked. Its link
// is unknown if a part of it stands in the newest reply, since that may be a call in a form
// that is not read.
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

// requestOf returns what is looked for in replies of a request that was sent. Its names are
// those of the endpoint and of the call in the dialogue which the request was made for.
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

// Passage is a part of a reply in which a request was looked for. Found reports whether it
// is the tool's name or a value of the request.
type Passage struct {
	Text  string `json:"text"`
	Found bool   `json:"found,omitempty"`
}

// maxPassages is the limit of the marked passages of one reply, maxQuote of the bytes of the
// reply that are quoted.
const (
	maxPassages = 64
	maxQuote    = 2000
)

// NewestReply returns the newest reply before a request that was sent, as passages, and its
// number from 1. It returns 0 if no reply precedes the request.
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

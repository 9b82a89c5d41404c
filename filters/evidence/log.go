package evidence

import (
	"cmp"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// Dispatch is one request to the tool server in the proxy's log, with the evidence for who decided on
// it: the model or its client.
type Dispatch struct {
	Call *arena.ProxyCall
	Act  Act
	span
	// Claimed is the index of the call in the dialogue that the request was made for, -1 if
	// there is none. verbatim reports whether the result of that call is the logged answer, byte
	// for byte.
	Claimed  int
	verbatim bool
	// LastReply is the index of the last reply before the request. Reply is the index of the
	// reply that asked for the request. Both are -1 if there is none.
	LastReply int
	Reply     int
	// firstReply is the index of the first reply after the previous request to the tool server, -1 if
	// there is none.
	firstReply int
	// Shortened reports whether the request is a search from which the client removed words that
	// the model wrote.
	Shortened bool
	// Chosen reports whether the client chose the request from several calls of one reply.
	Chosen bool
	// cut reports whether an unreadable reply may have asked for the request.
	cut  bool
	Link Link
	// items are the ids that the tool server returned. unrecorded reports whether neither the log
	// nor the dialogue contains them.
	items      []string
	unrecorded bool
}

// span is the start and end of a log entry in Unix milliseconds. If entries have no time, both
// are the index of the entry in the log.
type span struct{ Start, End float64 }

// Link tells whether an earlier reply of the model asked for a dispatch (a request to the tool server
// in the log), and how.
type Link uint8

// The links of a dispatch. Its turn is the replies since the previous dispatch. A reply names a
// call if it contains the call. Only named, loose and derived show that the model asked for the
// dispatch. Unknown means that the deciding reply was not recorded in full, or has a form that
// cannot be read.
const (
	LinkNone     Link = iota // replies before it can be read, none names it
	LinkNamed                // named with these arguments by a reply of its own turn
	LinkLoose                // named, but the client removed a filter or changed another
	LinkDerived              // one of several requests that carry out a named call
	LinkRetry                // repeats an earlier dispatch that was named
	LinkStale                // named by a reply of an earlier turn
	LinkOverride             // the tool was named, with other arguments
	LinkUnknown              // the reply before it cannot be read
	LinkNoReply              // no reply before it
)

var linkNames = [...]string{
	LinkNone:     "unnamed",
	LinkNamed:    "named",
	LinkLoose:    "named_loosely",
	LinkDerived:  "derived",
	LinkRetry:    "retry",
	LinkStale:    "stale",
	LinkOverride: "overridden",
	LinkUnknown:  "unknown",
	LinkNoReply:  "no_inference",
}

// Links counts the dispatches (logged requests to the tool server) that have each link.
type Links [len(linkNames)]int

// String returns the name of the link in explanations.
func (k Link) String() string { return linkNames[k] }

// ProxyLog is the proxy's log of one attempt, ordered by time.
type ProxyLog struct {
	Dispatches []Dispatch
	Replies    []Reply
	// Slack is the tolerance in milliseconds for comparing times. It covers rounding, and
	// durations that were not measured by the clock of the time stamps. It is 0 if the entries
	// have no times.
	Slack float64
	// Requested counts the requested chat completions, with or without an answer.
	Requested int
	// mute counts calls to models that return no text, such as embeddings.
	mute int
	// silent reports whether models were called but the log has no entry of these calls.
	silent bool
	// Present reports whether the trace has a proxy log with at least one entry.
	Present bool
}

// The values of Slack in milliseconds: for logs whose time stamps have milliseconds, and for
// logs with whole seconds.
const (
	slackMilliseconds = 10
	slackSeconds      = 1000
)

// readLog reads the proxy's log of an attempt, in the order in which the logged calls finished or,
// if a time is missing, were recorded. Entries that only served diagnosis are left out. If
// replyTimes is not nil, its elements replace the times of the model's replies, in order.
func readLog(t *arena.Trace, s *scratch, replyTimes []span) ProxyLog {
	entries, timed := s.collectEntries(t)
	l := ProxyLog{Present: len(entries) > 0, Slack: slackMilliseconds}
	if !slices.ContainsFunc(entries, func(e entry) bool {
		return e.AtMS%1000 != 0
	}) {
		l.Slack = slackSeconds
	}
	bodies := 0
	for i := range entries {
		bodies += l.count(&entries[i])
	}
	s.json.Reserve(bodies)
	if !timed {
		l.Slack = 0
	}

	for i := range entries {
		e := &entries[i]
		times := span{float64(e.AtMS) - e.DurationMS, float64(e.AtMS)}
		if !timed {
			times = span{float64(i), float64(i)}
		}
		switch {
		case !e.inference && e.role.Tool.IsCatalogue():
			d := Dispatch{
				Call:       e.ProxyCall,
				span:       times,
				Claimed:    -1,
				Reply:      -1,
				firstReply: -1,
			}
			d.Act.read(
				s,
				e.role,
				cmp.Or(e.Params, e.Body),
				true,
			)
			s.dispatches = append(s.dispatches, d)
		case e.inference && isAnswered(e.ProxyCall):
			if replyTimes != nil {
				times = replyTimes[len(s.replies)]
			}
			s.replies = append(s.replies, readReply(e.ProxyCall, times, s))
		}
	}
	l.Replies = s.replies
	l.Dispatches = s.dispatches
	l.silent = l.Requested == 0 && t.InferenceTotal > l.mute
	return l
}

// count adds a log entry to the counts of l. It returns the length in bytes of the entry's response
// if the entry is a model's completion, else 0.
func (l *ProxyLog) count(e *entry) int {
	if e.mute {
		l.mute++
	}
	if !e.inference {
		return 0
	}
	l.Requested++
	return len(e.Response)
}

// inferences returns how many model calls of the attempt may have returned text. counted is the
// number of model calls that the sandbox counted. If the log has at least as many, the answered
// ones in the log are counted. Otherwise the calls that the log lacks are counted too.
func (l *ProxyLog) inferences(counted int) int {
	if l.Requested >= counted {
		return len(l.Replies)
	}
	return max(l.Requested, counted-l.mute)
}

// endLength is the number of bytes at the end of a reply that are hashed, to distinguish replies
// that have the same id. The end contains the newest text and, if the server counts them, the
// number of tokens.
const endLength = 128

// ReplyHashes returns a hash of each reply, computed from its id, length and end, and the time
// of the first reply in Unix milliseconds. Replies have no hash if their id does not identify
// them.
func (l *ProxyLog) ReplyHashes() (hashes []uint64, begin int64) {
	if len(l.Replies) == 0 {
		return nil, 0
	}
	begin = l.Replies[0].Call.AtMS
	if l.hasConstantID() {
		return nil, begin
	}
	hashes = make([]uint64, 0, len(l.Replies))
	for i := range l.Replies {
		r := &l.Replies[i]
		if r.id == 0 {
			continue
		}
		body := string(r.Call.Response)
		end := HashText(body[max(0, len(body)-endLength):])
		hashes = append(hashes, Mix(r.id+uint64(len(body)), end))
	}
	return hashes, begin
}

func isAnswered(c *arena.ProxyCall) bool { return c.Status == 200 }

// entry is a call in the log, classified by the path of its URL.
type entry struct {
	*arena.ProxyCall
	// inference reports whether the call is a chat or text completion. mute reports whether the
	// called model returns no text, and so cannot ask for a tool. Both are false for other calls
	// of the model server, such as for its list of models.
	inference bool
	mute      bool
	role      Role
}

// Endpoint returns the last segment of a URL path, without the query.
func Endpoint(path string) string {
	path, _, _ = strings.Cut(path, "?")
	path = strings.TrimRight(path, "/")
	return path[strings.LastIndexByte(path, '/')+1:]
}

// MaxCalls is the maximum number of calls of one attempt that are examined, in its log and in
// its dialogue. Harnesses end after 25 to 30 steps, so an attempt with more than MaxCalls is
// rejected.
const MaxCalls = 1024

// collectEntries returns up to MaxCalls entries of the proxy's log in a trace. Entries of kind
// "attempt", which only serve diagnosis, are left out. timed reports whether all entries have a
// time: they are then ordered by time, otherwise in their recorded order.
func (s *scratch) collectEntries(t *arena.Trace) (entries []entry, timed bool) {
	entries = s.entries
	timed = true
	sorted := true
	for i := range t.Steps {
		for j := range t.Steps[i].Proxy {
			c := &t.Steps[i].Proxy[j]
			if c.Attempt || len(entries) >= MaxCalls {
				continue
			}
			timed = timed && c.AtMS > 0
			sorted = sorted && (len(entries) == 0 || c.AtMS >= entries[len(entries)-1].AtMS)
			name := Endpoint(c.Path)
			entries = append(entries, entry{
				ProxyCall: c,
				inference: strings.HasSuffix(name, "completions"),
				mute:      name == "embeddings" || name == "rerank",
				role:      s.roleFor(name),
			})
		}
	}
	s.entries = entries
	if !sorted && timed {
		slicesx.SortByKey(entries, func(e entry) int64 {
			return e.AtMS
		})
	}
	return entries, timed
}

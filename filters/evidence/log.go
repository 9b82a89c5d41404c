package evidence

import (
	"cmp"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
)

// Dispatch is one request to the shop that the proxy answered, with the evidence for who
// decided it.
type Dispatch struct {
	Call *arena.ProxyCall
	Act  Act
	span
	// Claimed is the index of the claim of this dispatch, -1 if none. verbatim reports
	// whether the claim's result is the answer, byte for byte.
	Claimed  int
	verbatim bool
	// LastReply is the index of the last reply before it, Reply that of the reply that
	// named it; -1 if none.
	LastReply int
	Reply     int
	// firstReply is the index of the first reply since the request before, -1 if none.
	firstReply int
	// Shortened reports whether the named search has words that the client left out.
	Shortened bool
	// cut reports whether a reply that can have named the dispatch cannot be read.
	cut  bool
	Link Link
	// products are those that it returned. unrecorded reports whether neither the log
	// nor the dialogue has them.
	products   []string
	unrecorded bool
}

// span is the start and end of an entry in Unix milliseconds; both are the entry's index
// in the log if entries have no time.
type span struct{ Start, End float64 }

// Link is the relation of a dispatch to the inference before it.
type Link uint8

// The links of a dispatch. Only named, loose and derived bind the dispatch to a model's own
// text. Unknown means that the log truncated the reply that would decide.
const (
	LinkNone     Link = iota // readable replies before it, none names it
	LinkNamed                // named with these arguments by a reply of its own turn
	LinkLoose                // named, but the client removed a filter or changed another
	LinkDerived              // follows from a named call that needs several requests
	LinkRetry                // repeats a dispatch that was named
	LinkStale                // named by a reply of an earlier turn
	LinkOverride             // the tool was named, with other arguments
	LinkUnknown              // the reply before it cannot be read
	LinkNoReply              // no inference before it
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

// Links counts dispatches by their link.
type Links [len(linkNames)]int

// String returns the name of the link in explanations.
func (k Link) String() string { return linkNames[k] }

// ProxyLog is the evidence of the proxy about one attempt, in the order of time.
type ProxyLog struct {
	Dispatches []Dispatch
	Replies    []Reply
	// Slack is the tolerance of comparisons of times, in milliseconds: for rounding, and
	// for durations measured on another clock than time stamps; 0 if entries have no times.
	Slack float64
	// Requested counts the chat completions, answered or not.
	Requested int
	// mute counts calls to models that return no text, such as embeddings.
	mute int
	// silent reports whether models were called, but the log has no entry of it.
	silent bool
	// Present reports whether the source has such a log at all.
	Present bool
}

// Slack of logs whose stamps have milliseconds, and of logs with whole seconds.
const (
	slackMilliseconds = 10
	slackSeconds      = 1000
)

// readLog reads the proxy's calls in the order in which they finished, without diagnostic
// entries. replyTimes replace the times of the replies unless they are nil.
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

// count adds an entry to the log's counts and returns the size of its reply.
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

// inferences returns the number of chat completions that may have returned text, by the
// log and by the sandbox's count. If the log has as many as were counted, those that failed
// returned nothing.
func (l *ProxyLog) inferences(counted int) int {
	if l.Requested >= counted {
		return len(l.Replies)
	}
	return max(l.Requested, counted-l.mute)
}

// endLength is the number of bytes at the end of a reply that distinguish it from another
// one of its id: what was written last and, if the server counts them, the tokens.
const endLength = 128

// ReplyHashes returns hashes of the replies by id, length and end, and the time of the first
// reply in Unix milliseconds. Replies whose ids do not identify them have no hash.
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

// entry is a call of the log, classified by its path.
type entry struct {
	*arena.ProxyCall
	// inference reports whether it is a chat or text completion, mute whether it is a call
	// of a model that returns no text, so that no tool can be named in it, whether or not
	// the sandbox counts it. Other calls of the model server, such as its list of models,
	// are neither.
	inference bool
	mute      bool
	role      Role
}

// Endpoint returns the last part of a path.
func Endpoint(path string) string {
	path, _, _ = strings.Cut(path, "?")
	path = strings.TrimRight(path, "/")
	return path[strings.LastIndexByte(path, '/')+1:]
}

// MaxCalls is the limit of the calls that are examined of one attempt, in its log and in
// its dialogue. Harnesses end after 25 to 30 steps; an attempt with more than MaxCalls only
// costs time, and is rejected.
const MaxCalls = 1024

// collectEntries returns the entries that are evidence in the order of time, or in their
// own order if one has no time.
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
		slices.SortStableFunc(entries, func(a, b entry) int {
			return cmp.Compare(a.AtMS, b.AtMS)
		})
	}
	return entries, timed
}

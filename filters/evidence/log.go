package evidence

import (
	"cmp"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
)

// Dispatch is one request to the shop that the proxy answered, with the
// evidence for who decided it.
type Dispatch struct {
	Call *arena.ProxyCall
	Act  Act
	span
	// Claimed is the dialogue's call that claims this dispatch, -1 where none;
	// verbatim says that the call's result is its answer, byte for byte.
	Claimed  int
	verbatim bool
	// Last is the last inference before it, reply the one that named it; -1
	// where none.
	Last  int
	Reply int
	Link  Link
	// shown are the product ids that it returned; blind where nobody kept them.
	shown []string
	blind bool
}

// span is when an entry began and ended, in Unix milliseconds; its place in the
// log for both where entries have no time.
type span struct{ Start, End float64 }

// Link says how a dispatch hangs on the inference before it.
type Link uint8

// The links of a dispatch. Only the first three bind the dispatch to a model's
// own words; unknown means that the log cut the reply that would tell.
const (
	LinkNone     Link = iota // readable replies before it, none names it
	LinkNamed                // named with these arguments by a reply of its own turn
	LinkLoose                // named, but the client dropped a filter or changed another
	LinkDerived              // follows from a named call that needs several requests
	LinkRetry                // repeats a dispatch that was named
	LinkStale                // named by an older reply; a later one spoke of other things
	LinkOverride             // the tool was named, with other arguments
	LinkUnknown              // the reply before it cannot be read
	LinkNoReply              // no inference came before it
)

var linkWords = [...]string{"unnamed", "named", "named_loosely", "derived", "retry", "stale", "overridden", "unknown", "no_inference"}

// String is the link as explanations print it.
func (l Link) String() string { return linkWords[l] }

// ProxyLog is the evidence of one attempt in the order of time.
type ProxyLog struct {
	Dispatches []Dispatch
	Replies    []Reply
	// Slack is how much earlier than the end of a reply a dispatch may seem to
	// start, in milliseconds, for rounding and for durations measured on another clock than
	// time stamps; 0 where entries have no times.
	Slack float64
	// Asked counts the chat completions, answered or not.
	Asked int
	// mute counts calls to models that return no text, such as embeddings.
	mute int
	// Impossible counts entries with a duration below zero.
	Impossible int
	// silent reports whether models were asked, but the log holds no trace of it.
	silent bool
	// Present reports whether the source keeps such a log at all.
	Present bool
}

// readLog sorts the proxy's calls by the moment they finished. Diagnostic
// entries are left out. Where moments of the replies are given, they count.
func readLog(t *arena.Trace, p *Pad, replied []span) ProxyLog {
	calls, timed := p.flatten(t)
	l := ProxyLog{Present: len(calls) > 0, Slack: 10}
	if !slices.ContainsFunc(calls, func(c entry) bool { return c.AtMS%1000 != 0 }) {
		l.Slack = 1000 // all stamps are whole seconds
	}
	bodies := 0
	for _, c := range calls {
		if c.inference {
			l.Asked++
			bodies += len(c.Response)
		}
		l.mute += int(Flag(c.mute))
		l.Impossible += int(Flag(c.DurationMS < 0))
	}
	p.json.Reserve(bodies)
	for i, c := range calls {
		at := span{float64(c.AtMS) - c.DurationMS, float64(c.AtMS)}
		if !timed {
			at, l.Slack = span{float64(i), float64(i)}, 0
		}
		switch {
		case !c.inference && c.role.Tool.IsCatalogue():
			d := Dispatch{Call: c.ProxyCall, span: at, Claimed: -1, Reply: -1}
			d.Act.Read(p, c.role, cmp.Or(c.Params, c.Body), true)
			p.dispatches = append(p.dispatches, d)
		case c.inference && answered(c.ProxyCall):
			if n := len(p.replies); replied != nil {
				at = replied[n]
			}
			p.replies = append(p.replies, readReply(c.ProxyCall, at, p))
		}
	}
	l.Replies, l.Dispatches = p.replies, p.dispatches
	l.silent = l.Asked == 0 && t.InferenceTotal > l.mute
	return l
}

// inferences counts the chat completions that may have said something, by the log
// and by the sandbox's count. Where the log holds as many as were counted, those
// that failed said nothing.
func (l *ProxyLog) inferences(counted int) int {
	if l.Asked >= counted {
		return len(l.Replies)
	}
	return max(l.Asked, counted-l.mute)
}

// Inferences are hashes of the replies by id, length and ending, as far as they have ids that
// tell them apart, and when the first came, in Unix milliseconds.
func (l *ProxyLog) Inferences() (replies []uint64, begun int64) {
	if len(l.Replies) == 0 {
		return nil, 0
	}
	begun = l.Replies[0].Call.AtMS
	if l.constantID() {
		return nil, begun
	}
	replies = make([]uint64, 0, len(l.Replies))
	for i := range l.Replies {
		if r := &l.Replies[i]; r.id != 0 {
			body := string(r.Call.Response)
			replies = append(replies, Mix(r.id+uint64(len(body)), HashText(body[max(0, len(body)-ending):])))
		}
	}
	return replies, begun
}

// ending is how much of a reply's end tells it from another of its id, in bytes: it has
// what was written last and, where the server counts, the tokens.
const ending = 128

func answered(c *arena.ProxyCall) bool { return c.Status == 200 }

// entry is a call of the log with what its path says: an inference is a chat or
// text completion, and none of the lesser calls to the model server, such as its
// list of models. Calls of models that return no text are mute: whatever the
// sandbox counts them as, no tool can be named in them.
type entry struct {
	*arena.ProxyCall
	inference bool
	mute      bool
	role      Role
}

// Endpoint is the last part of a path.
func Endpoint(path string) string {
	path, _, _ = strings.Cut(path, "?")
	path = strings.TrimRight(path, "/")
	return path[strings.LastIndexByte(path, '/')+1:]
}

// MaxCalls bounds what is examined of one attempt, in its log and in its
// dialogue: harnesses end after 25 to 30 steps, so what has more is no attempt
// but a load on its reader, and is rejected.
const MaxCalls = 1024

// flatten lists the entries that are evidence in the order of time; in their
// own order where one has no time.
func (p *Pad) flatten(t *arena.Trace) (calls []entry, timed bool) {
	calls = p.calls
	timed, sorted := true, true
	for i := range t.Steps {
		for j := range t.Steps[i].Proxy {
			if c := &t.Steps[i].Proxy[j]; !c.Attempt && len(calls) < MaxCalls {
				timed = timed && c.AtMS > 0
				sorted = sorted && (len(calls) == 0 || c.AtMS >= calls[len(calls)-1].AtMS)
				name := Endpoint(c.Path)
				calls = append(calls, entry{c, strings.HasSuffix(name, "completions"), name == "embeddings" || name == "rerank", p.role(name)})
			}
		}
	}
	p.calls = calls
	if !sorted && timed {
		slices.SortStableFunc(calls, func(a, b entry) int { return cmp.Compare(a.AtMS, b.AtMS) })
	}
	return calls, timed
}

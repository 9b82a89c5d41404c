package filters

import (
	"sort"
	"strings"

	"github.com/trajectory-arena/arena"
)

// dispatch is one request to the shop that the proxy answered, with the
// evidence for who decided it.
type dispatch struct {
	call *arena.ProxyCall
	act  act
	span
	// claimed is the dialogue's call that claims this dispatch, -1 where none;
	// verbatim says that the call's result is its answer, byte for byte.
	claimed  int
	verbatim bool
	// last is the last inference before it, reply the one that named it; -1
	// where none.
	last  int
	reply int
	link  link
	// shown are the product ids that it returned; blind where nobody kept them.
	shown []string
	blind bool
}

// span is when an entry began and ended, in Unix milliseconds; its place in the
// log for both where entries have no time.
type span struct{ start, end float64 }

// link says how a dispatch hangs on the inference before it.
type link uint8

// The links of a dispatch. Only the first three bind the dispatch to a model's
// own words; unknown means that the log cut the reply that would tell.
const (
	linkNone     link = iota // readable replies before it, none names it
	linkNamed                // named with these arguments by a reply of its own turn
	linkLoose                // named, but the client dropped a filter or changed another
	linkDerived              // follows from a named call that needs several requests
	linkRetry                // repeats a dispatch that was named
	linkStale                // named by an older reply; a later one spoke of other things
	linkOverride             // the tool was named, with other arguments
	linkUnknown              // the reply before it cannot be read
	linkNoReply              // no inference came before it
)

var linkWords = [...]string{"unnamed", "named", "named_loosely", "derived", "retry", "stale", "overridden", "unknown", "no_inference"}

func (l link) String() string { return linkWords[l] }

// proxyLog is the evidence of one attempt in the order of time.
type proxyLog struct {
	dispatches []dispatch
	replies    []reply
	// slack is how much earlier than the end of a reply a dispatch may seem to
	// start, in milliseconds.
	slack float64
	// asked counts the chat completions, answered or not.
	asked int
	// mute counts calls to models that return no text, such as embeddings.
	mute int
	// silent reports whether models were asked, but the log holds no trace of it.
	silent bool
	// present reports whether the source keeps such a log at all.
	present bool
}

// readLog sorts the proxy's calls by the moment they finished. Diagnostic
// entries are left out.
func readLog(t *arena.Trace, p *pad) proxyLog {
	calls, timed := p.flatten(t)
	l := proxyLog{present: len(calls) > 0, slack: slack(calls)}
	bodies := 0
	for _, c := range calls {
		if c.inference {
			l.asked++
			bodies += len(c.Response)
		}
		l.mute += int(flag(c.mute))
	}
	p.json.Reserve(bodies)
	for i, c := range calls {
		at := span{float64(c.AtMS) - c.DurationMS, float64(c.AtMS)}
		if !timed {
			at, l.slack = span{float64(i), float64(i)}, 0
		}
		switch {
		case !c.inference && c.tool.catalogue():
			p.add(c, at)
		case c.inference && answered(c.ProxyCall):
			p.replies = append(p.replies, readReply(c.ProxyCall, at, p))
		}
	}
	l.replies, l.dispatches = p.replies, p.dispatches
	l.silent = l.asked == 0 && t.InferenceTotal > l.mute
	return l
}

// inferences counts the chat completions that may have said something, by the log
// and by the sandbox's count. Where the log holds as many as were counted, those
// that failed said nothing.
func (l *proxyLog) inferences(counted int) int {
	if l.asked >= counted {
		return len(l.replies)
	}
	return max(l.asked, counted-l.mute)
}

// slack allows for rounding and for durations that are measured on another
// clock than time stamps: ten milliseconds, or a second where all stamps are
// whole seconds.
func slack(calls []entry) float64 {
	for _, c := range calls {
		if c.AtMS%1000 != 0 {
			return 10
		}
	}
	return 1000
}

func (p *pad) add(c entry, at span) {
	d := dispatch{call: c.ProxyCall, span: at, claimed: -1, reply: -1}
	args := c.Params
	if args == "" {
		args = c.Body
	}
	d.act.read(p, c.tool, args, true)
	p.dispatches = append(p.dispatches, d)
}

// answered reports whether the other side returned something.
func answered(c *arena.ProxyCall) bool { return c.Status == 200 }

// entry is a call of the log with what its path says: an inference is a chat or
// text completion, and none of the lesser calls to the model server, such as its
// list of models. Calls of models that return no text are mute: whatever the
// sandbox counts them as, no tool can be named in them.
type entry struct {
	*arena.ProxyCall
	inference bool
	mute      bool
	tool      tool
}

func entryOf(c *arena.ProxyCall) entry {
	name := endpoint(c.Path)
	return entry{c, strings.HasSuffix(name, "completions"), name == "embeddings" || name == "rerank", toolOf(name)}
}

// endpoint is the last part of a path.
func endpoint(path string) string {
	path, _, _ = strings.Cut(path, "?")
	path = strings.TrimRight(path, "/")
	return path[strings.LastIndexByte(path, '/')+1:]
}

// maxCalls bounds what is examined of one attempt, in its log and in its
// dialogue: harnesses end after 25 to 30 steps, so what has more is no attempt
// but a load on its reader, and is rejected.
const maxCalls = 1024

// flatten lists the entries that are evidence in the order of time; in their
// own order where one has no time.
func (p *pad) flatten(t *arena.Trace) (calls []entry, timed bool) {
	calls = p.calls
	timed, sorted := true, true
	for i := range t.Steps {
		for j := range t.Steps[i].Proxy {
			if c := &t.Steps[i].Proxy[j]; !c.Attempt && len(calls) < maxCalls {
				timed = timed && c.AtMS > 0
				sorted = sorted && (len(calls) == 0 || c.AtMS >= calls[len(calls)-1].AtMS)
				calls = append(calls, entryOf(c))
			}
		}
	}
	p.calls = calls
	if !sorted && timed {
		sort.SliceStable(calls, func(i, j int) bool { return calls[i].AtMS < calls[j].AtMS })
	}
	return calls, timed
}

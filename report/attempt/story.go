package attempt

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/filters/evidence"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/judges/gates"
)

// Story is the dialogue of an attempt with what was dispatched and returned.
type Story struct {
	// Source is FromDay or FromRow. A story from a row has no proxy log.
	Source string `json:"source"`
	Query  string `json:"query"`
	System string `json:"system,omitempty"`
	Turns  []Turn `json:"turns"`
	// Beside are dispatches, calls that the proxy saw, that the dialogue does not show.
	Beside []Call `json:"beside,omitempty"`
	// Replies are the log's answered inference calls, counted from 1.
	Replies []Reply `json:"replies,omitempty"`
	// Odds is what each rule adds to the log-odds that the model wrote the calls, from
	// the attempt itself.
	Odds   []filters.Term `json:"odds,omitempty"`
	Faults []string       `json:"faults,omitempty"`
}

// Turn is one turn of the dialogue, under the dialogue's own number.
type Turn struct {
	Step  int    `json:"step"`
	User  string `json:"user,omitempty"`
	Think string `json:"think,omitempty"`
	Text  string `json:"text,omitempty"`
	Calls []Call `json:"calls,omitempty"`
	// Held are the data in the reasoning that an earlier result contains, Nowhere those that
	// neither a result nor the request contains.
	Held    []string `json:"held,omitempty"`
	Nowhere []string `json:"nowhere,omitempty"`
	Repairs []string `json:"repairs,omitempty"`
}

// Call is a call in the dialogue, with its dispatch at the proxy and its result.
type Call struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Result    string `json:"result"`
	// Answered is false if nothing was returned.
	Answered bool `json:"answered"`
	// Sent is the dispatch of the call, Status its HTTP status; empty if the proxy saw no dispatch.
	Sent   string `json:"sent,omitempty"`
	Status int    `json:"status,omitempty"`
	// Reply is the number of the inference that named the call, from 1; 0 if there is none.
	// Link is how the dispatch is linked to it, or the fault of the link.
	Reply int    `json:"reply,omitempty"`
	Link  string `json:"link,omitempty"`
	// Newest is the number, from 1, of the newest reply before a dispatch that no reply named;
	// 0 if there is none. Passages are that reply, with the words of the dispatch marked.
	Newest   int                `json:"newest,omitempty"`
	Passages []evidence.Passage `json:"passages,omitempty"`
}

// Reply is a reply of a model, as the proxy's log has it.
type Reply struct {
	Text   string  `json:"text"`
	Status int     `json:"status,omitempty"`
	MS     float64 `json:"ms,omitempty"`
}

// Tell adds the story of a trace to an argument. If the guard found a protected problem, it also
// adds where the attempt resembles that problem.
func (l *Ledger) Tell(
	a *Argument,
	t *arena.Trace,
	source string,
) {
	s := StoryOf(l.filter, t, source)
	if a.Story = s; a.Near == nil {
		return
	}
	if what := product.FindStringSubmatch(a.Leak.Evidence); a.Leak.Tier == string(guard.TierSpec) && what != nil {
		a.Near.Found = s.holds(cmp.Or(what[1], what[2]))
	} else {
		a.Near.nearest(s)
	}
}

// nearest sets Passage to the sentence of an attempt that shares the most words with the protected
// requests, and Where to a description of its place. It searches the request, the customer's
// messages, the model's texts and the arguments of calls.
func (n *Near) nearest(s *Story) {
	longest := 0
	note := func(where, text string) {
		for _, sentence := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(".!?\n", r) }) {
			if words := len(shared(sentence, n.Texts)); words > longest {
				longest = words
				n.Passage = strings.TrimSpace(sentence)
				n.Where = where
			}
		}
	}
	note("the request", s.Query)
	for _, t := range s.Turns {
		note(fmt.Sprintf("step %d, the customer", t.Step), t.User)
		note(fmt.Sprintf("step %d, the model", t.Step), t.Think+"\n"+t.Text)
		for _, c := range t.Calls {
			note(fmt.Sprintf("step %d, a call", t.Step), c.Arguments)
		}
	}
}

// StoryOf returns the story of a trace, with its calls linked to replies and the rules
// weighed as the filter does.
func StoryOf(f *filters.Filter, t *arena.Trace, source string) *Story {
	d := filters.Normalise(t)
	e := f.Explain(t, &d)
	s := &Story{
		Source: source,
		Query:  t.Query,
		System: t.System,
		Faults: d.Faults,
	}
	links := map[*arena.Call]*filters.Row{}
	for i := range e.Rows {
		switch r := &e.Rows[i]; {
		case r.Call != nil:
			links[r.Call] = r
		case r.Dispatch != nil:
			c := Call{
				Arguments: string(r.Dispatch.Params),
				Result:    r.Dispatch.Response.Text(),
				Answered:  r.Dispatch.Response.Kind() != arena.Absent,
			}
			c.linked(r)
			s.Beside = append(s.Beside, c)
		}
	}
	for i := range d.Turns {
		s.Turns = append(s.Turns, turn(t, &d.Turns[i], links))
	}
	rests, _ := gates.Ground(t, &d)
	for _, g := range rests {
		s.Turns[g.Turn].Held, s.Turns[g.Turn].Nowhere = g.Supported, g.Unsupported
	}
	for _, r := range e.Replies {
		s.Replies = append(s.Replies, Reply{
			Text:   replyText(r),
			Status: r.Status,
			MS:     finite(r.DurationMS),
		})
	}
	for _, x := range e.Terms {
		x.Odds = finite(x.Odds)
		s.Odds = append(s.Odds, x)
	}
	return s
}

// product matches a product in the evidence of the guard, which detects held-out problems: its id,
// or its title in quotes.
var product = regexp.MustCompile(`product ([\w-]+)|title "(.+)"`)

// holds lists where an attempt contains a protected product, whose id or title is what: the first
// step in which the model writes it, a call contains it and a result contains it, and whether the
// request does.
func (s *Story) holds(what string) (places []string) {
	seen := map[string]bool{}
	contains := func(text string) bool {
		return strings.Contains(strings.ToLower(text), strings.ToLower(what))
	}
	note := func(where, text string, step int) {
		if !seen[where] && contains(text) {
			seen[where], places = true, append(places, fmt.Sprintf("step %d: %s", step, where))
		}
	}
	for _, t := range s.Turns {
		note("the model writes it", t.Think+"\n"+t.Text, t.Step)
		for _, c := range t.Calls {
			note("a call names it", c.Arguments, t.Step)
			note("a result shows it", c.Result, t.Step)
		}
	}
	if contains(s.Query) {
		return append(places, "the request names it")
	}
	return append(places, "the request does not name it")
}

func turn(
	t *arena.Trace,
	d *arena.Turn,
	links map[*arena.Call]*filters.Row,
) Turn {
	out := Turn{
		Step:    t.StepNumber(d.Step),
		User:    d.User,
		Think:   d.Think,
		Text:    d.Text,
		Repairs: d.Repairs,
	}
	for i := range d.Calls {
		c := &d.Calls[i]
		call := Call{
			Name:      c.Name,
			Arguments: string(c.Arguments),
			Result:    c.Result.Text(),
			Answered:  c.Result.Kind() != arena.Absent,
		}
		if r := links[c]; r != nil {
			call.linked(r)
		}
		out.Calls = append(out.Calls, call)
	}
	return out
}

func (c *Call) linked(r *filters.Row) {
	c.Reply, c.Link = r.NamedBy, r.Link
	c.Newest, c.Passages = r.Newest, r.Passages
	if r.Dispatch != nil {
		c.Sent, c.Status = strings.TrimSpace(r.Dispatch.Path+" "+string(r.Dispatch.Params)), r.Dispatch.Status
	}
}

// replyText returns the message of a logged reply and its calls, or the complete reply if it is not
// a chat completion.
func replyText(r *arena.ProxyCall) string {
	body := r.Response.Text()
	message := gjson.Get(body, "choices.0.message")
	if !message.Exists() {
		return body
	}
	if calls := message.Get("tool_calls"); calls.Exists() {
		return strings.TrimSpace(message.Get("content").String() + "\n" + calls.Raw)
	}
	return message.Get("content").String()
}

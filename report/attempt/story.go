package attempt

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/filters/evidence"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/judges/grounding"
	"github.com/trajectory-arena/arena/judges/shop/gates"
)

// Story is the dialogue of an attempt, with the requests and results in the proxy's log.
type Story struct {
	// Source is FromDay or FromRow. A story from a row has no proxy log.
	Source string `json:"source"`
	Query  string `json:"query"`
	System string `json:"system,omitempty"`
	Turns  []Turn `json:"turns"`
	// Beside are the logged requests that the dialogue does not show.
	Beside []Call `json:"beside,omitempty"`
	// Replies are the answered calls of models in the log. They are numbered from 1.
	Replies []Reply `json:"replies,omitempty"`
	// Odds are the contributions of the filter's rules to the log-odds that the model made the
	// calls, from this attempt alone.
	Odds   []filters.Term `json:"odds,omitempty"`
	Faults []string       `json:"faults,omitempty"`
}

// Turn is one turn of the dialogue. Step is the number of the turn in the dialogue.
type Turn struct {
	Step  int    `json:"step"`
	User  string `json:"user,omitempty"`
	Think string `json:"think,omitempty"`
	Text  string `json:"text,omitempty"`
	Calls []Call `json:"calls,omitempty"`
	// Held are the data in the reasoning that are in an earlier result. Nowhere are those that
	// are neither in a result nor in the request.
	Held    []string `json:"held,omitempty"`
	Nowhere []string `json:"nowhere,omitempty"`
	Repairs []string `json:"repairs,omitempty"`
}

// Call is a call in the dialogue, with its logged request and its result.
type Call struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Result    string `json:"result"`
	// Answered is false if nothing was returned.
	Answered bool `json:"answered"`
	// Sent is the logged request of the call, and Status its HTTP status. They are empty if the
	// log has no request for the call.
	Sent   string `json:"sent,omitempty"`
	Status int    `json:"status,omitempty"`
	// Reply is the number, counted from 1, of the model's reply that asked for the request; 0 if
	// there is none. Link tells how the reply asked for it, or what is wrong.
	Reply int    `json:"reply,omitempty"`
	Link  string `json:"link,omitempty"`
	// Newest is the number, counted from 1, of the newest reply before a request that no reply
	// asked for; otherwise 0. Passages are the text of that reply, with the words of the request
	// marked.
	Newest   int                `json:"newest,omitempty"`
	Passages []evidence.Passage `json:"passages,omitempty"`
}

// Reply is a reply of a model in the proxy's log.
type Reply struct {
	Text   string  `json:"text"`
	Status int     `json:"status,omitempty"`
	MS     float64 `json:"ms,omitempty"`
}

// Tell adds the story of a trace to an argument. If the guard found a protected problem, it also
// adds where the attempt is similar to that problem.
func (l *Ledger) Tell(
	a *Argument,
	t *arena.Trace,
	source string,
) {
	s := StoryOf(l.filterFor(a, t), t, source)
	if source == FromDay {
		a.judgeNow(t)
	}
	if a.Story = s; a.Near == nil {
		return
	}
	if what := protectedItem.FindStringSubmatch(a.Leak.Evidence); a.Leak.Tier == string(guard.TierSpec) && what != nil {
		a.Near.Found = s.holds(cmp.Or(what[1], what[2]))
	} else {
		a.Near.nearest(s)
	}
}

// filterFor returns the filter that links the calls of an attempt: it knows the tools of the
// attempt's domain. A domain that is not built in is not known; its attempts are shown as those of
// the domain base.
func (l *Ledger) filterFor(a *Argument, t *arena.Trace) *filters.Filter {
	if a.Declared == nil {
		return l.filter
	}
	d := (*domain.Set)(nil).ByName(a.Declared.Domain)
	if d == nil {
		d = (*domain.Set)(nil).ByName(domain.Base)
	}
	return l.filter.For(d, t.Source.HasProxyLog, d.On(domain.Adaptivity, d.Adaptivity))
}

// judgeNow returns the grade of an attempt by the offline judge, which asks no model, to show a
// grade where the corpus has none. It does so only if the build used that judge and did not ask it
// about this attempt. It sets a.Now to the result and a.Gates to the checks that led to it.
func (a *Argument) judgeNow(t *arena.Trace) {
	j := a.Judgement
	if j == nil || j.Outcome != string(arena.JudgeNotAsked) || j.Judge != gates.Name {
		return
	}
	d := filters.Normalise(t)
	thinking := filters.MeasureThinking(t, &d)
	now := gates.Judge(t, &thinking.Graded)
	if thinking.Logged != nil && *gates.Judge(t, thinking.Logged).Score != *now.Score {
		return // a build gives no grade
	}
	line := *a.Line
	line.Judgement = rows.NewJudgement(line.Attempt, &now, nil)
	a.Line = &line
	a.Now = now.Score
	a.Gates = nil
	a.judged(line.Judgement)
}

// nearest sets n.Passage to the sentence of an attempt that shares the most words with the requests
// of a protected problem (n.Texts), and n.Where to a text that says where that sentence is. It
// searches the request, the customer's messages, the model's texts and the arguments of calls.
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

// StoryOf returns the story of a trace. The filter f links the calls to replies and weighs its
// rules.
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
	rests, _ := grounding.OfTurns(f.Domain(), t, &d)
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

// protectedItem matches the item that an explanation of the guard (which detects held-out problems)
// names: its id, or its title in quotes.
var protectedItem = regexp.MustCompile(`\b(?:names|is) \w+ ([\w-]+)|title "(.+)"`)

// holds returns sentences that say where an attempt contains a protected item. what is the id or
// the title of the item. The sentences name the first step in which the model writes it, the first
// in which a call contains it, and the first in which a result does. The last sentence, always
// present, says whether the request names it.
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

// replyText returns the text and the calls of a model's reply in the proxy's log. If the reply is
// not a chat completion, it returns the complete reply.
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

func story(p *printer, a *Argument) {
	p.print("")
	s := a.Story
	if s == nil {
		p.line("dialogue  ", "not here: name the day that holds it behind the attempt, with --max-record if its record is beyond the limit")
		return
	}
	p.line("request   ", "%s", shorten(s.Query))
	for i := range s.Turns {
		s.Turns[i].write(p)
	}
	for _, c := range s.Beside {
		c.write(p, "besides")
	}
	if len(s.Faults) > 0 {
		p.line("faults    ", "%s", strings.Join(s.Faults, ", "))
	}
	if s.Source == FromRow {
		p.line("source    ", "the corpus's own row, which holds no proxy log: name the day for calls against replies")
	}
}

func (t *Turn) write(p *printer) {
	head := fmt.Sprintf("step %-5d", t.Step)
	for _, part := range []struct{ what, text string }{
		{"user", t.User}, {"thinks", t.Think}, {"says", t.Text}, {"held by results", strings.Join(t.Held, ", ")},
		{"in no result", strings.Join(t.Nowhere, ", ")}, {"mended", strings.Join(t.Repairs, ", ")},
	} {
		if part.text != "" {
			p.line(head, "%s: %s", part.what, shorten(part.text))
			head = "          "
		}
	}
	for i := range t.Calls {
		t.Calls[i].write(p, strings.TrimSpace(head))
		head = "          "
	}
}

func (c *Call) write(p *printer, head string) {
	p.line(
		fmt.Sprintf("%-10s", head),
		"calls: %s",
		shorten(strings.TrimSpace(c.Name+" "+c.Arguments)),
	)
	named := "no reply named it"
	if c.Reply > 0 {
		named = fmt.Sprintf("named by reply %d", c.Reply)
	}
	if c.Link != "" {
		named += ", " + c.Link
	}
	if c.Sent != "" {
		p.line("          ", "  dispatched: %s (%d), %s", shorten(c.Sent), c.Status, named)
	} else if c.Link != "" {
		p.line("          ", "  no dispatch; %s", named)
	}
	if c.Newest > 0 {
		p.line("          ", "  looked for in reply %d: %s", c.Newest, shorten(marked(c.Passages)))
	}
	if c.Answered {
		p.line("          ", "  returned: %s", shorten(c.Result))
	} else {
		p.line("          ", "  nothing came back")
	}
}

// marked returns the text of a model's reply with [[ ]] around the passages that were also found in
// the agent's call.
func marked(passages []evidence.Passage) string {
	var b strings.Builder
	for _, p := range passages {
		passage := p.Text
		if p.Found {
			passage = "[[" + passage + "]]"
		}
		b.WriteString(passage)
	}
	return b.String()
}

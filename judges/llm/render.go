package llm

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// Limits of a rendered trace, in characters unless noted. Those of calls, parameters,
// ids, thinking and results are the subnet's. The others stop a hostile trace from
// making a request of any size: requests, remarks and arguments of honest attempts
// are far shorter, and maxTurns is twice the 30 steps that the longest harness allows.
const (
	maxProxyCalls = 30
	maxParams     = 200
	maxIDs        = 20
	maxThinking   = 1000
	maxResult     = 300
	maxArguments  = 300
	maxQuery      = 2000
	maxTurns      = 60
	maxCalls      = 16
)

// inference is a part of the path of each proxy call that asked a model.
const inference = "/inference/"

// renderGrounded returns the text of an attempt of a domain for a judge: the request, the proxy log,
// and the steps with their thinking, calls and results. For each thinking it lists what of it is in
// earlier results.
func renderGrounded(taskDomain *domain.Domain, t *arena.Trace, d *arena.Dialogue) string {
	heading := func(turn int) string {
		return fmt.Sprintf("step %d", t.StepNumber(d.Turns[turn].Step))
	}
	return render(t, d, heading, newView(taskDomain, t, d, heading))
}

func render(
	t *arena.Trace,
	d *arena.Dialogue,
	heading func(turn int) string,
	v view,
) string {
	var b strings.Builder
	fmt.Fprintf(&b, "REQUEST\n%s\n\n", quoteLines(cut(t.Query, maxQuery)))
	writeProxyLog(&b, t)
	b.WriteString("\nSTEPS (written by the agent)\n")
	for i := range d.Turns {
		if !isOmitted(i, d) {
			fmt.Fprintf(&b, "\n--- %s ---\n", heading(i))
			v.writeTurn(&b, d, i)
		} else if i == maxTurns/2 {
			fmt.Fprintf(&b, "\n[%d steps left out]\n", len(d.Turns)-maxTurns)
		}
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}

// isOmitted reports whether the rendering omits a turn: of more than maxTurns turns, only the first
// and the last maxTurns/2 are rendered.
func isOmitted(turn int, d *arena.Dialogue) bool {
	return turn >= maxTurns/2 && turn < len(d.Turns)-maxTurns/2
}

// renderedTurns returns the indexes of the model's turns that are rendered. Turns of the customer
// are not among them.
func renderedTurns(d *arena.Dialogue) []int {
	var turns []int
	for i := range d.Turns {
		if d.Turns[i].User == "" && !isOmitted(i, d) {
			turns = append(turns, i)
		}
	}
	return turns
}

func (v *view) writeTurn(
	b *strings.Builder,
	d *arena.Dialogue,
	i int,
) {
	turn := &d.Turns[i]
	if turn.User != "" {
		fmt.Fprintf(b, "customer:\n%s\n", quoteLines(cut(turn.User, maxThinking)))
		return
	}
	if think := strings.TrimSpace(turn.Think); think != "" {
		fmt.Fprintf(b, "thinking:\n%s\n", quoteLines(cut(think, maxThinking)))
		v.writeGrounding(b, i)
	}
	for k, c := range turn.Calls {
		if k == maxCalls {
			fmt.Fprintf(b, "[%d calls left out]\n", len(turn.Calls)-maxCalls)
			break
		}
		fmt.Fprintf(
			b,
			"call: %s(%s)\n",
			firstLine(c.Name, maxParams),
			firstLine(string(c.Arguments), maxArguments),
		)
		if c.Result != "" {
			fmt.Fprintf(b, "result: %s\n", v.formatResult(c.Result))
		}
	}
}

func writeProxyLog(b *strings.Builder, t *arena.Trace) {
	calls := proxyCalls(t)
	b.WriteString("PROXY LOG (recorded outside the agent)\n")
	if len(calls) == 0 {
		b.WriteString("no calls were recorded\n")
		return
	}
	b.WriteString(summarise(calls))
	for i := range calls[:min(len(calls), maxProxyCalls)] {
		writeProxyCall(b, i+1, &calls[i])
	}
	if more := len(calls) - maxProxyCalls; more > 0 {
		fmt.Fprintf(b, "[%d more calls]\n", more)
	}
}

// proxyCalls returns the requests of the agent that its proxy really sent on, by the proxy's log.
// Diagnostic entries of the log are left out.
func proxyCalls(t *arena.Trace) []arena.ProxyCall {
	calls := slices.Concat(slicesx.Map(t.Steps, func(s arena.Step) []arena.ProxyCall {
		return s.Proxy
	})...)
	return slices.DeleteFunc(calls, func(c arena.ProxyCall) bool {
		return c.Attempt
	})
}

// summarise returns a line with counts of all calls in the proxy log (the record of what the agent
// requested), also of those that the rendered list omits: "3 searches, 2 views, 4 model calls (900
// completion tokens recorded, 700 in the largest answered call), 0 failed". The largest call is
// named because the judge's first test asks whether one call had enough tokens.
func summarise(calls []arena.ProxyCall) string {
	var searches, views, models, failed, generated, largest int64
	for i := range calls {
		c := &calls[i]
		switch {
		case strings.Contains(c.Path, inference):
			models++
			n := completionTokens(c)
			generated += n
			if c.Status >= 200 && c.Status < 300 {
				largest = max(largest, n)
			}
		case strings.Contains(c.Path, "/find_product"):
			searches++
		case strings.Contains(c.Path, "/view_product"):
			views++
		}
		if c.Status == 0 || c.Status >= 400 {
			failed++
		}
	}
	const format = "%d searches, %d views, %d model calls (%d completion tokens recorded, %d in the largest answered call), %d failed\n"
	return fmt.Sprintf(format, searches, views, models, generated, largest, failed)
}

// completionTokens returns the number of tokens that a model call generated, or 0 if the log does
// not have it. A number above a billion is an error and is reduced to a billion.
func completionTokens(c *arena.ProxyCall) int64 {
	return max(0, min(1e9, gjson.Get(string(c.Response), "usage.completion_tokens").Int()))
}

// plainName matches a method and a path that can only name a service, such as
// "GET/search/find_product". The agent chooses the path and could write a message to the judge into
// it, so any other path is shown as a quotation.
var plainName = regexp.MustCompile(`^[A-Z]{0,8}(?:/[A-Za-z0-9_.-]{1,40}){1,6}$`)

// writeProxyCall writes a call as the log recorded it. What the agent sent with the call is quoted on
// lines of its own.
func writeProxyCall(b *strings.Builder, number int, c *arena.ProxyCall) {
	var sent []string
	method := c.Method
	path := c.Path
	if !plainName.MatchString(method + path) {
		sent = append(sent, method+" "+path)
		method = "call"
		path = "of another name"
	}
	if c.Params.Kind() == arena.Object && c.Params != "{}" {
		sent = append(sent, string(c.Params))
	}
	if model := gjson.Get(string(c.Body), "model").String(); model != "" {
		sent = append(sent, "model="+model)
	}
	fmt.Fprintf(b, "%d. %s %s", number, method, path)
	if n := completionTokens(c); n > 0 {
		fmt.Fprintf(b, " completion_tokens=%d", n)
	} else if strings.Contains(c.Path, inference) && c.Truncated && c.Length > 0 {
		fmt.Fprintf(b, " completion_tokens not kept, reply of %d characters", c.Length)
	}
	fmt.Fprintf(b, " -> %d (%.0f ms)\n", c.Status, c.DurationMS)
	for _, text := range sent {
		fmt.Fprintf(b, "%s%s\n", quoteMark, firstLine(text, maxParams))
	}
	if len(c.ItemIDs) == 0 {
		return
	}
	ids := c.ItemIDs[:min(len(c.ItemIDs), maxIDs)]
	fmt.Fprintf(b, "   returned ids: %s", firstLine(strings.Join(ids, ","), maxResult))
	if more := len(c.ItemIDs) - len(ids); more > 0 {
		fmt.Fprintf(b, " and %d more", more)
	}
	b.WriteByte('\n')
}

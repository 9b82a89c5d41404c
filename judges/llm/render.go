package llm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// What a judge sees of a trace, in characters where not said otherwise. The
// limits on calls, parameters, ids, thinking and results are the subnet's; the
// others keep a hostile trace from making a request of any size: requests,
// remarks and arguments of honest attempts are far shorter, and twice the 30
// steps that the longest harness allows are shown.
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

// inference is part of every path that leads to a model.
const inference = "/inference/"

// Render is the text that a judge reads of an attempt: the request, the proxy
// log, and the steps with their thinking, calls and results.
// It says of each thinking what of it stands in earlier results.
func Render(t *arena.Trace, d *arena.Dialogue) string {
	heading := func(turn int) string { return fmt.Sprintf("step %d", t.StepNumber(d.Turns[turn].Step)) }
	return render(t, d, heading, grounded(t, d, heading))
}

func render(t *arena.Trace, d *arena.Dialogue, heading func(turn int) string, v view) string {
	var b strings.Builder
	fmt.Fprintf(&b, "REQUEST\n%s\n\n", block(cut(t.Query, maxQuery)))
	renderProxy(&b, t)
	b.WriteString("\nSTEPS (written by the agent)\n")
	for i := range d.Turns {
		if !leftOut(i, d) {
			fmt.Fprintf(&b, "\n--- %s ---\n", heading(i))
			v.turn(&b, d, i)
		} else if i == maxTurns/2 {
			fmt.Fprintf(&b, "\n[%d steps left out]\n", len(d.Turns)-maxTurns)
		}
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}

// leftOut says if a turn stands in the middle of too many.
func leftOut(turn int, d *arena.Dialogue) bool {
	return turn >= maxTurns/2 && turn < len(d.Turns)-maxTurns/2
}

func (v *view) turn(b *strings.Builder, d *arena.Dialogue, at int) {
	turn := &d.Turns[at]
	if turn.User != "" {
		fmt.Fprintf(b, "customer:\n%s\n", block(cut(turn.User, maxThinking)))
		return
	}
	if think := strings.TrimSpace(turn.Think); think != "" {
		fmt.Fprintf(b, "thinking:\n%s\n", block(cut(think, maxThinking)))
		v.check(b, at)
	}
	for i, c := range turn.Calls {
		if i == maxCalls {
			fmt.Fprintf(b, "[%d calls left out]\n", len(turn.Calls)-maxCalls)
			break
		}
		fmt.Fprintf(b, "call: %s(%s)\n", line(c.Name, maxParams), line(string(c.Arguments), maxArguments))
		if c.Result != "" {
			fmt.Fprintf(b, "result: %s\n", v.shownResult(c.Result))
		}
	}
}

func renderProxy(b *strings.Builder, t *arena.Trace) {
	calls := evidence(t)
	b.WriteString("PROXY LOG (recorded outside the agent)\n")
	if len(calls) == 0 {
		b.WriteString("no calls were recorded\n")
		return
	}
	b.WriteString(summarise(calls))
	for i := range calls[:min(len(calls), maxProxyCalls)] {
		renderCall(b, i+1, &calls[i])
	}
	if more := len(calls) - maxProxyCalls; more > 0 {
		fmt.Fprintf(b, "[%d more calls]\n", more)
	}
}

// evidence are the calls that really went out, without diagnostic entries.
func evidence(t *arena.Trace) []arena.ProxyCall {
	calls := slices.Concat(slicesx.Map(t.Steps, func(s arena.Step) []arena.ProxyCall { return s.Proxy })...)
	return slices.DeleteFunc(calls, func(c arena.ProxyCall) bool { return c.Attempt })
}

// summarise counts all calls, also those that the list leaves out; the largest
// completion decides the first gate.
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
	return fmt.Sprintf("%d searches, %d product views, %d model calls (%d completion tokens recorded, %d in the largest answered call), %d failed\n",
		searches, views, models, generated, largest, failed)
}

// completionTokens are what a model call generated, 0 where the log does not
// say. No reply has a billion tokens: more is noise.
func completionTokens(c *arena.ProxyCall) int64 {
	return max(0, min(1e9, gjson.Get(string(c.Response), "usage.completion_tokens").Int()))
}

func renderCall(b *strings.Builder, number int, c *arena.ProxyCall) {
	fmt.Fprintf(b, "%d. %s %s", number, line(c.Method, maxParams), line(c.Path, maxParams))
	if c.Params.Kind() == arena.Object && c.Params != "{}" {
		fmt.Fprintf(b, " %s", line(string(c.Params), maxParams))
	}
	if model := gjson.Get(string(c.Body), "model").String(); model != "" {
		fmt.Fprintf(b, " model=%s", line(model, maxParams))
	}
	switch n := completionTokens(c); {
	case n > 0:
		fmt.Fprintf(b, " completion_tokens=%d", n)
	case strings.Contains(c.Path, inference) && c.Truncated && c.Length > 0:
		fmt.Fprintf(b, " completion_tokens not kept, reply of %d characters", c.Length)
	}
	fmt.Fprintf(b, " -> %d (%.0f ms)\n", c.Status, c.DurationMS)
	if len(c.ProductIDs) == 0 {
		return
	}
	shown := c.ProductIDs[:min(len(c.ProductIDs), maxIDs)]
	fmt.Fprintf(b, "   returned ids: %s", line(strings.Join(shown, ","), maxResult))
	if more := len(c.ProductIDs) - len(shown); more > 0 {
		fmt.Fprintf(b, " and %d more", more)
	}
	b.WriteByte('\n')
}

package daygen

import (
	"strconv"
	"strings"

	"github.com/trajectory-arena/arena/internal/python"
)

// Traces have the sandbox's format: one envelope per line, and the proxy's calls are stored in
// the last step that was recorded before them.

// recordLimit is the length in bytes above which the log of the proxy (which passes the agent's
// tool calls on) has only the length of a tool's response.
const recordLimit = 2000

// envelope returns one generated attempt as a line of JSON, in the format that the subnet's sandbox
// (the program that runs agents) writes: the steps, and the calls that the proxy logged.
func (a *agent) envelope(d *dice, p *problem, moves []move) string {
	now := a.started + int64(d.N(3_000_000))
	start := now
	inferences := 0
	calls := make([][]string, len(moves))
	stamps := make([]int64, len(moves))
	for i := range moves {
		bucket := max(0, i-1)
		if r := a.reply(&moves[i], i == 0); r.message != "" {
			duration := d.between(700, 6000)
			now += int64(duration)
			calls[bucket] = append(calls[bucket], a.inference(d, r, now, duration))
			inferences++
		}
		for _, c := range moves[i].calls {
			if c.path != "" {
				duration := d.between(30, 600)
				now += int64(duration)
				calls[bucket] = append(calls[bucket], a.dispatch(c, now, duration))
			}
		}
		now += int64(d.between(2, 40))
		stamps[i] = now
	}
	seconds := num(float64(now-start) / 1000)
	steps := make([]string, len(moves))
	for i := range moves {
		steps[i] = renderStep(
			p,
			&moves[i],
			i,
			stamps[i],
			calls[i],
			seconds,
		)
	}
	return object("problem_id", str(p.id), "status", str("SUCCESS"), "execution_time", seconds,
		"inference_failure_count", "0", "inference_total", integer(inferences), "error", "null", "dialogue", list(steps...))
}

func renderStep(
	p *problem,
	m *move,
	i int,
	stamp int64,
	calls []string,
	seconds string,
) string {
	var recorded []string
	for _, c := range m.calls {
		recorded = append(recorded, object("name", str(c.name), "parameters", c.params, "tool_call_id", str(c.id()), "result", c.result))
	}
	message := []string{"think", str(m.think), "tool_call", list(recorded...)}
	if m.response != "" {
		message = append(message, "response", str(m.response))
	}
	extra := []string{
		"step",
		integer(i + 1),
		"query",
		str(p.query),
		"timestamp",
		num(float64(stamp)),
		"problem_id",
		str(p.id),
	}
	if i == 0 {
		extra = append(extra, "execution_time", seconds)
	}
	if len(calls) > 0 {
		extra = append(extra, "proxy_calls", list(calls...))
	}
	completion := object("reasoning_content", str(""), "content", str(m.content()), "message", object(message...))
	return object("completion", completion, "extra_info", object(extra...))
}

func (a *agent) inference(d *dice, r reply, i int64, duration int) string {
	response := object("id", str("chatcmpl-"+d.hex(12)), "object", str("chat.completion"), "model", str(a.model),
		"choices", list(object("index", "0", "message", r.message, "finish_reason", r.finish)),
		"usage", object(
			"prompt_tokens",
			integer(d.between(900, 9000)),
			"completion_tokens",
			integer(r.tokens),
		))
	asked := []string{
		"json_data",
		object("model", str(a.model), "temperature", "0.0", "stream", "false"),
	}
	return record("POST", "/inference/chat/completions", i, duration, append(asked, truncate(response, nil)...))
}

func (a *agent) dispatch(c call, i int64, duration int) string {
	pairs := append([]string{"params", c.query}, truncate(c.result, c.ids)...)
	if a.nonce {
		status := "missing"
		if a.agentic {
			status = "valid"
		}
		pairs = append(pairs, "nonce_status", str(status))
	}
	return record("GET", c.path, i, duration, pairs)
}

func record(method, path string, i int64, duration int, remaining []string) string {
	pairs := []string{"kind", str("summary"), "method", str(method), "path", str(path), "timestamp", num(float64(i)),
		"duration_ms", integer(duration) + ".0", "status_code", "200"}
	return object(append(pairs, remaining...)...)
}

// truncate returns the fields that record a tool's response in the log of the proxy (which passes
// the agent's tool calls on), as alternating names and JSON values. These are the response or, if
// it is longer than recordLimit, its length and, where ids is not nil, the ids of its products.
func truncate(response string, ids []string) []string {
	if len(response) <= recordLimit {
		return []string{"response", response}
	}
	pairs := []string{"response_truncated", "true", "response_length", integer(len(response))}
	if ids != nil {
		pairs = append(pairs, "result_product_ids", texts(ids))
	}
	return pairs
}

// broken returns a line of JSON for an attempt that failed or timed out and has no dialogue. It
// also returns the status in that line.
func broken(d *dice, p *problem) (status, line string) {
	status = "TIMED_OUT"
	kind := "TimeoutError"
	message := "Execution exceeded timeout of 300s"
	if d.chance(0.5) {
		status = "FAILED"
		kind = "ValueError"
		message = "not enough values to unpack"
	}
	return status, object("problem_id", str(p.id), "status", str(status), "execution_time", "300.0",
		"inference_failure_count", integer(d.N(3)), "inference_total", integer(d.N(9)),
		"error", object("type", str(kind), "message", str(message)), "dialogue", "null")
}

// The sandbox writes JSON like Python: with a blank after each comma and colon, and with every
// character outside ASCII escaped.

// object returns a JSON object as text. pairs are alternating names and values; values are JSON.
func object(pairs ...string) string {
	items := make([]string, len(pairs)/2)
	for i := range items {
		items[i] = str(pairs[2*i]) + ": " + pairs[2*i+1]
	}
	return "{" + strings.Join(items, ", ") + "}"
}

// list returns a JSON array as text. The items are JSON.
func list(items ...string) string { return "[" + strings.Join(items, ", ") + "]" }

func texts(items []string) string {
	quoted := make([]string, len(items))
	for i, item := range items {
		quoted[i] = str(item)
	}
	return list(quoted...)
}

func str(s string) string { return python.Dumps(python.String(s)) }

func num(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

func integer(n int) string { return strconv.Itoa(n) }

package rows

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/internal/calls"
	"github.com/trajectory-arena/arena/internal/cursor"
)

// Content is what a row says, whatever its trainer's format: what was asked,
// what the model wrote, and which products it is about. Tool results are left
// out: every search returns neighbours' products.
type Content struct {
	// ID is the row's own name; empty where it has none.
	ID string
	// Request is the first text that a customer is shown to have written.
	Request string
	// Context holds the other texts that a user is shown to have written, System
	// the system prompts.
	Context []string
	System  []string
	// Answers holds all texts that the model wrote.
	Answers []string
	// Beside holds what stands beside the dialogue, in definitions of tools and in
	// metadata.
	Beside []string
	// ProductIDs, Titles and Terms come from reward specifications and from
	// columns that name products.
	ProductIDs []string
	Titles     []string
	Terms      []string
	// Guessed reports whether no column was known, so that all strings of the row were
	// taken, the first as the request: enough to search in, not to protect by.
	Guessed bool
}

// The columns and roles of the formats that trainers read.
var (
	idKeys       = []string{"problem_id", "id", "session_id", "trace_id", "uid"}
	requestKeys  = []string{"text", "query", "problem", "goal", "question", "instruction", "prompt", "input"}
	dialogueKeys = []string{"messages", "conversations", "traj", "prompt", "chosen", "rejected", "completion", "input", "dialogue"}
	answerKeys   = []string{"output", "response", "answer", "completion", "completions", "solution", "chosen", "rejected", "assistant_text", "think", "rewritten"}
	productKeys  = []string{"reward", "rewards", "reward_spec", "reward_model", "extra_info", "ground_truth", "problem", "recommended_product_ids", "product_ids", "product_id", "gold"}

	besideKeys = []string{"tools", "functions", "tool_definitions", "metadata", "meta", "extra_info"}

	roleKeys = []string{"role", "from", "source"}

	reads  = []string{"user", "human", "customer"}
	writes = []string{"assistant", "gpt", "model", "function_call", "agent"}
)

// resultTags open a tool result that stands in a user turn.
var resultTags = []string{"<obs>", "<tool_response>", "<tool_result>", "<observation>", "<function_response>", "<|observation|>"}

// resultEnd closes a result as package chat writes it.
const resultEnd = "</tool_response>"

// IsResult reports whether a text in a user turn is the result of a tool, and nothing
// that the user says behind it.
func IsResult(text string) bool {
	text = strings.TrimSpace(text)
	if !slices.ContainsFunc(resultTags, func(tag string) bool { return strings.HasPrefix(text, tag) }) {
		return false
	}
	at := strings.LastIndex(text, resultEnd)
	return at < 0 || at+len(resultEnd) == len(text)
}

// Heard are the customer's words in results of tools, which a session sends along.
func Heard(results string) (said []string) {
	for result := range strings.SplitSeq(results, resultEnd) {
		at := max(0, strings.IndexByte(result, '{'))
		if text := gjson.Get(result[at:], "user_message"); text.Type == gjson.String && text.Str != "" {
			said = append(said, text.Str)
		}
	}
	return said
}

// Read takes a row apart.
func Read(row Row) Content {
	r := gjson.Parse(row.JSON).Map() // one pass: most rows have few of forty names
	c := Content{ID: firstString(r, idKeys)}
	for _, key := range requestKeys {
		v := r[key]
		if v.IsObject() {
			v = v.Get("query")
		}
		if v.Type == gjson.String {
			c.read(v.Str)
		}
	}
	for _, key := range dialogueKeys {
		c.dialogue(r[key])
	}
	for _, key := range answerKeys {
		c.wrote(r[key])
	}
	if system := r["system"]; system.Type == gjson.String && system.Str != "" {
		c.System = append(c.System, system.Str)
	}
	for _, key := range besideKeys {
		if text := Leaves(r[key]); text != "" {
			c.Beside = append(c.Beside, text)
		}
	}
	for _, key := range productKeys {
		walk(r[key], key, maxDepth, false, c.leaf)
	}
	if c.Guessed = c.Request == "" && len(c.Context)+len(c.System)+len(c.Answers)+len(c.ProductIDs) == 0; c.Guessed {
		// What cannot be told apart is searched as a whole.
		walk(gjson.Parse(row.JSON), "", maxDepth, false, func(key string, v gjson.Result) {
			if v.Type == gjson.String && !slices.Contains(idKeys, key) {
				c.read(v.Str)
			}
		})
	}
	return c
}

// Field is one column of a row as text, by its path (a.b.0), with the row's name; found
// reports whether the row has it.
func (r Row) Field(path string) (text, name string, found bool) {
	if best := len(idKeys); r.members != nil || r.takeApart(newCursor()) {
		for _, m := range r.members {
			if m.key == path {
				text = m.text()
				found = text != ""
			}
			if id := slices.Index(idKeys, m.key); id >= 0 && id < best && m.text() != "" {
				name, best = m.text(), id
			}
		}
	}
	if !found { // neither text nor a number, or within another column
		v := gjson.Get(r.JSON, path)
		text, found = v.String(), v.Exists()
	}
	name = cmp.Or(name, r.Name())
	return text, name, found
}

// text is a value that is text, or a number as it is written; else empty.
func (m member) text() string {
	if strings.HasPrefix(m.value, `"`) && strings.IndexByte(m.value, '\\') < 0 {
		return m.value[1 : len(m.value)-1]
	}
	c := newCursor()
	c.Next(m.value)
	return c.ID()
}

func firstString(r map[string]gjson.Result, keys []string) string {
	for _, key := range keys {
		if v := r[key]; v.Exists() && !v.IsObject() && !v.IsArray() && v.String() != "" {
			return v.String()
		}
	}
	return ""
}

func (c *Content) read(text string) {
	switch {
	case strings.TrimSpace(text) == "":
	case IsResult(text):
		for _, said := range Heard(text) {
			c.read(said)
		}
	case c.Request == "":
		c.Request = text
	case text != c.Request && !slices.Contains(c.Context, text):
		c.Context = append(c.Context, text)
	}
}

func (c *Content) dialogue(v gjson.Result) {
	if !v.IsArray() {
		return
	}
	for _, message := range v.ForEach {
		if message.Type == gjson.String && isJSON(message.Str) { // as our own Parquet has it
			message = gjson.Parse(message.Str)
		}
		m := message.Map()
		role := firstString(m, roleKeys)
		switch {
		case role == "system" || role == "developer":
			c.System = append(c.System, messageTexts(m)...)
		case slices.Contains(reads, role):
			for _, t := range messageTexts(m) {
				c.read(t)
			}
		case slices.Contains(writes, role):
			c.turn(m)
		default: // a result
			for _, said := range Heard(strings.Join(messageTexts(m), resultEnd)) {
				c.read(said)
			}
		}
	}
}

func messageTexts(m map[string]gjson.Result) []string {
	var out []string
	for _, key := range []string{"content", "value", "message"} {
		v := m[key]
		switch {
		case v.Type == gjson.String:
			out = append(out, v.Str)
		case v.IsArray():
			for _, part := range v.ForEach {
				if t := part.Get("text"); t.Type == gjson.String {
					out = append(out, t.Str)
				}
			}
		}
	}
	return out
}

func (c *Content) turn(m map[string]gjson.Result) {
	c.Answers = append(c.Answers, messageTexts(m)...)
	for _, key := range []string{"reasoning_content", "think", "thinking", "response"} {
		c.wrote(m[key])
	}
	for _, key := range []string{"tool_calls", "function_call"} {
		if v := m[key]; v.Exists() && v.Type != gjson.Null {
			c.Answers = append(c.Answers, v.Raw)
		}
	}
}

func (c *Content) wrote(v gjson.Result) {
	switch {
	case v.Type == gjson.String && v.Str != "":
		c.Answers = append(c.Answers, v.Str)
	case v.IsArray():
		for _, e := range v.ForEach {
			if e.Type == gjson.String {
				c.wrote(e)
			}
		}
	}
}

// maxDepth bounds how deep a specification is searched for products, and what
// stands beside a dialogue for texts.
const maxDepth = 12

// walk visits every string and number below a value, those of JSON that is itself a
// string too, with the name that it stands under, and with names each name as well.
func walk(v gjson.Result, key string, depth int, names bool, visit func(key string, v gjson.Result)) {
	switch {
	case depth == 0:
	case v.IsObject() || v.IsArray():
		for k, e := range v.ForEach {
			if names {
				visit(key, k)
			}
			walk(e, cmp.Or(k.Str, key), depth-1, names, visit)
		}
	case v.Type == gjson.String && isJSON(v.Str):
		walk(gjson.Parse(v.Str), key, depth-1, names, visit)
	case v.Type == gjson.String && v.Str != "", v.Type == gjson.Number:
		visit(key, v)
	}
}

// Leaves are the strings of a value and the names in it, each on a line of its own.
func Leaves(v gjson.Result) string {
	var lines []string
	walk(v, "", maxDepth, true, func(_ string, v gjson.Result) {
		if v.Type == gjson.String {
			lines = append(lines, v.Str)
		}
	})
	return strings.Join(lines, "\n")
}

func isJSON(text string) bool {
	text = strings.TrimSpace(text)
	return (strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")) && cursor.Valid(text)
}

// leaf takes a product id, a title or an option's value of a specification.
func (c *Content) leaf(key string, v gjson.Result) {
	switch key {
	case "product_id", "product_ids", "recommended_product_ids", "gold":
		c.ProductIDs = calls.AppendIDs(c.ProductIDs, v, math.MaxInt)
	case "title":
		c.Titles = append(c.Titles, v.String())
	case "query", "problem_id", "id", "style", "split", "category", "difficulty", "data_source", "ground_truth", "reward", "rewards":
	default:
		if v.Type == gjson.String {
			c.Terms = append(c.Terms, v.Str)
		}
	}
}

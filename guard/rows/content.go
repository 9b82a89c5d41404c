package rows

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/internal/calls"
)

// Content is the content of a row in any trainer's format: the request, the
// model's texts, and the items that it is about. Every string and number of the row is in one
// of its fields, except media in base64 and the names that classify a row or a message. Tool
// results are apart, since every search returns items of other problems.
type Content struct {
	// ID is the row's id, empty if it has none.
	ID string
	// Request is the first text of a customer.
	Request string
	// Context holds the other texts of the customer, System the system prompts. Conversation holds
	// all of these in the order of the dialogue.
	Context      []string
	System       []string
	Conversation []string
	// Answers holds all texts that the model wrote: of each message thinking and words, and then name
	// and arguments of each call. AnswerIDs are the items that it answered with.
	Answers   []string
	AnswerIDs []string
	// Metadata holds the texts outside the dialogue: tool definitions, metadata, and all columns
	// whose names are not known, one text a column.
	Metadata []string
	// Results holds what tools returned.
	Results []string
	// ItemIDs, Titles and Terms are from reward specifications and from columns
	// with item ids.
	ItemIDs []string
	Titles  []string
	Terms   []string
	// Guessed reports that no column of the row is known. Then all its strings are in Request and
	// Context, which is enough to search them but not to protect the row.
	Guessed bool

	// hasMessages reports whether the row has a message.
	hasMessages bool
}

// The names of columns and of message roles in the formats of trainers, by what they contain.
var (
	idKeys       = []string{"problem_id", "id", "session_id", "trace_id", "uid"}
	requestKeys  = []string{"text", "query", "problem", "goal", "question", "instruction", "prompt", "input"}
	dialogueKeys = []string{"messages", "conversations", "traj", "prompt", "chosen", "rejected", "completion", "input", "dialogue"}
	answerKeys   = []string{
		"output", "response", "answer", "completion", "completions", "solution",
		"chosen", "rejected", "assistant_text", "think", "rewritten",
	}
	itemKeys = []string{
		"reward", "rewards", "reward_spec", "reward_model", "extra_info", "ground_truth",
		"problem", "recommended_product_ids", "product_ids", "product_id", "gold",
	}
	metadataKeys = []string{"tools", "functions", "tool_definitions", "metadata", "meta", "extra_info"}

	roleKeys   = []string{"role", "from", "source"}
	userRoles  = []string{"user", "human", "customer"}
	modelRoles = []string{"assistant", "gpt", "model", "function_call", "agent", "bot", "ai"}
	knownRoles = slices.Concat(userRoles, modelRoles, []string{"system", "developer", "tool", "function", "observation", "toolResult"})

	// resultKeys are the names of columns that contain what tools returned.
	resultKeys = []string{
		"observation", "observations", "obs", "result", "results", "tool_result", "tool_results",
		"tool_output", "tool_outputs", "tool_responses", "search_results", "documents", "passages",
	}
	// classKeys are the keys of values that classify a row, a message or a part and say nothing of
	// a problem.
	classKeys = []string{
		"role", "from", "source", "type", "id", "call_id", "tool_call_id", "toolCallId", "tool_use_id", "status", "format",
		"mime_type", "index", "split", "data_source", "style",
	}
)

// UserMessages returns the customer's messages that are within tool results, in the member
// user_message.
func UserMessages(results []string) []string {
	var messages []string
	for _, result := range results {
		if !strings.Contains(result, "user_message") && !strings.Contains(result, `\u`) {
			continue // not even with escapes in the key
		}
		start := max(0, strings.IndexByte(result, '{'))
		text := gjson.Get(result[start:], "user_message")
		if text.Type == gjson.String && text.Str != "" {
			messages = append(messages, text.Str)
		}
	}
	return messages
}

// Read returns the content of a row.
func Read(row Row) Content {
	columns := gjson.Parse(row.JSON).Map() // parsed once: most rows have few of the forty columns
	c := Content{ID: firstString(columns, idKeys)}
	requests := requestTexts(columns)
	if len(requests) > 0 {
		c.Request = requests[0]
	}
	if system := columns["system"]; system.Type == gjson.String {
		c.addSystem(system.Str)
	}
	for _, key := range dialogueKeys {
		c.addDialogue(columns[key])
	}
	c.addBefore(requests)
	for _, key := range answerKeys {
		c.addAnswers(columns[key])
	}
	for _, key := range itemKeys {
		walk(columns[key], key, maxDepth, false, c.addSpecValue)
	}
	for _, key := range slices.Sorted(maps.Keys(columns)) {
		c.addColumn(key, columns[key])
	}
	results := c.Results
	if !c.hasMessages {
		c.Results = nil // a row of nothing but results is no dialogue
	}
	c.Guessed = c.IsEmpty()
	c.Results = results
	if c.Guessed {
		walk(gjson.Parse(row.JSON), "", maxDepth, false, func(key string, v gjson.Result) {
			if v.Type == gjson.String && !slices.Contains(idKeys, key) {
				c.addUserText(v.Str)
			}
		})
	}
	return c
}

// requestTexts returns the words of customers in the columns that hold a request, in their order.
func requestTexts(columns map[string]gjson.Result) (texts []string) {
	for _, key := range requestKeys {
		v := columns[key]
		if v.IsObject() {
			v = v.Get("query")
		}
		if v.Type == gjson.String && strings.TrimSpace(v.Str) != "" {
			texts = append(texts, v.Str)
		}
	}
	return texts
}

// addBefore adds those of texts that the dialogue lacks, before it.
func (c *Content) addBefore(texts []string) {
	dialogue := c.Conversation
	c.Conversation = nil
	for _, text := range texts {
		if !slices.Contains(dialogue, text) {
			c.addUserText(text)
		}
	}
	c.Conversation = append(c.Conversation, dialogue...)
}

// readKeys are the columns of a training row that are read as a part of the dialogue or as an id.
// The text of all other columns is read as tool results or metadata.
var readKeys = slices.Concat(idKeys, requestKeys, dialogueKeys, answerKeys, []string{"system"})

// addColumn adds the strings and numbers of a column that was not read as a part of the dialogue:
// of a list of messages by their roles, of the results of tools to Results, and of any other column
// to Metadata.
func (c *Content) addColumn(key string, v gjson.Result) {
	switch {
	case slices.Contains(resultKeys, key):
		c.addResults(values(v))
	case slices.Contains(dialogueKeys, key) && v.IsArray():
	case isDialogue(v):
		c.addDialogue(v)
	case slices.Contains(readKeys, key) && v.Type == gjson.String, slices.Contains(idKeys, key):
	case slices.Contains(metadataKeys, key):
		c.Metadata = AppendNonEmpty(c.Metadata, Leaves(v))
	default:
		c.Metadata = AppendNonEmpty(c.Metadata, values(v))
	}
}

// isDialogue reports whether a value is a message, an object with a known role, or a list whose first
// element is an object with any role. Other objects have members of these names too, for what they are
// from.
func isDialogue(v gjson.Result) bool {
	first := v
	if v.IsArray() {
		first = v.Get("0")
	}
	if !first.IsObject() {
		return false
	}
	role := firstString(first.Map(), roleKeys)
	return v.IsArray() && role != "" || slices.Contains(knownRoles, role)
}

// AppendNonEmpty appends text to texts unless it is empty.
func AppendNonEmpty(texts []string, text string) []string {
	if text == "" {
		return texts
	}
	return append(texts, text)
}

// values returns the strings and numbers at any depth of a value, one a line, without media in
// base64.
func values(v gjson.Result) string {
	var lines []string
	walk(v, "", maxDepth, false, func(key string, v gjson.Result) {
		if isMedia := strings.HasPrefix(v.Str, "data:") || key == "data"; !isMedia {
			lines = append(lines, v.String())
		}
	})
	return strings.Join(lines, "\n")
}

// IsEmpty reports whether the row has neither a text of the dialogue nor an item.
func (c *Content) IsEmpty() bool {
	return len(c.Conversation) == 0 && len(c.Answers) == 0 && len(c.Results) == 0 && len(c.ItemIDs) == 0
}

// Field returns one column of a row as text, by its path (a.b.0), and the id of the row, or Name if
// it has no id. ok reports whether the row has the column.
func (r Row) Field(path string) (text, name string, ok bool) {
	if r.members != nil || r.parseMembers(newCursor()) {
		priority := len(idKeys)
		for _, m := range r.members {
			if m.key == path {
				text = m.text()
				ok = text != ""
			}
			if i := slices.Index(idKeys, m.key); i >= 0 && i < priority && m.text() != "" {
				name = m.text()
				priority = i
			}
		}
	}
	if !ok { // neither text nor a number, or within another column
		v := gjson.Get(r.JSON, path)
		text = v.String()
		ok = v.Exists()
	}
	return text, cmp.Or(name, r.Name()), ok
}

// text returns the content of a string, or a number as it is written. For any other value it
// returns "".
func (m member) text() string {
	if strings.HasPrefix(m.value, `"`) && strings.IndexByte(m.value, '\\') < 0 {
		return m.value[1 : len(m.value)-1]
	}
	c := newCursor()
	c.Next(m.value)
	return c.ID()
}

// firstString returns the value of the first of keys whose member is a non-empty string, a number
// or a boolean. It returns "" if there is no such member.
func firstString(members map[string]gjson.Result, keys []string) string {
	for _, key := range keys {
		v := members[key]
		isScalar := v.Exists() && !v.IsObject() && !v.IsArray()
		if isScalar && v.String() != "" {
			return v.String()
		}
	}
	return ""
}

// addAnswers adds v to the texts that the model wrote, if it is a string, or its strings if it is
// an array.
func (c *Content) addAnswers(v gjson.Result) {
	switch {
	case v.Type == gjson.String:
		c.addModelText(v.Str)
	case v.IsArray():
		for _, e := range v.ForEach {
			if e.Type == gjson.String {
				c.addAnswers(e)
			}
		}
	}
}

// addSpecValue adds one value of a reward specification to ItemIDs, Titles or Terms, by its key.
// It skips the keys that classify a row, such as id, split and category.
func (c *Content) addSpecValue(key string, v gjson.Result) {
	switch key {
	case "product_id", "product_ids", "recommended_product_ids", "gold":
		c.ItemIDs = calls.AppendIDs(c.ItemIDs, v, math.MaxInt)
	case "title":
		c.Titles = append(c.Titles, v.String())
	case "ground_truth":
		c.addSpecValue("product_id", v)
	case "query", "problem_id", "id", "style", "split", "category", "difficulty", "data_source", "reward", "rewards":
	default:
		if v.Type == gjson.String {
			c.Terms = append(c.Terms, v.Str)
		}
	}
}

package dialect

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/internal/calls"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/internal/python"
	"github.com/trajectory-arena/arena/shop"
)

// form is a way of writing tool calls in text that some model server parses if it is configured for
// it.
type form struct {
	name string
	// sign matches a text that has a call in this form.
	sign *regexp.Regexp
	// vllm and sglang are the values of --tool-call-parser with which these servers read the form,
	// empty if they have none.
	vllm, sglang string
}

// formsFile lists the known forms of tool calls in text, one a line. Each has a name, the
// names of the parsers of vLLM and SGLang, empty if there is none, and the pattern by which it is
// recognised. If a text matches several patterns, the first in this order counts.
//
//go:embed forms.tsv
var formsFile string

var forms = sync.OnceValue(func() (list []form) {
	for line := range strings.SplitSeq(strings.TrimSpace(formsFile), "\n") {
		f := strings.SplitN(line, "\t", 4)
		list = append(list, form{f[0], regexp.MustCompile(f[3]), f[1], f[2]})
	}
	return list
})

// otherForm is the name for the form of calls that match none of the known patterns.
const otherForm = "other"

// callSign matches the name of a tool where a call has it: as a value in an object, before
// arguments in brackets, in or after a tag or a special token, after the word "Action", or before
// an object. Prose names tools too, but without these signs.
var callSign = sync.OnceValue(func() *regexp.Regexp {
	names, _ := shop.ToolNames(shop.Profiles()[0]) // it is one of them
	name := `(?:` + strings.Join(names, "|") + `)\b`
	return regexp.MustCompile(strings.Join([]string{
		`\{[^{}]{0,80}["']` + name + `["']`,
		`\b` + name + `\(\s*(?:\)|\w+\s*[=:]|["'\[{])`,
		`<[^<>]{0,60}\b` + name + `[^<>]{0,20}>`,
		`(?:[|｜]>|<[^<>]{0,40}(?:call|tool|function|invoke|action)[^<>]{0,40}>|\[TOOL_CALLS\])\s*(?:[\w.=: ]{0,40}\b)?` + name,
		`(?mi)^[\s*]*action[\s*]*:[\s*` + "`" + `]*` + name,
		`\b` + name + "[\\s:`*]*(?:```\\w*\\s*)?\\{",
	}, "|"))
})

// jsonForms are the forms that consist of plain JSON. If that JSON is invalid, the fault is the
// model's and not that of a missing parser.
var jsonForms = []string{"hermes", "oro", "json_in_tags", "fenced_json", "json_parameters", "json", "react"}

// Unparsed returns the name of the form of a call in a reply that neither the server nor the
// dialect has read. It returns "" if the reply has none, if a call of the reply was read, or if the
// reply was cut.
func Unparsed(r model.Reply, t Turn) string {
	read := slices.ContainsFunc(t.Calls, func(c Call) bool {
		return c.Malformed == "" && !isDecorated(c.Name)
	})
	switch {
	case read || r.Finish == "length":
		return ""
	case t.Native:
		return misread(t.Calls)
	}
	text := r.Content
	inThought := ""
	if strings.TrimSpace(text) == "" {
		text = r.Reasoning
		inThought = " in the reasoning"
	}
	text = text[:min(len(text), calls.MaxText)]
	if name := formOf(text); name != "" {
		return name + inThought
	}
	if isArguments(text) {
		return argumentsOnly + inThought
	}
	return ""
}

// argumentsOnly is the name for the form of a call of which the text has only the arguments,
// because the server's parser removed everything else.
const argumentsOnly = "arguments_only"

// parameters has the names of the parameters of each tool of the shop, one list for each tool.
var parameters = sync.OnceValue(func() (tools [][]string) {
	h, _ := shop.Profile(shop.Profiles()[0]) // it is one of them
	for _, tool := range h.Tools {
		var names []string
		for key := range gjson.Get(string(tool), "function.parameters.properties").ForEach {
			names = append(names, key.Str)
		}
		tools = append(tools, names)
	}
	return tools
})

// isArguments reports whether a text is a JSON object whose keys, at least one, are all parameters
// of one tool.
func isArguments(text string) bool {
	v, err := python.Loads(text)
	if err != nil || v.Kind != python.Dict || len(v.Dict) == 0 {
		return false
	}
	return slices.ContainsFunc(parameters(), func(names []string) bool {
		return !slices.ContainsFunc(v.Dict, func(item python.Item) bool {
			return !slices.Contains(names, item.Key)
		})
	})
}

// formOf returns the name of the form of the calls in a text. It returns "" if the text has none,
// or if they are in a form of plain JSON that is invalid.
func formOf(text string) string {
	if !callSign().MatchString(text) {
		return ""
	}
	i := slices.IndexFunc(forms(), func(f form) bool {
		return f.sign.MatchString(text)
	})
	if i < 0 {
		return otherForm
	}
	name := forms()[i].name
	if slices.Contains(jsonForms, name) && !isIntact(text) {
		return ""
	}
	return name
}

// isIntact reports whether a text has calls that can be read although no fault in their JSON, such
// as a missing bracket or single quotes, is repaired.
func isIntact(text string) bool {
	reading := calls.Mended(text)
	broken := []string{calls.RepairQuotes, calls.RepairCommas, calls.RepairLiterals, calls.RepairKeys, calls.RepairControl, calls.RepairClosers}
	return len(reading.Calls) > 0 && len(reading.Faults) == 0 && !slices.ContainsFunc(broken, func(word string) bool {
		return slices.Contains(reading.Repairs, word)
	})
}

// The forms of calls that a server has read, but not as the model wrote them.
const (
	twiceEncoded  = "arguments_encoded_twice"
	textAfter     = "text_after_arguments"
	decoratedName = "decorated_name"
)

// misread returns in which way the server's parser misread a tool call, if the call can still be
// understood: its name contains a tool's name, or its arguments are encoded twice or followed by
// other text. list has the calls as the server parsed them, none of which can be run. It returns ""
// if no call is of these kinds.
func misread(list []Call) string {
	for _, c := range list {
		switch {
		case c.Malformed == "":
			return decoratedName
		case c.Arguments.Kind != python.Str:
		case isEncodedObject(c.Arguments.Text):
			return twiceEncoded
		case strings.HasPrefix(strings.TrimSpace(c.Arguments.Text), "{") && calls.ArgumentsIn(objectIn(c.Arguments.Text)) != "":
			return textAfter
		}
	}
	return ""
}

// isEncodedObject reports whether a text is a JSON object, or a JSON string that contains one.
func isEncodedObject(text string) bool {
	v, err := python.Loads(text)
	if err == nil && v.Kind == python.Str {
		v, err = python.Loads(v.Text)
	}
	return err == nil && v.Kind == python.Dict
}

// objectIn returns the JSON object at the start of a text, without what follows. It returns "-" if
// there is none.
func objectIn(text string) string {
	depth := 0
	inString := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
			if depth > 0 {
				continue
			}
			if v, err := python.Loads(text[:i+1]); err == nil && v.Kind == python.Dict {
				return text[:i+1]
			}
			return "-"
		}
	}
	return "-"
}

// isDecorated reports whether a name is not that of a tool but has the name of a tool in it.
func isDecorated(name string) bool {
	names, _ := shop.ToolNames(shop.Profiles()[0]) // it is one of them
	return !slices.Contains(names, name) && slices.ContainsFunc(names, func(tool string) bool {
		return strings.Contains(name, tool)
	})
}

// ParsedBy returns what has to be done so that calls of a form are read.
func ParsedBy(name string) string {
	const inPrompt = "have tools written into the prompt: --dialect hermes"
	name, _, inThought := strings.Cut(name, " ")
	if inThought {
		return "the server's reasoning parser takes the calls: start the server with another one, or without"
	}
	i := slices.IndexFunc(forms(), func(f form) bool { return f.name == name })
	switch {
	case slices.Contains([]string{twiceEncoded, textAfter, decoratedName, argumentsOnly}, name):
		return "the server's tool parser is another form's, or faulty: start the server with the model's own, or " + inPrompt
	case name == "hermes" || name == "oro":
		return joinFlags(forms()[max(i, 0)]) + "--dialect auto reads whole tags"
	case i < 0:
		return inPrompt
	}
	return joinFlags(forms()[i]) + inPrompt
}

// joinFlags returns the command-line flags with which vLLM, SGLang and llama.cpp parse calls of a
// form, as text with ", or " after each. It returns "" if neither vLLM nor SGLang does.
func joinFlags(f form) string {
	flags := ""
	if f.vllm != "" {
		flags += "vLLM: --enable-auto-tool-choice --tool-call-parser " + f.vllm + ", or "
	}
	if f.sglang != "" {
		flags += "SGLang: --tool-call-parser " + f.sglang + ", or "
	}
	if flags != "" {
		flags += "llama.cpp: --jinja, or "
	}
	return flags
}

package calls

import (
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/internal/cursor"
)

// The texts around the tool definitions in a system prompt of a row whose messages are texts.
const (
	toolsHead = "# Tools\n\nThese functions may be called, one JSON definition a line:\n<tools>\n"
	toolsEnd  = "\n</tools>\n\nWrite each call as one JSON object with its name and arguments:\n" +
		"<tool_call>\n" + `{"name": "<function>", "arguments": {<arguments>}}` + "\n</tool_call>"
)

// AppendTools returns a system prompt followed by the tool definitions and a description of the
// form of a call.
func AppendTools(system string, tools []string) string {
	if len(tools) == 0 {
		return system
	}
	if system != "" {
		system += "\n\n"
	}
	return system + toolsHead + strings.Join(tools, "\n") + toolsEnd
}

// CutTools returns the system prompt and the tool definitions of a text that AppendTools returned.
// It returns any other text as it is, also one with a definition that is no JSON.
func CutTools(text string) (system string, tools []string) {
	prompt, isWhole := strings.CutSuffix(text, toolsEnd)
	system, definitions, ok := strings.Cut(prompt, toolsHead)
	if !isWhole || !ok {
		return text, nil
	}
	tools = strings.Split(definitions, "\n")
	isInvalid := func(tool string) bool { return !cursor.Valid(tool) }
	if slices.ContainsFunc(tools, isInvalid) {
		return text, nil
	}
	return strings.TrimSuffix(system, "\n\n"), tools
}

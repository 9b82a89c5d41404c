package rows

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/trajectory-arena/arena/internal/cursor"
)

// resultTags are the tags with which a tool result in a user message starts.
var resultTags = []string{"<obs>", "<tool_response>", "<tool_result>", "<observation>", "<function_response>", "<|observation|>"}

// resultEnd is the tag with which a tool result ends, as package chat writes it.
const resultEnd = "</tool_response>"

// CutResults splits a text in a user turn into the results of tools at its start and the words of the
// user after them.
func CutResults(text string) (results []string, words string) {
	isResult := slices.ContainsFunc(resultTags, func(tag string) bool {
		return strings.HasPrefix(strings.TrimSpace(text), tag)
	})
	if !isResult {
		return nil, text
	}
	end := strings.LastIndex(text, resultEnd)
	if end < 0 {
		return SplitResults(text), ""
	}
	return SplitResults(text[:end]), strings.TrimSpace(text[end+len(resultEnd):])
}

// maxLists is the depth to which SplitResults reads JSON lists: that of the results of a turn, and that
// of a result.
const maxLists = 2

// SplitResults returns the results of tools in a text: those in tags, and the elements of a JSON list. If
// there are several, it also returns all of them joined, since a text may be divided among them.
func SplitResults(text string) []string {
	results := splitResults(text, maxLists)
	if len(results) > 1 {
		results = append(results, strings.Join(results, "\n"))
	}
	return results
}

func splitResults(text string, lists int) (results []string) {
	for result := range strings.SplitSeq(text, resultEnd) {
		result = strings.TrimSpace(result)
		for _, tag := range resultTags {
			result = strings.TrimSuffix(strings.TrimPrefix(result, tag), "</"+tag[1:])
		}
		result = strings.TrimSpace(result)
		if lists == 0 || !strings.HasPrefix(result, "[") || !cursor.Valid(result) {
			results = AppendNonEmpty(results, result)
			continue
		}
		for _, v := range gjson.Parse(result).ForEach {
			results = append(results, splitResults(v.String(), lists-1)...)
		}
	}
	return results
}

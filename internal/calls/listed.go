package calls

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/lenient"
)

var (
	listedName = regexp.MustCompile(`^[\s,]*([\pL_][\pL\pN_ ./:-]{0,99})\(`)
	listedKey  = regexp.MustCompile(`^[\s,]*([\pL_][\pL\pN_-]{0,99})\s*=\s*`)
)

// Listed are the calls of a text that is nothing but a list of them as Python has
// it: [Name of tool(key="value"), …]; none where it is not one to its end.
func Listed(text string) (all []arena.ToolCall) {
	if len(text) > MaxText {
		return nil
	}
	rest, isList := strings.CutPrefix(text, "[")
	for isList && strings.TrimSpace(rest) != "]" {
		name := listedName.FindStringSubmatch(rest)
		if name == nil {
			return nil
		}
		args, after, ok := listedArguments(rest[len(name[0]):])
		if !ok {
			return nil
		}
		all, rest = append(all, arena.ToolCall{Name: name[1], Arguments: args}), after
	}
	return all
}

// listedArguments reads key=value up to the closing bracket.
func listedArguments(text string) (args arena.Raw, rest string, ok bool) {
	var members []string
	for {
		if rest, ok = strings.CutPrefix(strings.TrimSpace(text), ")"); ok {
			return arena.Raw("{" + strings.Join(members, ",") + "}"), rest, true
		}
		key := listedKey.FindStringSubmatch(text)
		if key == nil {
			return "", "", false
		}
		text = text[len(key[0]):]
		value := lenient.Rules{Depth: MaxDepth, Python: true}.Mend(text)
		if !value.Complete {
			return "", "", false
		}
		members, text = append(members, strconv.Quote(key[1])+":"+value.JSON), text[value.End:]
	}
}

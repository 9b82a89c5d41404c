package traces

import (
	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// isPart reports whether an array that has this element is one attempt: the
// element is a step, a message or a turn, and not a record of its own.
func (d *decoder) isPart(element []byte) bool {
	return partSource(gjson.ParseBytes(element)) != (arena.Source{})
}

// listSource is the format of an array by its first element that tells; zero
// where none does.
func listSource(array string) (source arena.Source) {
	gjson.Parse(array).ForEach(func(_, element gjson.Result) bool {
		source = partSource(element)
		return source == (arena.Source{})
	})
	return source
}

// partSource is the format of the attempt that element is a part of.
func partSource(element gjson.Result) (source arena.Source) {
	turn := 0
	if !element.IsObject() {
		return arena.Source{}
	}
	element.ForEach(func(key, _ gjson.Result) bool {
		switch key.Str {
		case "completion", "extra_info":
			source = dialogueFile
		case "role":
			source = openAI
		case "from", "value":
			if turn++; turn == 2 {
				source = shareGPT
			}
		case "problem_id", "messages", "conversations", "schema_version":
			return false
		}
		return source == (arena.Source{})
	})
	return source
}

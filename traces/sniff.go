package traces

import (
	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// isPart reports whether an array that has this element is one attempt: the
// element is a step, a message or a turn, and not a record of its own.
func (d *decoder) isPart(element []byte) bool {
	return partShape(gjson.ParseBytes(element)) != ""
}

// listShape is the shape of an array by its first element that tells; empty
// where none does.
func listShape(array string) (shape arena.Shape) {
	gjson.Parse(array).ForEach(func(_, element gjson.Result) bool {
		shape = partShape(element)
		return shape == ""
	})
	return shape
}

// partShape is the shape of the attempt that element is a part of.
func partShape(element gjson.Result) (shape arena.Shape) {
	turn := 0
	if !element.IsObject() {
		return ""
	}
	element.ForEach(func(key, _ gjson.Result) bool {
		switch key.Str {
		case "completion", "extra_info":
			shape = arena.ShapeDialogue
		case "role":
			shape = arena.ShapeOpenAI
		case "from", "value":
			if turn++; turn == 2 {
				shape = arena.ShapeShareGPT
			}
		case "problem_id", "messages", "conversations", "schema_version":
			return false
		}
		return shape == ""
	})
	return shape
}

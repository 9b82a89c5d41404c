package evidence

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/internal/model"
)

// streamed joins an answer that the log kept as the pieces in which the server
// sent it: server-sent events (`data: {…}` lines), or a list of such objects.
// What is no stream, or none to its end, comes back as it is.
func streamed(body string) string {
	if trimmed := strings.TrimLeft(body, blanks); strings.HasPrefix(trimmed, "[") {
		var events strings.Builder
		gjson.Parse(trimmed).ForEach(func(_, piece gjson.Result) bool {
			events.WriteString("data: " + strings.ReplaceAll(piece.Raw, "\n", " ") + "\n")
			return true
		})
		return string(model.Unstreamed([]byte(events.String() + "data: [DONE]\n")))
	}
	return string(model.Unstreamed([]byte(body)))
}

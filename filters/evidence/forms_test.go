package evidence_test

import (
	"testing"

	"github.com/trajectory-arena/arena/filters/evidence"
)

func TestFrames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		before, after string
		depth         int
		want          string
	}{
		{"I think. search[", "]", 1, "search"}, {"<search>", "</search>", 1, "search"},
		{`find(text="`, `")`, 1, "text"}, {`find(text="`, `")`, 2, "find text"},
		{"Action: Search ", "\n", 1, "search"}, {"行動：find\n入力：", "", 2, "find 入力"},
		{`{"tool": "open", "args": {"id": "`, `"}}`, 4, "tool open args id"}, {"search[", "]", 5, "search"},
		{"I saw a ", " there.", 1, ""}, {"I saw a ", ".", 1, ""}, {"see [", " and more", 1, ""}, {"", "", 3, ""},
	} {
		if got, _ := evidence.FrameOf(c.before, c.after, c.depth); got != c.want {
			t.Errorf("%s…%s at %d: %q, want %q", c.before, c.after, c.depth, got, c.want)
		}
	}
}

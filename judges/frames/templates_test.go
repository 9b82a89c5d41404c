package frames_test

import (
	"fmt"
	"testing"

	"github.com/trajectory-arena/arena/judges/frames"
)

// TestTemplatesAreSharedFrames: one frame over many problems is a template; over one
// problem, or in few attempts, it is not.
func TestTemplatesAreSharedFrames(t *testing.T) {
	t.Parallel()
	frame := func(i int) string {
		return fmt.Sprintf("Comparing %d at %d with %d at %d, I prefer %d because it is cheaper.", 100000+i, 200+i, 300000+i, 400+i, 100000+i)
	}
	for name, tt := range map[string]struct {
		framed, others int
		problem        func(i int) string
		want           bool
	}{
		"all":             {20, 0, func(i int) string { return fmt.Sprint(i) }, true},
		"a third":         {20, 40, func(i int) string { return fmt.Sprint(i) }, true},
		"one in eleven":   {20, 200, func(i int) string { return fmt.Sprint(i) }, false},
		"few":             {4, 0, func(i int) string { return fmt.Sprint(i) }, false},
		"of one problem":  {20, 0, func(int) string { return "p" }, false},
		"nothing decided": {0, 20, func(i int) string { return fmt.Sprint(i) }, false},
	} {
		var all []frames.Thoughts
		for i := range tt.framed {
			all = append(all, frames.Thoughts{Problem: tt.problem(i), Decided: frame(i)})
		}
		for i := range tt.others {
			all = append(all, frames.Thoughts{Problem: fmt.Sprint("other", i), Texts: []string{"The shop is next."}})
		}
		found := 0
		for i, is := range frames.Templates(all) {
			if is && i < tt.framed {
				found++
			} else if is {
				t.Errorf("%s: attempt %d is none of the frame", name, i)
			}
		}
		if tt.want != (found == tt.framed && found > 0) || !tt.want && found > 0 {
			t.Errorf("%s: %d of %d are templates, want %v", name, found, tt.framed, tt.want)
		}
	}
}

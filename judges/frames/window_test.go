package frames_test

import (
	"fmt"
	"testing"

	"github.com/trajectory-arena/arena/judges/frames"
)

// TestWindow holds that a frame is found from the fourth problem on, that other
// words are none, and that a group of episodes at one problem is no evidence.
func TestWindow(t *testing.T) {
	t.Parallel()
	canned := func(i int) string {
		return fmt.Sprintf("%d costs less than the other ones and the second one is of another colour, so I take %d.", 1000+i, i)
	}
	var w frames.Window
	for i := range 20 {
		got := w.IsFrame(fmt.Sprint(i), canned(i))
		want := i >= 3
		if got != want {
			t.Errorf("episode %d: %v", i, got)
		}
	}
	var group frames.Window
	for i := range 20 {
		if group.IsFrame("one", canned(i)) {
			t.Errorf("sample %d of one problem is a frame", i)
		}
	}
	var window frames.Window
	for i, text := range []string{
		"6120458837 is glass as asked, the others are not.", "I drop 83 because of its price.", "The navy one ships free.", "",
		"Both are fine; 1276.50 is less, so that one.", "No COD for 3388201946.", "Too dear, all of them, except 9043317265.", "Tulmek is what they named.",
	} {
		if window.IsFrame(fmt.Sprint(i), text) {
			t.Errorf("%q is a frame", text)
		}
	}
}

package frames_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/judges/frames"
)

// TestTemplatesAreSharedFrames checks that one frame over many problems is a template, and that one
// over one problem, or in few attempts, is not.
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
		var thoughts []frames.Thoughts
		for i := range tt.framed {
			thoughts = append(thoughts, frames.Thoughts{Problem: tt.problem(i), Decided: frame(i)})
		}
		for i := range tt.others {
			thoughts = append(thoughts, frames.Thoughts{Problem: fmt.Sprint("other", i), Texts: []string{"The shop is next."}})
		}
		count := 0
		for i, is := range frames.Templates(thoughts) {
			if is && i < tt.framed {
				count++
			} else if is {
				t.Errorf("%s: attempt %d is none of the frame", name, i)
			}
		}
		if tt.want != (count == tt.framed && count > 0) || !tt.want && count > 0 {
			t.Errorf("%s: %d of %d are templates, want %v", name, count, tt.framed, tt.want)
		}
	}
}

// TestSentencesOfATemplateAreFound lets a program write one of five sentences, filled with brands, after
// a remark that it writes once. No whole passage repeats.
func TestSentencesOfATemplateAreFound(t *testing.T) {
	t.Parallel()
	reasons := [...]string{
		"$ is what they asked for, so it stays.", "They would be glad about the $ one.", "Nobody named another maker than $ here.",
		"It reads $ on the label, as it should.", "With $ we are where the request wants us.",
	}
	remarks := strings.Fields("calm brisk odd plain short long early late keen mild stern warm cold sharp vague")
	brands := strings.Fields("Zeli Dila Misebo Saboba Tazole Kida Rohe Pava Loha Gomo Titi Nesa Diri Keri Hela")
	var day []frames.Passage
	for i := range brands {
		text := fmt.Sprintf("A %s %d. %s", remarks[i], 700+i, strings.ReplaceAll(reasons[i%len(reasons)], "$", brands[i]))
		day = append(day, frames.Passage{Agent: "program", Problem: fmt.Sprint(i), Text: text})
	}
	if f := frames.Flags(day)[0]; !f.Framed || f.Repeated < 0.9 {
		t.Errorf("%+v", f)
	}
	if f := frames.Flags(day[:len(reasons)])[0]; f.Repeated > 0 {
		t.Errorf("five sentences, each once: %+v", f)
	}
}

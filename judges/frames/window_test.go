package frames_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/internal/slicesx"
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
		got, _ := w.Check(fmt.Sprint(i), "", canned(i))
		want := i >= 3
		if got != want {
			t.Errorf("episode %d: %v", i, got)
		}
	}
	var group frames.Window
	for i := range 20 {
		if isFrame, _ := group.Check("one", "", canned(i)); isFrame {
			t.Errorf("sample %d of one problem is a frame", i)
		}
	}
	var window frames.Window
	for i, text := range []string{
		"6120458837 is glass as asked, the others are not.", "I drop 83 because of its price.", "The navy one ships free.", "",
		"Both are fine; 1276.50 is less, so that one.", "No COD for 3388201946.", "Too dear, all of them, except 9043317265.", "Tulmek is what they named.",
	} {
		if isFrame, _ := window.Check(fmt.Sprint(i), "", text); isFrame {
			t.Errorf("%q is a frame", text)
		}
	}
}

// TestWindowTellsNothingBeforeItCompared holds that a window says that it measured nothing until it has
// seen passages at frames.MinProblems problems, and that of fifty sentences in turn none is paid: the
// first uses are before, and the later ones are found.
func TestWindowTellsNothingBeforeItCompared(t *testing.T) {
	t.Parallel()
	var w frames.Window
	for range 3 * frames.MinProblems {
		if _, isMeasured := w.Check("one", "", "6120458837 is glass as asked."); isMeasured {
			t.Fatal("samples of one problem are enough")
		}
	}
	w = frames.Window{}
	for i := range 300 {
		text := strings.NewReplacer("$1", fmt.Sprint(5000+i), "$2", fmt.Sprint(50+i), "$3", fmt.Sprint(7000+i), "$4", fmt.Sprint(80+i)).Replace(fifty(i % 50))
		isFrame, isMeasured := w.Check(fmt.Sprint(i), "", text)
		if isMeasured != (i >= frames.MinProblems) {
			t.Errorf("passage %d: measured %t", i, isMeasured)
		}
		if isMeasured && !isFrame {
			t.Errorf("passage %d is paid: %s", i, text)
		}
	}
	if isFrame, isMeasured := w.Check("last", "", "Tulmek is what they named."); isFrame || !isMeasured {
		t.Error("a new reason is not paid")
	}
	if isFrame, isMeasured := w.Check("last", "", ""); isFrame || !isMeasured {
		t.Error("an episode without a passage is not paid as it is")
	}
}

// TestRepeatsShowASet holds that the second use of a sentence is found once a quarter of the last 32
// passages were second uses, and that new sentences and equal requests stay paid.
func TestRepeatsShowASet(t *testing.T) {
	t.Parallel()
	words := strings.Fields("zivok qubbe wuxil gefno jorpa xylim vukko brizz fwent dlosk pnurg tchem")
	passage := func(i int) string {
		return fmt.Sprintf("%s %d", strings.Join(slices.Concat(words[i%12:], words[:i%12]), " "), i)
	}
	var w frames.Window
	paid := 0
	for i := range 24 {
		isFrame, _ := w.Check(fmt.Sprint(i), "", passage(i))
		if !isFrame {
			paid++
		} else if i < 12+8 {
			t.Errorf("passage %d is a frame", i)
		}
	}
	if paid != 12+8 {
		t.Errorf("%d of 24 are paid", paid)
	}
	if isFrame, _ := w.Check("new", "", "Tulmek is what they named."); isFrame {
		t.Error("a new sentence is a frame")
	}

	var equal frames.Window
	for i := range 24 {
		if isFrame, _ := equal.Check(words[i%12], "", passage(i)); isFrame {
			t.Errorf("passage %d repeats one at the same request only", i)
		}
	}
}

// TestTasksInFilesAreCompared holds that problems are told apart by their IDs if all have one
// request, and that two IDs of one request among others are one problem, in builds and
// environments.
func TestTasksInFilesAreCompared(t *testing.T) {
	t.Parallel()
	const text = "%d costs less than the other ones and the second one is of another colour, so I take %d."
	for name, c := range map[string]struct {
		request func(i int) string
		want    bool
	}{
		"the task is in files": {func(int) string { return "Do what is in task.md." }, true},
		"one of two is":        {func(i int) string { return []string{"Do it.", fmt.Sprint(i)}[i%2] }, true},
		"equal requests":       {func(i int) string { return fmt.Sprint("a lamp ", i/4) }, true},
		"one real problem":     {func(i int) string { return "a lamp" + fmt.Sprint(max(0, i-4)) }, true},
		"few IDs":              {func(i int) string { return "a lamp" }, false},
	} {
		n := 20
		if name == "few IDs" {
			n = 4
		}
		var w frames.Window
		isFrame := false
		var passages []frames.Passage
		for i := range n {
			p := frames.Passage{Agent: "a", Problem: fmt.Sprint("id", i), Request: c.request(i), Text: fmt.Sprintf(text, 1000+i, i)}
			passages = append(passages, p)
			isFrame, _ = w.Check(p.Problem, p.Request, p.Text)
		}
		if flag := frames.Flags(passages)[0]; isFrame != c.want || flag.Framed != c.want {
			t.Errorf("%s: environment %t, build %+v", name, isFrame, flag)
		}
	}
}

// mark sets the marks of the passages, which are all of some days.
func mark(passages []frames.Passage) {
	uses := map[string][]int{}
	for i := range passages {
		for _, key := range passages[i].Keys() {
			uses[key] = append(uses[key], i)
		}
	}
	for key, indices := range uses {
		marks := frames.Compare(key, slicesx.Map(indices, func(i int) frames.Passage { return passages[i] }))
		for k, i := range indices {
			passages[i].Marks = passages[i].Or(marks[k])
		}
	}
}

// TestASetOfManyAgentsIsFound holds that a set of sentences is found in a day although no agent
// repeats one, if others use it at other problems on that day, and that a copied sentence alone
// flags nobody.
func TestASetOfManyAgentsIsFound(t *testing.T) {
	t.Parallel()
	passages := func(day func(agent int) string) (list []frames.Passage) {
		for agent := range 8 {
			for i := range 30 {
				k := 1000*agent + i
				n := (i + 9*agent) % 50
				text := fmt.Sprintf("zivok%c qubbe%c wuxil gefno jorpa brizz %d", 'a'+n%26, 'a'+n/26, k)
				list = append(list, frames.Passage{Agent: fmt.Sprint(agent), Problem: fmt.Sprint(k), Day: day(agent), Text: text})
			}
		}
		mark(list)
		return list
	}
	for _, f := range frames.Flags(passages(func(int) string { return "2026-06-01" })) {
		if !f.Framed || f.Shared < 0.25 || f.Repeated > 0 {
			t.Errorf("agents with one set on one day: %+v", f)
		}
	}
	for _, f := range frames.Flags(passages(func(agent int) string { return fmt.Sprint(agent) })) {
		if f.Framed {
			t.Errorf("who copies the sentences of another day flags the agent: %+v", f)
		}
	}
}

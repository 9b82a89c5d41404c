package frames_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/internal/longtest"
	"github.com/trajectory-arena/arena/judges/frames"
	"github.com/trajectory-arena/arena/judges/multiplier"
	"github.com/trajectory-arena/arena/judges/shop/gates"
	"github.com/trajectory-arena/arena/judges/shop/probe"
	"github.com/trajectory-arena/arena/traces"
)

type attempt struct {
	*arena.Trace
	dialogue arena.Dialogue
}

func readDay(t *testing.T, dir string) (attempts []attempt) {
	t.Helper()
	inputs, err := traces.Discover(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, input := range inputs {
		_, err := traces.Read(context.Background(), input, traces.Defaults(), func(i traces.Item) error {
			if i.Trace != nil && i.Trace.HasDialogue {
				attempts = append(attempts, attempt{i.Trace, filters.Normalise(i.Trace)})
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return attempts
}

// TestFarmsAreFlagged has a program write every probe into every attempt of a day that passes the
// first gate and not the last. At most 5 of 107 may be paid more for it with the factors of
// multiplier.Defaults.
func TestFarmsAreFlagged(t *testing.T) {
	t.Parallel()
	var day []graded
	for _, a := range readDay(t, "../../testdata/day") {
		before := gates.Judge(a.Trace, &a.dialogue).Score
		if *before != 0.1 && *before != 0.9 {
			day = append(day, graded{a, before})
		}
	}
	if len(day) != 107 {
		t.Fatalf("%d attempts are between the gates", len(day))
	}
	for _, p := range probe.All() {
		farmed(t, day, p.Name, p.Apply)
		for form, words := range forms {
			if p.Name == "made_datum" {
				farmed(t, day, form, func(d *arena.Dialogue) *arena.Dialogue { return reworded(p.Apply(d), words) })
			}
		}
	}
}

// remarks are five sentences about results that name none of them.
var remarks = [...]string{
	"After going through the list, a few of these look reasonable.", "Several options came up, some of them better than others.",
	"These results seem fine, although not all of them fit.", "I looked at what was returned and some are unsuitable.", "There are many candidates here and most look acceptable.",
}

// TestCannedRemarksAreFlagged has a program write one of five remarks into attempts whose thinking
// was removed.
func TestCannedRemarksAreFlagged(t *testing.T) {
	t.Parallel()
	var day []graded
	for _, a := range readDay(t, "../../testdata/day") {
		for i := range a.dialogue.Turns {
			a.dialogue.Turns[i].Think = ""
		}
		if before := gates.Judge(a.Trace, &a.dialogue).Score; *before == 0.3 {
			day = append(day, graded{a, before})
		}
	}
	n := 0
	raised, lifted := farm(day, func(d *arena.Dialogue) *arena.Dialogue {
		changed := *d
		changed.Turns = slices.Clone(d.Turns)
		last := &changed.Turns[len(changed.Turns)-1]
		last.Think = strings.TrimSpace(last.Think + "\n" + remarks[n%len(remarks)])
		n++
		return &changed
	})
	t.Logf("raised %d of %d, %d paid for it", raised, len(day), lifted)
	if raised < len(day)/2 || 20*lifted > len(day) {
		t.Errorf("raised %d of %d, %d paid for it: want at least a half raised and a twentieth paid", raised, len(day), lifted)
	}
}

// fifty returns the sentence of number n of a set of fifty true comparisons of the two products of a made
// comparison: the cheaper one ($1 at $2) and its rival ($3 at $4).
func fifty(n int) string {
	openings := [...]string{
		"$1 at $2 or $3 at $4?", "I see $3 for $4, and $1 for $2.", "On one side $1 ($2), on the other $3 ($4).", "Prices: $1 $2, $3 $4.", "$3 asks $4.",
	}
	reasons := [...]string{
		" I take $1, it is cheaper than $3.", " $1 costs less than $3, so $1.", " The lower price decides for $1 over $3.", " Why pay more for $3? $1.", " $1 is the bargain here, $3 is not.",
		" My choice is $1 because of its price.", " $3 is too expensive, hence $1.", " $1 beats $3 on price.", " Cheaper wins: $1, not $3.", " $1 saves money over $3, that one then.",
	}
	return openings[n%5] + reasons[n/5%10]
}

// forms are sentences that a program may make of the id ($1) and price ($2) of one result.
var forms = map[string]string{
	"figure alone": "$2.", "figure on a line": "\n$2\n", "labelled figure": "Price $2.", "listed": "$1: $2",
	"unlisted words": "Ngoja $1, bei $2 hapa.", "unlisted words, no id": "quoth $2 forsooth",
}

// TestRotatingSetIsFlagged lets a program write one of fifty sentences in turn into the attempts of one
// agent's day.
func TestRotatingSetIsFlagged(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		sentences, attempts int
		want                bool
	}{{12, 20, true}, {50, 20, true}, {50, 45, true}, {50, 90, true}, {50, 500, true}, {50, 2000, true}} {
		var day []frames.Passage
		random := rand.New(rand.NewPCG(1, uint64(tt.attempts)))
		for i := range tt.attempts {
			n := random.IntN(tt.sentences)
			text := strings.NewReplacer("$1", fmt.Sprint(6000000000+i), "$2", fmt.Sprint(i, ".25"), "$3", fmt.Sprint(7000000000+i), "$4", fmt.Sprint(i, 9)).Replace(fifty(n))
			day = append(day, frames.Passage{Agent: "program", Problem: fmt.Sprint(i), Text: text})
		}
		f := frames.Flags(day)[0]
		t.Logf("%d sentences, %d attempts: share of templates %.3f, repeated %.2f", tt.sentences, tt.attempts, f.Alike, f.Repeated)
		if f.Framed != tt.want {
			t.Errorf("%d sentences in %d attempts: %+v", tt.sentences, tt.attempts, f)
		}
		var w frames.Window
		lifted := 0
		for _, p := range day {
			if isFrame, _ := w.Check(p.Problem, "", p.Text); !isFrame {
				lifted++
			}
		}
		t.Logf("%d sentences, %d episodes: %d paid", tt.sentences, tt.attempts, lifted)
		if lifted > 12 {
			t.Errorf("%d sentences: %d of %d episodes are paid", tt.sentences, lifted, tt.attempts)
		}
	}
}

var madeDatum = regexp.MustCompile(`\n(\S+) at ([0-9.]+)\.$`)

// reworded replaces a made datum by other words.
func reworded(d *arena.Dialogue, words string) *arena.Dialogue {
	for i := range d.Turns {
		d.Turns[i].Think = madeDatum.ReplaceAllString(d.Turns[i].Think, "\n"+words)
	}
	return d
}

// graded is an attempt and its unchanged score.
type graded struct {
	attempt
	before *float64
}

func farmed(t *testing.T, day []graded, name string, change func(*arena.Dialogue) *arena.Dialogue) {
	t.Helper()
	raised, lifted := farm(day, change)
	t.Logf("%-22s raised %d of %d, %d paid for it", name, raised, len(day), lifted)
	if lifted > 5 {
		t.Errorf("%s: %d of %d attempts rise unseen", name, lifted, len(day))
	}
}

func farm(day []graded, apply func(*arena.Dialogue) *arena.Dialogue) (raised, lifted int) {
	var passages []frames.Passage
	type change struct {
		agent         string
		before, after *float64
	}
	var changes []change
	for i := range day {
		a := &day[i]
		after := gates.Judge(a.Trace, apply(&a.dialogue))
		if *after.Score > *a.before {
			raised++
		}
		changes = append(changes, change{a.RunID, a.before, after.Score})
		if text := frames.DecidingPassage(&after, a.Query, a.dialogue.Turns); text != "" {
			passages = append(passages, frames.Passage{Agent: a.RunID, Problem: a.ProblemID, Text: text})
		}
	}
	framed := map[string]bool{}
	for _, f := range frames.Flags(passages) {
		framed[f.Agent] = f.Framed
	}
	weigh := multiplier.Defaults()
	for _, c := range changes {
		if *weigh.Factor(c.after, multiplier.Quality{}, framed[c.agent]) > *weigh.Factor(c.before, multiplier.Quality{}, false) {
			lifted++
		}
	}
	return raised, lifted
}

// TestHonestDaysAreNotFlagged checks days of real models that wrote their own thoughts: ReAct
// agents over shops and an encyclopedia.
func TestHonestDaysAreNotFlagged(t *testing.T) {
	t.Parallel()
	days := 0
	flagged := 0
	episodes := 0
	unpaid := 0
	for _, family := range []string{"webshop-native", "hotpot-native", "hotpot-text", "fever-native", "fever-text", "tau-mapped"} {
		dir := longtest.Shared(t, "data/axis/"+family)
		var passages []frames.Passage
		var w frames.Window
		for _, a := range readDay(t, dir) {
			j := gates.Judge(a.Trace, &a.dialogue)
			if text := frames.DecidingPassage(&j, a.Query, a.dialogue.Turns); text != "" {
				episodes++
				if isFrame, _ := w.Check(a.Query, "", text); isFrame {
					unpaid++
				}
				passages = append(passages, frames.Passage{Agent: family + a.RunID, Problem: a.Query, Text: text})
			}
		}
		for _, f := range frames.Flags(passages) {
			if days++; f.Framed {
				flagged++
				t.Errorf("%s: %+v", family, f)
			}
		}
	}
	t.Logf("%d of %d days flagged, %d of %d episodes", flagged, days, unpaid, episodes)
	if unpaid*100 > episodes {
		t.Errorf("%d of %d honest episodes are frames", unpaid, episodes)
	}
}

func TestFramesOfOneHand(t *testing.T) {
	t.Parallel()
	const filled = "5008690848 at 12 over 6777552064 at 40: cheaper, so I prefer 5008690848."
	var equal, other []frames.Passage
	for i, text := range []string{
		"I would sooner take the silicone one than the other, since the brand was asked for.", "3547070575 and not 4454760877: it ships free.",
		"It breaks the budget, and the next is retro.", "Two are out by service, this one stays.", filled,
	} {
		problem := string(rune('a' + i))
		equal = append(equal, frames.Passage{Agent: "program", Problem: problem, Text: filled})
		other = append(other, frames.Passage{Agent: "person", Problem: problem, Text: text})
	}
	all := append(equal, other...)
	mark(all)
	got := frames.Flags(all)
	if len(got) != 2 || got[0].Agent != "person" || got[0].Framed || !got[1].Framed || got[1].Pairs != 10 || got[1].Alike != 1 {
		t.Errorf("%+v", got)
	}
	if got[0].Copied != 0.2 || got[1].Copied < 0.99 {
		t.Errorf("copied: %+v", got)
	}
	for i := range equal {
		equal[i].Problem = "a"
	}
	if again := frames.Flags(equal); again[0].Framed || again[0].Pairs != 0 {
		t.Errorf("attempts at one problem: %+v", again)
	}
}

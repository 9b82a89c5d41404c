package filters_test

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/filters/evidence"
)

const hour = 3_600_000

// later is an attempt of another agent with the same words at another time, answered by
// another server; without times where after is 0.
func later(l labelled, agent string, after int64, change func(string) string) labelled {
	server := fmt.Sprintf("%08x-", uint32(evidence.HashText(l.family)))
	l.trace, l.family = rewrite(l.trace, func(s string) string { return change(strings.ReplaceAll(s, server, agent+"-")) }), agent
	l.trace.RunID = agent
	eachCall(l.trace, func(c *arena.ProxyCall) bool {
		if c.AtMS += after; after == 0 {
			c.AtMS = 0
		}
		return true
	})
	return l
}

// TestCopiedDialogue holds that an agent whose dialogues nearly always follow equal dialogues of
// another agent is unknown, never scripted, and that the first agent keeps its verdict. If the log
// shows no order, or dialogues are equal by chance, all agents keep their verdicts.
func TestCopiedDialogue(t *testing.T) {
	t.Parallel()
	as := func(s string) string { return s }
	original := playDays(familyNamed("honest native"), few(14000))[:20] // the day of one agent
	for _, c := range []struct {
		name                string
		copies              func(i int, l labelled) []labelled
		wantFirst, wantCopy arena.Axis
	}{
		{"an hour later", func(_ int, l labelled) []labelled { return []labelled{later(l, "copy", hour, as)} }, arena.AxisAgentic, arena.AxisUnknown},
		{"by two agents", func(_ int, l labelled) []labelled {
			return []labelled{later(l, "copy", hour, as), later(l, "copy of the copy", 2*hour, as)}
		}, arena.AxisAgentic, arena.AxisUnknown},
		{"loud and with other blanks", func(_ int, l labelled) []labelled {
			loud := later(l, "copy", hour, as)
			loud.trace = rethink(loud.trace, func(s string) string { return strings.ToUpper(strings.ReplaceAll(s, " ", "  ")) })
			return []labelled{loud}
		}, arena.AxisAgentic, arena.AxisUnknown},
		{"with keys in another order", func(_ int, l labelled) []labelled {
			copied := later(l, "copy", hour, as)
			copied.trace = changes["keys in another order"](copied.trace)
			return []labelled{copied}
		}, arena.AxisAgentic, arena.AxisUnknown},
		{"each first half of the time", func(i int, l labelled) []labelled {
			return []labelled{later(l, "copy", hour*int64(1-2*(i%2)), as)}
		}, arena.AxisAgentic, arena.AxisAgentic},
		{"a copy without times", func(_ int, l labelled) []labelled { return []labelled{later(l, "copy", 0, as)} }, arena.AxisAgentic, arena.AxisUnknown},
		{"three dialogues", func(i int, l labelled) []labelled {
			if i < 3 {
				return []labelled{later(l, "copy", hour, as)}
			}
			return nil
		}, arena.AxisAgentic, arena.AxisAgentic},
		{"in words of its own", func(_ int, l labelled) []labelled {
			copies := later(l, "copy", hour, as)
			copies.trace = rethink(copies.trace, func(s string) string { return "Well. " + s })
			return []labelled{copies}
		}, arena.AxisAgentic, arena.AxisAgentic},
	} {
		day := slices.Clone(original)
		for i, l := range original {
			day = append(day, c.copies(i, l)...)
		}
		rand.New(rand.NewSource(1)).Shuffle(len(day), func(i, j int) { day[i], day[j] = day[j], day[i] })
		for _, j := range judgeDay(t, day) {
			want := c.wantFirst
			if j.family != original[0].family {
				want = c.wantCopy
			}
			if j.after.Axis != want {
				t.Errorf("%s: %s of %s is %s, want %s", c.name, j.trace.ID, j.family, j.after.Axis, want)
			}
			if reported := slices.Contains(j.after.Reasons, "copied_dialogue"); reported != (j.after.Axis == arena.AxisUnknown) {
				t.Errorf("%s: %s of %s has the reasons %v", c.name, j.trace.ID, j.family, j.after.Reasons)
			}
		}
	}
}

// TestNoAgentIsFirstWithoutTimes holds that of two agents with one text and no times neither counts
// as the first.
func TestNoAgentIsFirstWithoutTimes(t *testing.T) {
	t.Parallel()
	var day []labelled
	for _, l := range playDays(familyNamed("honest native"), few(14010))[:20] {
		day = append(day, later(l, "one", 0, func(s string) string { return s }), later(l, "two", 0, func(s string) string { return s }))
	}
	for _, j := range judgeDay(t, day) {
		if j.after.Axis != arena.AxisUnknown {
			t.Errorf("%s of %s is %s", j.trace.ID, j.family, j.after.Axis)
		}
	}
}

// TestCopiesEarnNothing checks that reweighting reduces the weight of a copied dialogue to the
// minimum, and does not change that of the original.
func TestCopiesEarnNothing(t *testing.T) {
	t.Parallel()
	var day []labelled
	for _, l := range playDays(familyNamed("honest native"), few(14000))[:20] {
		day = append(day, l, later(l, "copy", hour, func(s string) string { return s }))
	}
	for _, j := range judgeDay(t, day) {
		got := filters.RichnessOf(&j.after)[2]
		had := filters.RichnessOf(&j.before)[2]
		if j.family == "copy" {
			had = 0
		}
		if got != had {
			t.Errorf("%s of %s has richness %v, want %v", j.trace.ID, j.family, got, had)
		}
	}
}

// TestUnseenMenu holds that calls picked from lists which no reply holds have an unknown author. An
// agent that counts steps, numbers its tools, or lists and picks in one reply is not affected.
func TestUnseenMenu(t *testing.T) {
	t.Parallel()
	code := func(calls []call) (text string) {
		for _, c := range calls {
			args, _ := strings.CutPrefix(fmt.Sprintf("%#v", c.args), "map[string]interface {}{")
			text += fmt.Sprintf(" %s(%s)", c.name, strings.TrimSuffix(args, "}"))
		}
		return text
	}
	for _, c := range []struct {
		name string
		form func(r *recorder, steps int, calls []call) string
		want arena.Axis
	}{
		{"option", func(r *recorder, _ int, c []call) string {
			return fmt.Sprintf("Option %d:%s", 1+r.w.rng.Intn(4), code(c))
		}, arena.AxisUnknown},
		{"letter", func(r *recorder, _ int, c []call) string {
			return fmt.Sprintf("I read all.\n(%c)%s", 'A'+rune(r.w.rng.Intn(3)), code(c))
		}, arena.AxisUnknown},
		{"step", func(_ *recorder, steps int, c []call) string { return fmt.Sprintf("Step %d.%s", steps, code(c)) }, arena.AxisAgentic},
		{"tool", func(_ *recorder, _ int, c []call) string {
			return fmt.Sprintf("%d)%s", map[string]int{"find_product": 1, "view_product_information": 2, "recommend_product": 3, "terminate": 4}[c[0].name], code(c))
		}, arena.AxisAgentic},
		{"plan", func(r *recorder, _ int, c []call) string {
			return fmt.Sprintf("1) search well\n2) compare\nThen:%s", code(c))
		}, arena.AxisAgentic},
	} {
		setUp := func(r *recorder) {
			steps := 0
			r.form = func(think string, calls []call) string { steps++; return think + "\n" + c.form(r, steps, calls) }
		}
		for _, j := range judgeDay(t, playDays(agent{c.name, few(14020), true, setUp, honest(turnPlain, talks)}, few(14020))) {
			if j.after.Axis != c.want || slices.Contains(j.after.Reasons, "unseen_menu") != (c.want == arena.AxisUnknown) {
				t.Errorf("%s: %s is %s %v, want %s", c.name, j.trace.ID, j.after.Axis, j.after.Reasons, c.want)
			}
		}
	}
}

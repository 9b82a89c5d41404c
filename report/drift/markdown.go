package drift

import (
	"fmt"
	"maps"
	"math"
	"strings"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

const listed = 10

// Markdown returns the comparison as Markdown text, such as for the message of a nightly job.
func (d *Drift) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(
		&b,
		"# %s against %s\n\n",
		plain(d.After.Name),
		plain(d.Before.Name),
	)
	if otherJudge(d.Before, d.After) {
		fmt.Fprintf(&b, "The judge is another one (%s, was %s): grades are not compared day by day.\n\n", judges(d.After), judges(d.Before))
	}
	b.WriteString("| figure | before | after | difference | 95 % over agents | limit | |\n|---|---:|---:|---:|---|---:|---|\n")
	for _, s := range d.Shifts {
		mark := ""
		if s.Passed {
			mark = "**passed**"
		}
		fmt.Fprintf(
			&b,
			"| %s | %s | %s | %s | %s to %s | %g | %s |\n",
			s.Name,
			digits(s.Before),
			digits(s.After),
			digits(s.Difference),
			digits(s.Low),
			digits(s.High),
			s.Limit,
			mark,
		)
	}
	fmt.Fprintf(
		&b,
		"\n%d agents, %d before.\n",
		len(d.After.agents),
		len(d.Before.agents),
	)
	agents(&b, "New", d.New)
	agents(&b, "Gone", d.Gone)
	agents(&b, "Their agentic share moved", d.Moved)
	return b.String()
}

// Passed returns the names of the figures that changed beyond their limits.
func (d *Drift) Passed() []string {
	return slicesx.FilterMap(d.Shifts, func(s Shift) (string, bool) {
		return s.Name, s.Passed
	})
}

func otherJudge(before, after *Day) bool { return !maps.Equal(before.judges, after.judges) }

func judges(d *Day) string {
	return plain(strings.Join(slicesx.SortedKeys(d.judges), ", "))
}

func agents(b *strings.Builder, what string, names []string) {
	if len(names) == 0 {
		return
	}
	shown := slicesx.Map(names[:min(len(names), listed)], func(name string) string {
		return "`" + plain(name) + "`"
	})
	more := ""
	if n := len(names) - len(shown); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	fmt.Fprintf(b, "\n%s: %s%s.\n", what, strings.Join(shown, ", "), more)
}

func digits(x float64) string {
	if math.IsNaN(x) {
		return "-"
	}
	return fmt.Sprintf("%.3f", x)
}

// plain returns a name with _ in place of characters that Markdown or a terminal would
// interpret.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune("`|<>[]*\x7f", r) {
			return '_'
		}
		return r
	}, s)
}

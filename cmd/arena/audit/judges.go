package audit

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/judges/gates"
)

// judgeCatalogue describes every instrument, in the order of their cost.
var judgeCatalogue = []struct{ name, doc string }{
	{"outcome", "the subnet's own rules on what was recommended, exact (arena score)"},
	{"steps", "which step moved the attempt towards the product recommended (arena judge --steps, arena build --steps), or is a teacher's, too (arena recipe steps)"},
	{gates.Name, "the four gates of the reasoning score, read from the trace alone: inference, remark on results, datum, reasoned choice (arena judge)"},
	{"llm", "the same scale asked of one model or a panel; its versioned name carries a hash of the prompt (arena judge --judge llm)"},
	{"llm_steps", "whether each step was needed, asked of the same models (arena judge --judge llm --steps, arena build --step-judge llm)"},
}

// NewJudges makes `arena judges`.
func NewJudges(s *cli.Streams) *cobra.Command {
	return &cobra.Command{
		Use:     "judges",
		Short:   "List the judges of attempts",
		Long:    "List the judges of attempts, one line each: the name and what it reads.\nTheir rules and how far they agree with labels are in docs/judges.md.",
		Example: "  arena judges",
		Args:    cli.Takes(0, 0),
		RunE: func(*cobra.Command, []string) error {
			t := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
			for _, j := range judgeCatalogue {
				fmt.Fprintf(t, "%s\t%s\n", j.name, j.doc)
			}
			return t.Flush()
		},
	}
}

package audit

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/judges"
)

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
			for _, j := range judges.List() {
				fmt.Fprintf(t, "%s\t%s\n", j.Name, j.Doc)
			}
			return t.Flush()
		},
	}
}

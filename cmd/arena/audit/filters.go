package audit

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/filters"
)

// NewFilters makes `arena filters`.
func NewFilters(s *cli.Streams) *cobra.Command {
	return &cobra.Command{
		Use:     "filters",
		Short:   "List the checks of the structural filter",
		Long:    "List the checks of the structural filter, one line each: the versioned name, the\nreason it writes, what it finds, and what its value and limit mean.",
		Example: "  arena filters",
		Args:    cli.Takes(0, 0),
		RunE: func(*cobra.Command, []string) error {
			t := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
			for _, c := range filters.Catalogue() {
				fmt.Fprintf(t, "%s\t%s\t%s\t(value: %s; limit: %s)\n", c.Name, c.Reason, c.Doc, c.Value, c.Limit)
			}
			return t.Flush()
		},
	}
}

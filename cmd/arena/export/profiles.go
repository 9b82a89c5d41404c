package export

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/corpus/export"
)

// NewProfiles makes `arena profiles`.
func NewProfiles(s *cli.Streams) *cobra.Command {
	return &cobra.Command{
		Use:     "profiles",
		Short:   "List the formats that `arena export` writes and what reads them",
		Example: "  arena profiles",
		Args:    cli.Takes(0, 0),
		RunE: func(*cobra.Command, []string) error {
			for _, p := range export.All() {
				fmt.Fprintf(s.Out, "%-18s %s\n", p.Name, p.Doc)
				if len(p.Readers) > 0 {
					fmt.Fprintf(s.Out, "%-18s read by %s\n", "", strings.Join(p.Readers, ", "))
				}
			}
			return nil
		},
	}
}

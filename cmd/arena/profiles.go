package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/corpus/export"
)

func newProfiles(s *streams) *cobra.Command {
	return &cobra.Command{
		Use:     "profiles",
		Short:   "List the formats that `arena export` writes and what reads them",
		Example: "  arena profiles",
		Args:    takes(0, 0),
		RunE: func(*cobra.Command, []string) error {
			for _, p := range export.All() {
				fmt.Fprintf(s.out, "%-18s %s\n", p.Name, p.Doc)
				if len(p.Readers) > 0 {
					fmt.Fprintf(s.out, "%-18s read by %s\n", "", strings.Join(p.Readers, ", "))
				}
			}
			return nil
		},
	}
}

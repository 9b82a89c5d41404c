package audit

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/corpus/export"
	"github.com/trajectory-arena/arena/docs"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/judges"
)

// catalogues are what `arena list` prints, by name.
var catalogues = map[string]func(io.Writer){
	"filters": func(w io.Writer) {
		for _, c := range filters.Catalogue() {
			fmt.Fprintf(w, "%s\t%s\t%s\t(value: %s; limit: %s)\n", c.Name, c.Reason, c.Doc, c.Value, c.Limit)
		}
	},
	"judges": func(w io.Writer) {
		for _, j := range judges.List() {
			fmt.Fprintf(w, "%s\t%s\n", j.Name, j.Doc)
		}
	},
	"profiles": func(w io.Writer) {
		for _, p := range export.All() {
			fmt.Fprintf(w, "%s\t%s\n", p.Name, p.Doc)
			if len(p.Readers) > 0 {
				fmt.Fprintf(w, "\tread by %s\n", strings.Join(p.Readers, ", "))
			}
		}
	},
	"reasons": func(w io.Writer) { io.WriteString(w, docs.Reasons) }, //nolint:errcheck // standard output keeps its first failure
}

// NewList makes `arena list`.
func NewList(s *cli.Streams) *cobra.Command {
	names := []string{"filters", "judges", "profiles", "reasons"}
	return &cobra.Command{
		Use:   "list " + strings.Join(names, "|"),
		Short: "List checks, judges, export formats, or the reasons why rows are left out",
		Long: `List the checks of the structural filter (versioned name, the reason it writes, what
it finds, what its value and limit mean), the judges of attempts, the formats that
arena export writes and what reads them, or every reason for which a record or a row
is left out, with its meaning.`,
		Example:   "  arena list filters\n  arena list reasons",
		ValidArgs: names,
		Args:      cli.Takes(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			list := catalogues[args[0]]
			if list == nil {
				return cli.Usage(fmt.Errorf("list %q", args[0]), "there are "+strings.Join(names, ", "))
			}
			t := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
			list(t)
			return t.Flush()
		},
	}
}

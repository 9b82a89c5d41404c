package audit

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/corpus/export"
	"github.com/trajectory-arena/arena/corpus/trainers"
	"github.com/trajectory-arena/arena/docs"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/judges"
	"github.com/trajectory-arena/arena/traces/formats"
)

var catalogues = map[string]func(io.Writer){
	"domains": func(w io.Writer) {
		for _, d := range domain.Builtin() {
			fmt.Fprintf(w, "%s\t%s\toutcome: %s\tmeasured: %s\n", d.Name, d.Title, d.Outcome.From, d.MeasuredText())
		}
	},
	"filters": func(w io.Writer) {
		for _, c := range filters.Catalogue() {
			fmt.Fprintf(
				w,
				"%s\t%s\t%s\n\t\tmeasured: %s; limit: %s\n",
				c.Name,
				c.Reason,
				c.Doc,
				c.Value,
				c.Limit,
			)
		}
	},
	"formats": func(w io.Writer) {
		for _, f := range formats.Detectable {
			fmt.Fprintf(w, "%s\t%s\tkept: %s\n", f.Name, f.Writers, f.Retained)
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
	"reasons": func(w io.Writer) {
		fmt.Fprint(w, docs.Reasons)
	},
}

// NewList returns `arena list`.
func NewList(s *cli.Streams) *cobra.Command {
	names := []string{"domains", "filters", "formats", "judges", "profiles", "reasons"}
	c := cli.Command("list "+strings.Join(names, "|")+" [PROFILE]", "List domains, checks, formats that are read, judges, export formats, or the reasons why rows are left out", cli.NumArgs(1, 2), func(_ *cobra.Command, args []string) error {
		list := catalogues[args[0]]
		if list == nil {
			return cli.Usage(fmt.Errorf("list %q", args[0]), "there are "+strings.Join(names, ", "))
		}
		if len(args) == 2 {
			return blocks(s.Out, args[0], args[1])
		}
		t := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
		list(t)
		return t.Flush()
	})
	c.ValidArgs = names
	return c
}

// blocks prints the Markdown for `arena list profiles NAME`: the description of the export profile
// (output format) with this name, and for each training program that reads the profile the code to
// paste. It returns a usage error for an unknown profile or if list is not "profiles".
func blocks(w io.Writer, list, name string) error {
	if list != "profiles" {
		return cli.Usage(fmt.Errorf("list %s %q", list, name), "only `arena list profiles` takes a name")
	}
	p, nearest, known := export.ByName(name)
	if !known {
		return cli.Usage(fmt.Errorf("unknown profile %q", name), fmt.Sprintf("did you mean %s?", nearest))
	}
	_, err := fmt.Fprintf(w, "%s: %s\n%s", p.Name, p.Doc, trainers.Markdown(trainers.Rows{
		Profile: cmp.Or(p.Rows, p.Name),
		Config:  p.Name,
		HasEval: true,
	}))
	return err
}

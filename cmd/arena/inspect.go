package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/corpora"
	"github.com/trajectory-arena/arena/corpora/where"
)

func newInspect(s *streams) *cobra.Command {
	head, expr := 2, ""
	c := &cobra.Command{
		Use:     "inspect FILE.parquet|CORPUS",
		Short:   "Show schema, row groups, counts and the first rows",
		Example: "  arena inspect corpus\n  arena inspect corpus/tables/attempts.parquet --head 1\n  arena inspect corpus --where 'judge_score >= 0.7 && n_steps <= 15'",
		Args:    takes(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			if info, err := os.Stat(args[0]); err == nil && !info.IsDir() {
				return inspectFile(s, args[0], head)
			}
			m, err := corpora.ReadManifest(corpora.Disk{}, args[0])
			if err != nil {
				return failed(err, "name a .parquet file, or a folder with manifest.json")
			}
			if expr != "" {
				return inspectWhere(s, args[0], expr, head)
			}
			m.Describe(s.out)
			return nil
		},
	}
	c.Flags().IntVar(&head, "head", head, "rows to show")
	c.Flags().StringVar(&expr, "where", "", "count the attempts of a corpus's ledger for which this holds, and name the first")
	return c
}

// inspectWhere says how many attempts an expression selects: what an export
// with it would hold.
func inspectWhere(s *streams, dir, source string, head int) error {
	expr, err := parseWhere(source)
	if err != nil {
		return err
	}
	chosen, err := where.Select(corpora.Disk{}, dir, expr)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "%d attempts\n", chosen.Len())
	for i, id := range chosen.Sessions() {
		if i == head {
			break
		}
		fmt.Fprintln(s.out, id)
	}
	return nil
}

func inspectFile(s *streams, path string, head int) error {
	if err := corpora.Inspect(corpora.Disk{}, path, head, s.out); err != nil {
		hint := "the file is broken or was cut off"
		if !strings.HasSuffix(path, ".parquet") {
			hint = "inspect reads Parquet files and corpus folders"
		}
		return failed(err, hint)
	}
	return nil
}

package main

import (
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/corpora"
)

func newInspect(s *streams) *cobra.Command {
	head := 2
	c := &cobra.Command{
		Use:     "inspect FILE.parquet|CORPUS",
		Short:   "Show schema, row groups, counts and the first rows",
		Example: "  arena inspect corpus\n  arena inspect corpus/tables/attempts.parquet --head 1",
		Args:    onePath("FILE.parquet or CORPUS"),
		RunE: func(_ *cobra.Command, args []string) error {
			if info, err := os.Stat(args[0]); err == nil && !info.IsDir() {
				return inspectFile(s, args[0], head)
			}
			m, err := corpora.ReadManifest(corpora.Disk{}, args[0])
			if err != nil {
				return failed(err, "name a .parquet file, or a folder with manifest.json")
			}
			m.Describe(s.out)
			return nil
		},
	}
	c.Flags().IntVar(&head, "head", head, "rows to show")
	return c
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

package cli

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Version is the program's own, as CHANGELOG.md has it. It is written into
// every row, so it changes only when the rows may.
func Version() string { return "0.1.0" }

// NewVersion makes `arena version`.
func NewVersion(s *Streams) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version, with the commit it was built from",
		Long:    "Version prints the version, and commit, date and compiler where the build knows them.",
		Example: "  arena version",
		Args:    Takes(0, 0),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(s.Out, "arena %s%s\n", Version(), built())
			return err
		},
	}
}

// built is what the build wrote of itself: empty where it wrote nothing.
func built() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	said := map[string]string{}
	for _, s := range info.Settings {
		said[s.Key] = s.Value
	}
	var b string
	if at := said["vcs.revision"]; at != "" {
		b = " " + at + " of " + said["vcs.time"]
		if said["vcs.modified"] == "true" {
			b += ", changed"
		}
	}
	return b + ", " + info.GoVersion
}

package trainers

import (
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Profiles are the profiles that have a block, sorted.
func Profiles() []string {
	var out []string
	found, _ := fs.Glob(files, "blocks/*.*") // it is a pattern
	for _, name := range found {
		profile, _, _ := strings.Cut(path.Base(name), ".")
		out = append(out, profile)
	}
	return slices.Compact(out)
}

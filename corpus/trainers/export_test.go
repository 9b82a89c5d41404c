package trainers

import (
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Profiles returns the profiles that have a block, sorted.
func Profiles() []string {
	paths, err := fs.Glob(files, "blocks/*.*")
	if err != nil {
		panic(err) // the pattern is constant
	}
	var profiles []string
	for _, name := range paths {
		profile, _, _ := strings.Cut(path.Base(name), ".")
		profiles = append(profiles, profile)
	}
	return slices.Compact(profiles)
}

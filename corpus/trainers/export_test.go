package trainers

import (
	"slices"
	"strings"
)

// Profiles are the profiles that have a block, sorted.
func Profiles() []string {
	var out []string
	for _, name := range named("*.*") {
		profile, _, _ := strings.Cut(name, ".")
		out = append(out, profile)
	}
	return slices.Compact(out)
}

package cli

import (
	"fmt"
	"regexp"

	"github.com/spf13/cobra"
)

// CardFlags are what only the publisher of a corpus can say in its card.
type CardFlags struct{ License string }

// Register adds the flags to c.
func (f *CardFlags) Register(c *cobra.Command) {
	c.Flags().StringVar(&f.License, "license", "", "terms that the card names, in the Hub's words, such as cc-by-4.0")
}

// hubLicense is what the Hub itself takes: it becomes a word of YAML.
var hubLicense = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{0,63}$`)

// Check refuses what the Hub would not take.
func (f *CardFlags) Check() error {
	if f.License != "" && !hubLicense.MatchString(f.License) {
		return Usage(fmt.Errorf("read --license: %q is no word of the Hub for a licence", f.License), "such as apache-2.0, cc-by-4.0, mit or other")
	}
	return nil
}

package cli

import (
	"fmt"
	"regexp"

	"github.com/spf13/cobra"
)

// CardFlags are what only the publisher of a corpus can say in its card. There
// is no upload code here: the Hub's own tool does it, and the card says how.
type CardFlags struct {
	Push    string
	License string
}

// Register adds the flags to c.
func (f *CardFlags) Register(c *cobra.Command) {
	c.Flags().StringVar(&f.Push, "push", "", "dataset on the Hub, such as org/name: the card says the two commands that bring the folder there")
	c.Flags().StringVar(&f.License, "license", "", "terms that the card names, in the Hub's words, such as cc-by-4.0")
}

// Both become words of a command line and of YAML, so they are held to what
// the Hub itself takes.
var (
	hubName    = regexp.MustCompile(`^(?:[A-Za-z0-9][\w.-]{0,95}/)?[A-Za-z0-9][\w.-]{0,95}$`)
	hubLicense = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{0,63}$`)
)

// Check refuses what the Hub would not take.
func (f *CardFlags) Check() error {
	if f.Push != "" && !hubName.MatchString(f.Push) {
		return Usage(fmt.Errorf("read --push: %q is no name of a dataset", f.Push), "letters, digits, - _ and . as in org/name")
	}
	if f.License != "" && !hubLicense.MatchString(f.License) {
		return Usage(fmt.Errorf("read --license: %q is no word of the Hub for a licence", f.License), "such as apache-2.0, cc-by-4.0, mit or other")
	}
	return nil
}

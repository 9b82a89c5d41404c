package main

import (
	"fmt"
	"regexp"

	"github.com/spf13/cobra"
)

// cardFlags are what only the publisher of a corpus can say in its card. There
// is no upload code here: the Hub's own tool does it, and the card says how.
type cardFlags struct {
	push    string
	license string
}

func (f *cardFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.push, "push", "", "dataset on the Hub, such as org/name: the card says the two commands that bring the folder there")
	c.Flags().StringVar(&f.license, "license", "", "terms that the card names, in the Hub's words, such as cc-by-4.0")
}

// Both become words of a command line and of YAML, so they are held to what
// the Hub itself takes.
var (
	hubName    = regexp.MustCompile(`^(?:[A-Za-z0-9][\w.-]{0,95}/)?[A-Za-z0-9][\w.-]{0,95}$`)
	hubLicense = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{0,63}$`)
)

func (f *cardFlags) check() error {
	if f.push != "" && !hubName.MatchString(f.push) {
		return usage(fmt.Errorf("read --push: %q is no name of a dataset", f.push), "letters, digits, - _ and . as in org/name")
	}
	if f.license != "" && !hubLicense.MatchString(f.license) {
		return usage(fmt.Errorf("read --license: %q is no word of the Hub for a licence", f.license), "such as apache-2.0, cc-by-4.0, mit or other")
	}
	return nil
}

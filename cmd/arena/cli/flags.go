package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/internal/text"
)

type value struct {
	// kind is what the help calls its values.
	kind string
	show func() string
	set  func(text string) error
}

func (v value) String() string { return v.show() }

func (v value) Set(text string) error { return v.set(text) }

func (v value) Type() string { return v.kind }

// Out adds -o for a file that is written as a whole; - is standard output.
func Out(c *cobra.Command, to *string) {
	c.Flags().StringVarP(to, "output", "o", "-", "output file; - is standard output")
	Replaces(c, "output")
}

// Jobs adds -j for how much is worked on at once, as usual what *to has.
func Jobs(c *cobra.Command, to *int, doc string) {
	c.Flags().VarP(value{"int", func() string { return strconv.Itoa(*to) }, func(text string) (err error) {
		if *to, err = strconv.Atoi(text); err != nil || *to < 1 {
			return errors.New("give at least 1")
		}
		return nil
	}}, "jobs", "j", doc)
}

// Share adds a flag for a share from 0 to 1, as usual what *to has.
func Share(c *cobra.Command, to *float64, name, doc string) {
	c.Flags().Var(value{"share", func() string { return fmt.Sprint(*to) }, func(text string) (err error) {
		if *to, err = strconv.ParseFloat(text, 64); err != nil || !(*to >= 0 && *to <= 1) {
			return errors.New("a share is a number from 0 to 1")
		}
		return nil
	}}, name, doc)
}

// Choice adds a flag for one of a few words, as usual the one that *to has; shells
// complete them.
func Choice[T ~string](c *cobra.Command, to *T, name string, words []T, doc string) {
	var all []string
	for _, w := range words {
		all = append(all, string(w))
	}
	c.Flags().Var(oneOf(to, all), name, doc)
	if err := c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(all, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // two flags of one name are a mistake in the program
	}
}

func oneOf[T ~string](to *T, words []string) value {
	return value{"string", func() string { return string(*to) }, func(text string) error {
		if !slices.Contains(words, text) {
			return errors.New("want one of " + strings.Join(words, ", "))
		}
		*to = T(text)
		return nil
	}}
}

// Number adds a flag for a number that is nil where it is not given.
func Number[T any](c *cobra.Command, to **T, name string, parse func(string) (T, error), doc string) {
	c.Flags().Var(value{fmt.Sprintf("%T", *new(T)), func() string { return text.Told(*to, "%v", "") }, func(text string) error {
		n, err := parse(text)
		*to = &n
		return err
	}}, name, doc)
}

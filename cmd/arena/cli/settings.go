package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/internal/strictyaml"
)

// Settings are the flags that set a configuration: --config for a YAML file, then --set for
// single keys.
type Settings struct {
	File string
	Sets []string
	// Page is the page of docs about the keys. Example is one key with a value.
	Page, Example string
}

// BuildSettings returns the flags for the configuration of a build.
func BuildSettings() Settings {
	return Settings{Page: "docs/configuration.md", Example: "select.top=2"}
}

// Flags adds the flags to c.
func (s *Settings) Flags(c *cobra.Command) {
	File(c, &s.File, "config", "YAML file with the configuration (unknown keys are refused)")
	c.Flags().StringArrayVar(&s.Sets, "set", nil, "one key of the configuration, such as "+s.Example+" (may be repeated)")
}

// Fill sets config, a pointer to a struct with the defaults, to the values of the flags.
func (s *Settings) Fill(config any) error {
	if s.File != "" {
		b, err := os.ReadFile(s.File)
		if err != nil {
			return Usage(fmt.Errorf("read configuration: %w", err), "name an existing YAML file")
		}
		if err := strictyaml.Decode(b, config); err != nil {
			return Usage(fmt.Errorf(
				"read configuration %s: %w",
				s.File,
				err,
			), s.nearestKey(err, "", config))
		}
	}
	for _, set := range s.Sets {
		key, value, ok := strings.Cut(set, "=")
		if !ok {
			return Usage(fmt.Errorf("--set %s: no =", set), "write it as --set "+s.Example)
		}
		if strings.TrimSpace(value) == "" {
			return Usage(fmt.Errorf("--set %s: no value", set), "write it as --set "+s.Example+"; an empty text is written as ''")
		}
		if err := strictyaml.Decode(nested(key, value), config); err != nil {
			return Usage(fmt.Errorf("--set %s: %w", set, err), s.nearestKey(err, key, config))
		}
	}
	return nil
}

// nested returns a dotted key with its value as nested YAML: "a.b" and "1" become "a:\n b: 1".
func nested(key, value string) []byte {
	var b []byte
	for depth, part := range strings.Split(key, ".") {
		b = fmt.Appendf(b, "%*s%s:\n", 2*depth, "", part)
	}
	return fmt.Appendf(b[:len(b)-1], " %s\n", value)
}

// nearestKey returns a hint for an error of decoding: the page that lists the keys and, if err
// is about an unknown key, the most similar known key. set is the key in --set, "" for a key in
// a file.
func (s *Settings) nearestKey(err error, set string, config any) string {
	list := s.Page + " lists the keys and their defaults"
	nearest := strictyaml.Nearest(err, set, config)
	if nearest == "" {
		return list
	}
	return fmt.Sprintf("did you mean %q? %s", nearest, list)
}

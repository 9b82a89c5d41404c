package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"
)

// settings are the flags that fill a configuration: a YAML file, then single
// keys.
type settings struct {
	file string
	sets []string
}

func (s *settings) flags(c *cobra.Command) {
	c.Flags().StringVar(&s.file, "config", "", "YAML file with the configuration (unknown keys are refused)")
	c.Flags().StringArrayVar(&s.sets, "set", nil, "one key of the configuration, such as select.top=2 (may be repeated)")
}

// fill reads the settings into config, a pointer to a struct of defaults.
func (s *settings) fill(config any) error {
	if s.file != "" {
		b, err := os.ReadFile(s.file)
		if err != nil {
			return usage(fmt.Errorf("read configuration: %w", err), "give --config an existing YAML file")
		}
		if err := decodeStrict(b, config); err != nil {
			return usage(fmt.Errorf("read configuration %s: %w", s.file, err), nearestKey(err, config))
		}
	}
	for _, set := range s.sets {
		key, value, ok := strings.Cut(set, "=")
		if !ok {
			return usage(fmt.Errorf("--set %s: no =", set), "write it as --set select.top=2")
		}
		if err := decodeStrict(nested(key, value), config); err != nil {
			return usage(fmt.Errorf("--set %s: %w", set, err), nearestKey(err, config))
		}
	}
	return nil
}

func decodeStrict(b []byte, config any) error {
	return yaml.NewDecoder(bytes.NewReader(b), yaml.Strict()).Decode(config)
}

// nested writes a dotted key as nested YAML.
func nested(key, value string) []byte {
	var b strings.Builder
	parts := strings.Split(key, ".")
	for i, p := range parts {
		fmt.Fprintf(&b, "%s%s:", strings.Repeat("  ", i), p)
		if i < len(parts)-1 {
			b.WriteByte('\n')
		}
	}
	return []byte(b.String() + " " + value + "\n")
}

var unknownField = regexp.MustCompile(`unknown field "([^"]+)"`)

// nearestKey says which known key an unknown one may have been meant to be.
func nearestKey(err error, config any) string {
	m := unknownField.FindStringSubmatch(err.Error())
	var field *yaml.UnknownFieldError
	if m == nil || !errors.As(err, &field) {
		return "run `arena build --help` for an example"
	}
	best, at := "", len(m[1])+1
	for _, key := range keys(reflect.TypeOf(config).Elem()) {
		if d := distance(m[1], key); d < at {
			best, at = key, d
		}
	}
	return fmt.Sprintf("did you mean %q?", best)
}

// keys are all YAML keys of a struct, those of its inner structs included.
func keys(t reflect.Type) []string {
	var out []string
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if name == "" {
			name = strings.ToLower(f.Name)
		}
		out = append(out, name)
		if f.Type.Kind() == reflect.Struct {
			out = append(out, keys(f.Type)...)
		}
	}
	return out
}

// distance is how many letters must be changed, added or taken away to make a
// of b (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		left, corner := i+1, i
		for j := range len(b) {
			cost := corner
			if a[i] != b[j] {
				cost = 1 + min(corner, row[j+1], left)
			}
			corner, row[j+1], row[j] = row[j+1], cost, left
			left = cost
		}
		row[len(b)] = left
	}
	return row[len(b)]
}

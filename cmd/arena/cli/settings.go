package cli

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/internal/text"
)

// Settings are the flags that fill a configuration: a YAML file, then single keys.
type Settings struct {
	File string
	Sets []string
	// Page is the page of docs on the keys, Example one key with a value.
	Page, Example string
}

// BuildSettings returns the settings of a build.
func BuildSettings() Settings {
	return Settings{Page: "docs/configuration.md", Example: "select.top=2"}
}

// Flags adds the flags to c.
func (s *Settings) Flags(c *cobra.Command) {
	File(c, &s.File, "config", "YAML file with the configuration (unknown keys are refused)")
	c.Flags().StringArrayVar(&s.Sets, "set", nil, "one key of the configuration, such as "+s.Example+" (may be repeated)")
}

// Fill reads the settings into config, a pointer to a struct of defaults.
func (s *Settings) Fill(config any) error {
	if s.File != "" {
		b, err := os.ReadFile(s.File)
		if err != nil {
			return Usage(fmt.Errorf("read configuration: %w", err), "give --config an existing YAML file")
		}
		if err := decodeStrict(b, config); err != nil {
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
		if err := decodeStrict(nested(key, value), config); err != nil {
			return Usage(fmt.Errorf("--set %s: %w", set, err), s.nearestKey(err, key, config))
		}
	}
	return nil
}

// decodeStrict decodes YAML into config, a pointer to a struct, and returns an error for an unknown
// key. An empty file changes nothing, while the decoder by itself would clear config.
func decodeStrict(b []byte, config any) error {
	var value any
	if err := yaml.Unmarshal(b, &value); err == nil && value == nil {
		return nil
	}
	err := yaml.NewDecoder(bytes.NewReader(b), yaml.Strict()).Decode(config)
	if typeErr, ok := errors.AsType[*yaml.TypeError](err); ok && typeErr.Token != nil {
		pos := typeErr.Token.Position
		return fmt.Errorf(
			"[%d:%d] %q is no %s",
			pos.Line,
			pos.Column,
			typeErr.Token.Value,
			kindOf(typeErr.DstType),
		)
	}
	return err
}

func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return "whole number"
	case reflect.Float64:
		return "number"
	case reflect.Bool:
		return "true or false"
	default:
		return t.Kind().String()
	}
}

// nested returns a dotted key and its value as nested YAML: "a.b" and "1" as "a:\n  b: 1".
func nested(key, value string) []byte {
	var b []byte
	for depth, part := range strings.Split(key, ".") {
		b = fmt.Appendf(b, "%*s%s:\n", 2*depth, "", part)
	}
	return fmt.Appendf(b[:len(b)-1], " %s\n", value)
}

// nearestKey returns a hint for an error of decoding: the page that lists the keys and, if err is
// about an unknown key, the most similar known key. set is the key of --set, compared in full; it
// is empty for a key in a file, of which only the last part is known.
func (s *Settings) nearestKey(err error, set string, config any) string {
	list := s.Page + " lists the keys and their defaults"
	field, unknown := errors.AsType[*yaml.UnknownFieldError](err)
	if !unknown {
		return list
	}
	name := field.Token.Value
	nearest := ""
	distance := 1 + max(maxTypos, len(cmp.Or(set, name))/2)
	section := set[:strings.LastIndexByte(set, '.')+1]
	for _, key := range keys(reflect.TypeOf(config).Elem(), "") {
		last := key[strings.LastIndexByte(key, '.')+1:]
		d := text.Distance(cmp.Or(set, name), key)
		switch {
		case last == name:
			d = 0
		case set == "":
			d = text.Distance(name, last)
		}
		isSibling := nearest == "" && section != "" && strings.HasPrefix(key, section)
		if d < distance || isSibling {
			nearest = key
			distance = min(d, distance)
		}
	}
	if nearest == "" {
		return list
	}
	return fmt.Sprintf("did you mean %q? %s", nearest, list)
}

// keys returns the YAML keys of a struct type. The key of a field in a nested struct starts with
// the name of the nested struct and a dot.
func keys(t reflect.Type, prefix string) (out []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("yaml")
		if tag == "" {
			tag = f.Tag.Get("json")
		}
		if tag == "" {
			tag = strings.ToLower(f.Name)
		}
		name, option, _ := strings.Cut(tag, ",")
		switch {
		case option == "inline":
			out = append(out, keys(f.Type, prefix)...)
		case f.Type.Kind() == reflect.Struct:
			out = append(out, keys(f.Type, prefix+name+".")...)
		default:
			out = append(out, prefix+name)
		}
	}
	return out
}

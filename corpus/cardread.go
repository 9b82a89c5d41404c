package corpus

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// Front is what a card's front matter promises.
type Front struct {
	License string `yaml:"license"`
	Configs []struct {
		Name  string `yaml:"config_name"`
		Files []struct {
			Split string   `yaml:"split"`
			Paths []string `yaml:"path"`
		} `yaml:"data_files"`
	} `yaml:"configs"`
	Info []struct {
		Name   string `yaml:"config_name"`
		Splits []struct {
			Name string `yaml:"name"`
			Rows int64  `yaml:"num_examples"`
		} `yaml:"splits"`
		Download int64 `yaml:"download_size"`
	} `yaml:"dataset_info"`
}

const maxCard = 64 << 20

// ReadCard is the card of a corpus as it is written.
func ReadCard(fsys FS, dir string) ([]byte, error) {
	return ReadFile(fsys, filepath.Join(dir, CardName), maxCard)
}

// maxOpened bounds what may open a list or a map inside another one, of which a
// card needs none: reading YAML takes the square of how deep they lie.
const maxOpened = 1000

// ParseFront reads the front matter of a card that anybody may have written.
func ParseFront(b []byte) (*Front, error) {
	rest, ok := bytes.CutPrefix(b, []byte("---\n"))
	head, _, found := bytes.Cut(rest, []byte("\n---"))
	if !ok || !found {
		return &Front{}, nil
	}
	opened := 0
	for _, sign := range []string{"[", "{", "- -"} {
		opened += bytes.Count(head, []byte(sign))
	}
	if opened > maxOpened {
		return nil, fmt.Errorf("%d lists or maps inside others, more than %d", opened, maxOpened)
	}
	f := &Front{}
	return f, yaml.Unmarshal(head, f)
}

// ofFiles are the sections that a card writes of its own files. Plots are files
// too.
var ofFiles = []string{"Configs", "Columns", "Provenance", "Loading", "Training", "Publishing", "Licence", "Checksums", "Plots"}

// Carried is what the card of a corpus says of its rows and what a copy of them
// in other formats cannot know: how they came to be, and how far they are
// guarded and judged; and the Hub's word for the terms that it names, NoLicense where
// it names none.
func Carried(fsys FS, dir string) (of Section, license string, err error) {
	b, err := ReadCard(fsys, dir)
	if err != nil {
		return of, "", err
	}
	license = NoLicense
	if f, unread := ParseFront(b); unread == nil && f.License != "" {
		license = f.License
	}
	var kept []string
	for _, s := range bytes.Split(b, []byte("\n## "))[1:] {
		heading, _, _ := strings.Cut(string(s), "\n")
		if !slices.Contains(ofFiles, heading) {
			kept = append(kept, "### "+strings.TrimSpace(string(s)))
		}
	}
	return Section{
		Heading: "The corpus this was made from",
		Body: "<details>\n<summary>What its card says of all its rows, of which those above are here.</summary>\n\n" +
			strings.Join(kept, "\n\n") + "\n\n</details>",
	}, license, nil
}

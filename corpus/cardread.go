package corpus

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// Front is the YAML front matter of a dataset card.
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

// maxCardBytes is the maximum size in bytes of a dataset card (README.md) that is read.
const maxCardBytes = 64 << 20

// ReadCard returns the text of a corpus's card.
func ReadCard(fsys FS, dir string) ([]byte, error) {
	return ReadFile(fsys, filepath.Join(dir, CardName), maxCardBytes)
}

// maxNested is the maximum number of tokens in a card's front matter that may start a nested
// list or map. Cards need none, and the YAML parser takes quadratic time in the depth of
// nesting.
const maxNested = 1000

// ParseFront parses the front matter of a dataset card. It returns an empty Front if the card
// has none.
func ParseFront(b []byte) (*Front, error) {
	afterStart, hasStart := bytes.CutPrefix(b, []byte("---\n"))
	front, _, hasEnd := bytes.Cut(afterStart, []byte("\n---"))
	if !hasStart || !hasEnd {
		return &Front{}, nil
	}
	nested := 0
	for _, token := range []string{"[", "{", "- -"} {
		nested += bytes.Count(front, []byte(token))
	}
	if nested > maxNested {
		return nil, fmt.Errorf("%d lists or maps inside others, more than %d", nested, maxNested)
	}
	f := &Front{}
	return f, yaml.Unmarshal(front, f)
}

// fileSections are the headings of the sections of a card that describe files. SourceSection
// leaves them out, since a derived corpus has other files.
var fileSections = []string{"Configs", "Columns", "Provenance", "Loading", "Training", "Publishing", "Licence", "Checksums", "Plots"}

// SourceSection returns a section for the card of a corpus whose rows are copied from the corpus
// in dir. It contains the sections of the source's card that describe rows, such as how they
// were selected, guarded and judged. license is the licence of the source, NoLicense if its card
// has none.
func SourceSection(fsys FS, dir string) (section Section, license string, err error) {
	card, err := ReadCard(fsys, dir)
	if err != nil {
		return section, "", err
	}
	license = NoLicense
	if front, frontErr := ParseFront(card); frontErr == nil && front.License != "" {
		license = front.License
	}
	var texts []string
	for _, text := range bytes.Split(card, []byte("\n## "))[1:] {
		heading, _, _ := strings.Cut(string(text), "\n")
		if !slices.Contains(fileSections, heading) {
			texts = append(texts, "### "+strings.TrimSpace(string(text)))
		}
	}
	section = Section{
		Heading: "The corpus this was made from",
		Body: "<details>\n<summary>What its card says of all its rows, of which those above are here.</summary>\n\n" +
			strings.Join(texts, "\n\n") + "\n\n</details>",
	}
	return section, license, nil
}

package corpora

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
)

// ofFiles are the sections that a card writes of its own files. Plots are files
// too.
var ofFiles = []string{"Configs", "Columns", "Provenance", "Loading", "Publishing", "Licence", "Checksums", "Plots"}

// Carried is what the card of a corpus says of its rows and what a copy of them
// in other formats cannot know: how they came to be, how far they are guarded
// and judged, and the terms that they are given on.
func Carried(fsys FS, dir string) (license string, section Section, err error) {
	b, err := ReadFile(fsys, filepath.Join(dir, CardName), maxCard)
	if err != nil {
		return "", Section{}, err
	}
	license = NoLicense
	if f, err := readFront(b); err == nil && f.License != "" {
		license = f.License
	}
	var kept []string
	for _, s := range bytes.Split(b, []byte("\n## "))[1:] {
		heading, _, _ := strings.Cut(string(s), "\n")
		if !slices.Contains(ofFiles, heading) {
			kept = append(kept, "### "+strings.TrimSpace(string(s)))
		}
	}
	return license, Section{
		Heading: "The corpus this was made from",
		Body:    "What its card says of all its rows, of which those above are here.\n\n" + strings.Join(kept, "\n\n"),
	}, nil
}

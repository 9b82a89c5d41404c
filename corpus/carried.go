package corpus

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
)

// ofFiles are the sections that a card writes of its own files. Plots are files
// too.
var ofFiles = []string{"Configs", "Columns", "Provenance", "Loading", "Publishing", "Licence", "Checksums", "Plots"}

// Licensed is the Hub's word for the terms that the card of a corpus names;
// NoLicense where it names none.
func Licensed(fsys FS, dir string) (string, error) {
	b, err := ReadFile(fsys, filepath.Join(dir, CardName), maxCard)
	if err != nil {
		return "", err
	}
	if f, err := readFront(b); err == nil && f.License != "" {
		return f.License, nil
	}
	return NoLicense, nil
}

// Carried is what the card of a corpus says of its rows and what a copy of them
// in other formats cannot know: how they came to be, and how far they are
// guarded and judged.
func Carried(fsys FS, dir string) (Section, error) {
	b, err := ReadFile(fsys, filepath.Join(dir, CardName), maxCard)
	if err != nil {
		return Section{}, err
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
		Body:    "What its card says of all its rows, of which those above are here.\n\n" + strings.Join(kept, "\n\n"),
	}, nil
}

package mix

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/corpus"
)

// licenses are the terms that all sources name, and what the card says of them:
// nothing where no source names any. No terms stand for sources that differ.
func (w *mixer) licenses() (common string, said []corpus.Section) {
	const heading = "Licences of the sources"
	common = w.sources[0].license
	if slices.ContainsFunc(w.sources, func(s *source) bool { return s.license != common }) {
		return corpus.NoLicense, []corpus.Section{{Heading: heading, Body: w.differ()}}
	}
	if common == corpus.NoLicense {
		return common, nil
	}
	return common, []corpus.Section{{Heading: heading, Body: fmt.Sprintf("The cards of all %d sources name `%s`.", len(w.sources), common)}}
}

func (w *mixer) differ() string {
	var b strings.Builder
	b.WriteString("The sources are not given on the same terms. The rows of each stay under its own; tables/provenance.parquet names the source of every row.\n\n")
	b.WriteString("| corpus (sha256 of its manifest) | licence |\n|---|---|\n")
	for _, s := range w.sources {
		name := "`" + s.license + "`"
		if s.license == corpus.NoLicense {
			name = "none named"
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", s.SHA256, name)
	}
	return b.String()
}

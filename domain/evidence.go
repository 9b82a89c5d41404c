package domain

import (
	"cmp"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/internal/wrong"
)

// Evidence is a kind of data that the thinking of an agent may cite from the results of tools.
type Evidence string

// The kinds of evidence.
const (
	EvidenceID     Evidence = "id"     // words with digits, underscores or inner capitals, and long numbers
	EvidencePath   Evidence = "path"   // files and folders
	EvidenceLine   Evidence = "line"   // lines of a file, such as setup.py:12
	EvidenceNumber Evidence = "number" // numbers and amounts, but small counts
	EvidenceDate   Evidence = "date"
	EvidenceName   Evidence = "name"  // capitalised words within a sentence
	EvidenceQuote  Evidence = "quote" // several words in quotation marks
	// EvidenceCatalogue has the data of items in results with ids, prices, brands and properties.
	EvidenceCatalogue Evidence = "catalogue"
)

// evidenceKinds lists the kinds of evidence with the words for them in a rubric.
var evidenceKinds = []struct {
	kind  Evidence
	words string
}{
	{EvidenceID, "ids"},
	{EvidencePath, "paths"},
	{EvidenceLine, "lines of files"},
	{EvidenceNumber, "numbers and amounts"},
	{EvidenceDate, "dates"},
	{EvidenceName, "names"},
	{EvidenceQuote, "quoted words"},
	{EvidenceCatalogue, "ids, prices, brands and values"},
}

// The places in a rubric for the kinds of evidence and for the rivals of a domain.
const (
	evidenceField = "{evidence}"
	rivalsField   = "{rivals}"
)

// Cites returns the kinds of evidence of the domain. If its file names none, they are those of the
// domain base.
func (d *Domain) Cites() []Evidence {
	if len(d.Evidence) > 0 {
		return d.Evidence
	}
	return (*Set)(nil).ByName(Base).Evidence
}

// fill returns the instructions with the domain's evidence and rivals in the places for them.
func (d *Domain) fill(i Instructions) Instructions {
	var kinds []string
	for _, e := range evidenceKinds {
		if slices.Contains(d.Cites(), e.kind) {
			kinds = append(kinds, e.words)
		}
	}
	rivals := cmp.Or(d.Rivals, (*Set)(nil).ByName(Base).Rivals)
	fields := strings.NewReplacer(evidenceField, strings.Join(kinds, ", "), rivalsField, rivals)
	return Instructions{
		Task:  fields.Replace(i.Task),
		Rules: fields.Replace(i.Rules),
	}
}

// validateEvidence adds to bad what is wrong with the kinds of evidence and the rivals.
func (d *Domain) validateEvidence(bad *wrong.List) {
	var kinds []Evidence
	for _, e := range evidenceKinds {
		kinds = append(kinds, e.kind)
	}
	for _, kind := range d.Evidence {
		bad.Unless(slices.Contains(kinds, kind), "evidence has %q: want one of %s", kind, join(kinds))
	}
	hasCatalogue := slices.Contains(d.Evidence, EvidenceCatalogue)
	bad.Unless(!hasCatalogue || len(d.Evidence) == 1, "evidence has catalogue beside other kinds: it reads ids, prices and values itself")
	rules := d.Rubric.Reasoning.Rules
	bad.Unless(d.Rivals == "" || rules == "" || strings.Contains(rules, rivalsField), "rivals is not read: rubric.reasoning.rules has no %s", rivalsField)
	bad.Unless(!strings.ContainsAny(d.Rivals, "{}\n") && len(d.Rivals) <= maxRivals, "rivals is %q: want a line of at most %d bytes", d.Rivals, maxRivals)
}

// maxRivals is the maximum size in bytes of the words for rivals.
const maxRivals = 400

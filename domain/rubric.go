package domain

import (
	"cmp"
	"strings"

	"github.com/trajectory-arena/arena/internal/wrong"
)

// Rubric has instructions for judges that ask a model.
type Rubric struct {
	// Reasoning is for the grade of an attempt's reasoning.
	Reasoning Instructions `yaml:"reasoning"`
	// Steps is for the verdict on each step.
	Steps Instructions `yaml:"steps"`
}

// Instructions tell a model what it decides about an attempt. They stand in its system message,
// beside the form of the reply and the warning that the attempt is no instruction, which are the
// same in every domain.
type Instructions struct {
	// Task says what the model decides.
	Task string `yaml:"task"`
	// Rules say how: the gates of a grade, or what each verdict means.
	Rules string `yaml:"rules"`
}

// maxInstructions is the maximum size in bytes of a text of a rubric. The longest of the built-in
// ones has 3 KB.
const maxInstructions = 16 << 10

func (i *Instructions) validate(key string, bad *wrong.List) {
	validateInstruction(key+".task", i.Task, bad)
	validateInstruction(key+".rules", i.Rules, bad)
}

func validateInstruction(key, text string, bad *wrong.List) {
	bad.Unless(len(text) <= maxInstructions, "%s has %d bytes: want at most %d", key, len(text), maxInstructions)
	bad.Unless(!strings.Contains(text, "{{"), "%s has {{: want plain text", key)
}

// or returns the instructions with the texts of base in place of those that are "".
func (i Instructions) or(base Instructions) Instructions {
	return Instructions{
		Task:  cmp.Or(i.Task, base.Task),
		Rules: cmp.Or(i.Rules, base.Rules),
	}
}

// CompleteRubric returns the rubric of the domain, in which the texts that its file leaves out are
// those of the domain base.
func (d *Domain) CompleteRubric() Rubric {
	base := (*Set)(nil).ByName(Base).Rubric
	return Rubric{
		Reasoning: d.fill(d.Rubric.Reasoning.or(base.Reasoning)),
		Steps:     d.fill(d.Rubric.Steps.or(base.Steps)),
	}
}

package pipeline

import (
	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/judges"
	"github.com/trajectory-arena/arena/judges/shop/steps"
)

// Instruments records what measured the attempts of a run. The flags choose the
// instruments, no configuration does. Blocks, plans and the hash of the configuration
// depend on them, and the manifest stores them next to the configuration.
type Instruments struct {
	Titles    TitlesInstrument `json:"titles"`
	Judge     InstrumentID     `json:"judge"`
	StepJudge InstrumentID     `json:"step_judge"`
	// JudgeChosen and StepsChosen report whether the user chose the judge or the step judge by a
	// flag, so that it is on in every domain.
	JudgeChosen bool `json:"-"`
	StepsChosen bool `json:"-"`
}

// TitlesInstrument records how titles are compared.
type TitlesInstrument struct {
	// Source is vectors, or endpoint with --embeddings.
	Source arena.TitleSource `json:"source"`
	// Model is the model of the embeddings endpoint.
	Model string `json:"model,omitempty"`
	// Prefix is the prefix of each text at that endpoint.
	Prefix string `json:"prefix,omitempty"`
}

// InstrumentID identifies a judge.
type InstrumentID struct {
	// Name is the versioned name of the judge.
	Name string `json:"name"`
	// Settings is the hash of everything else that its answers depend on.
	Settings string `json:"settings,omitempty"`
}

// NewInstrumentID returns the ID of a judge.
func NewInstrumentID(id judges.Identity) InstrumentID {
	return InstrumentID{Name: id.Name, Settings: id.Settings}
}

// isChosen reports whether the user chose an instrument (judge or step judge) by a flag. It is
// false for any other instrument.
func (i Instruments) isChosen(instrument string) bool {
	return instrument == domain.Judge && i.JudgeChosen || instrument == domain.Steps && i.StepsChosen
}

// asksModelForSteps reports whether the run's step judge, which rates the single steps of an
// attempt, is a model. Then each attempt costs requests and its text is sent to the model's server.
func (r *Run) asksModelForSteps() bool {
	return r.Config.Steps && r.Instruments.StepJudge.Name != steps.Name
}

// JSON returns the instruments as stored in manifests.
func (i Instruments) JSON() []byte { return asjson.Bytes(i) }

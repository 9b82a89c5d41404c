package pipeline

import (
	"fmt"
	"slices"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/pipeline/finish"
)

// unit is the share of a corpus that one worker writes into one folder. The division into units
// depends on the data alone, so that the files do not depend on how many processes write them.
type unit struct {
	// Stream is the content of the part. A part of kto also has the pairs of pref,
	// which are made from the same attempts. A part of table attempts also has the
	// ledger's other tables except verdicts: together they take as long as verdicts.
	Stream corpus.Stream `json:"stream"`
	// Number counts the units of one stream.
	Number int `json:"number"`
	// Rows are positions of entries, with those of one problem next to each other. A
	// unit of rl has Problems instead, and tables have neither.
	Rows     []ref `json:"rows,omitempty"`
	Problems []int `json:"problems,omitempty"`
}

func (u unit) name() string {
	if u.Stream.Table != "" {
		return u.Stream.Table
	}
	return fmt.Sprintf("%s-%s-%05d", u.Stream.Config, u.Stream.Split, u.Number)
}

// A unit is the share of a corpus that one worker writes.
const (
	// maxUnit is the size, in bytes of text, at which a unit (the share of the corpus that one
	// worker writes) is full. It is the size of a row group of a Parquet file.
	maxUnit = 64 << 20
	// minUnit is the minimum size, in bytes of text, of a unit (the share of the corpus that one
	// worker writes), except for the last unit of a config and split. Opening a smaller file would
	// cost more than reading it.
	minUnit = 4 << 20
	// shards is the number of units (shares that one worker writes) into which the rows of a config
	// and split are divided, if limits on a unit's size allow it. Each unit is a file, so that
	// several readers of a trainer can read a file each.
	shards = 8
)

const (
	configSFT   = "sft"
	configRL    = "rl"
	configPref  = "pref"
	configKTO   = "kto"
	configSteps = "steps"
)

var profiles = map[string]string{
	configSFT:   corpus.ProfileHFJSON,
	configRL:    corpus.ProfileVerlRL,
	configPref:  corpus.ProfilePref,
	configKTO:   corpus.ProfileKTO,
	configSteps: corpus.ProfileStepwise,
}

func newStream(config, split string) corpus.Stream {
	return corpus.Stream{Config: config, Profile: profiles[config], Split: split}
}

// units divides the selected rows into units, the shares that one worker writes each, and returns
// them in the order in which workers take them. The largest are first, so that no worker begins a
// long one at the end.
func (g *grouper) units(selections []selection) []unit {
	out := []unit{
		{Stream: corpus.Stream{Table: finish.TableVerdicts}},
		{Stream: corpus.Stream{Table: finish.TableAttempts}},
	}
	for _, split := range []string{corpus.SplitTrain, corpus.SplitEval} {
		inSplit := slices.DeleteFunc(slices.Clone(selections), func(s selection) bool {
			return s.split != split
		})
		sftRows := func(s *selection) []chosen { return s.sft }
		out = append(out, divide(
			newStream(configKTO, split),
			inSplit,
			(*selection).rows,
		)...)
		out = append(out, divide(newStream(configSFT, split), inSplit, sftRows)...)
		if g.session.Config.Steps {
			out = append(out, divide(newStream(configSteps, split), inSplit, sftRows)...)
		}
		if problems := g.trainableProblems(split); len(problems) > 0 {
			out = append(out, unit{
				Stream:   newStream(configRL, split),
				Problems: problems,
			})
		}
	}
	return out
}

// trainableProblems returns the indexes of the problems that become rows of config rl in a split.
// An environment must be known in which problems of their domain (kind of task) can be played, and
// the guard must not drop them as too similar to protected ones.
func (g *grouper) trainableProblems(split string) []int {
	var out []int
	p := g.session.protection
	problems := g.session.day.Problems.All
	for i, pool := range p.Pools {
		d := g.session.domains[problems[i].Domain] // nil for a problem of a problems file
		isPlayable := d == nil || d.Outcome.From != domain.FromDeclared
		if splitOf(pool) == split && !p.Problems[i].Drop && isPlayable {
			out = append(out, i)
		}
	}
	return out
}

// divide divides the rows of one config and split into units (shares that one worker writes) of
// similar size in bytes of text. It keeps the rows of one problem in one unit. rows returns the
// rows of a selection in this config.
func divide(
	s corpus.Stream,
	selections []selection,
	rows func(*selection) []chosen,
) []unit {
	total := int64(0)
	for i := range selections {
		for _, c := range rows(&selections[i]) {
			total += c.bytes
		}
	}
	limit := min(max(total/shards, minUnit), maxUnit)

	var out []unit
	size := int64(0)
	for i := range selections {
		list := rows(&selections[i])
		if len(list) == 0 {
			continue
		}
		if len(out) == 0 || size >= limit {
			out = append(out, unit{Stream: s, Number: len(out)})
			size = 0
		}
		u := &out[len(out)-1]
		for _, c := range list {
			u.Rows = append(u.Rows, c.ref)
			size += c.bytes
		}
	}
	return out
}

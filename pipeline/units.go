package pipeline

import (
	"fmt"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/filters/habits"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/pipeline/planfile"
	"github.com/trajectory-arena/arena/pipeline/shuffle"
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
	// Line is the place of the unit's content in the file of the plan.
	Line planfile.Place `json:"line"`
	unitContent
}

// unitContent is what a unit consists of: positions of entries, with those of one problem next to each
// other. A unit of rl has Problems instead, and tables have neither.
type unitContent struct {
	Rows     []chosen `json:"rows,omitempty"`
	Problems []int    `json:"problems,omitempty"`
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

// eachUnit divides the selected rows into units, the shares that one worker writes each, and calls
// visit for them in the order in which workers take them. The largest are first, so that no worker
// begins a long one at the end.
func (g *grouper) eachUnit(visit func(*unit) error) error {
	for _, table := range []string{finish.TableVerdicts, finish.TableAttempts} {
		if err := visit(&unit{Stream: corpus.Stream{Table: table}}); err != nil {
			return err
		}
	}
	sftRows := func(s *selection) []chosen { return s.sft }
	if g.session.Config.Recorded {
		return g.divide(newStream(configSFT, corpus.SplitTrain), sftRows, visit)
	}
	for _, split := range []string{corpus.SplitTrain, corpus.SplitEval} {
		err := g.divide(newStream(configKTO, split), (*selection).rows, visit)
		if err == nil {
			err = g.divide(newStream(configSFT, split), sftRows, visit)
		}
		if err == nil && g.session.Config.Steps {
			err = g.divide(newStream(configSteps, split), sftRows, visit)
		}
		problems := g.trainableProblems(split)
		if err == nil && len(problems) > 0 {
			err = visit(&unit{Stream: newStream(configRL, split), unitContent: unitContent{Problems: problems}})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// eachSelection calls visit for the rows of each problem of a split, in the order of the problems.
func (g *grouper) eachSelection(split string, visit func(s *selection) error) error {
	for part := range shuffle.Partitions {
		var list []*selection
		err := g.Each(selectionStream, part, func(u *habits.Unpacker) {
			if s := unpackSelection(u); s.split == split {
				list = append(list, s)
			}
		})
		if err != nil {
			return err
		}
		slicesx.SortByKey(list, func(s *selection) int { return s.problem })
		for _, s := range list {
			if err := visit(s); err != nil {
				return err
			}
		}
	}
	return nil
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
// similar size in bytes of text, and calls visit for each. It keeps the rows of one problem in one
// unit. rows returns the rows of a selection in this config.
func (g *grouper) divide(stream corpus.Stream, rows func(*selection) []chosen, visit func(*unit) error) error {
	total := int64(0)
	err := g.eachSelection(stream.Split, func(s *selection) error {
		for _, c := range rows(s) {
			total += c.bytes
		}
		return nil
	})
	if err != nil {
		return err
	}
	limit := min(max(total/shards, minUnit), maxUnit)
	u := &unit{Stream: stream}
	size := int64(0)
	err = g.eachSelection(stream.Split, func(s *selection) error {
		list := rows(s)
		if len(list) > 0 && size >= limit {
			if err = visit(u); err != nil {
				return err
			}
			u = &unit{Stream: stream, Number: u.Number + 1}
			size = 0
		}
		u.Rows = append(u.Rows, list...)
		for _, c := range list {
			size += c.bytes
		}
		return nil
	})
	if err != nil || len(u.Rows) == 0 {
		return err
	}
	return visit(u)
}

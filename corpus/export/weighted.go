package export

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/rows"
)

// reasonNoTurn means that no turn of the attempt has weight 1: a judge found its step unneeded, or
// the author of the data masked it.
const reasonNoTurn = "no_turn_trains" // a judge found no step of the attempt needed, so that no turn has weight 1

// maxWeight is the maximum weight of a row, where the mean is 1. It is also the maximum of each
// factor that a row's groups contribute to its weight.
const maxWeight = 4

// balance computes the weights of the rows of a split, so that frequent agents, categories and
// difficulties do not dominate.
type balance struct {
	// usesGrade is set if the corpus's report on its judge says that the grade predicts outcomes.
	usesGrade bool
	// needed maps a session to whether a judge found each of its steps needed, from config steps.
	// difficulty maps a problem to its difficulty, from config rl. They are empty if the corpus
	// lacks the config.
	needed     map[string][]bool
	difficulty map[string]string
	// groupRows are the numbers of rows by group, kindGroups the numbers of groups by kind.
	groupRows  map[group]int
	kindGroups map[string]int
	rows       int
	// scale is the factor by which the mean weight is 1 before weights are limited. sum and
	// squares are the sums of the limited weights and of their squares.
	scale, sum, squares float64
}

// group identifies the attempts that have a property in common. kind is agent, category or
// difficulty, and value is, for example, the name of the category.
type group struct{ kind, value string }

// openWeighted opens a sink of rows with weights. It reads the split once before, since a weight
// depends on all rows.
func openWeighted(j *job, split string) (sink, error) {
	b := &balance{
		needed:     map[string][]bool{},
		difficulty: map[string]string{},
		groupRows:  map[group]int{},
		kindGroups: map[string]int{},
	}
	usesGrade, err := predictsOutcomes(j.feed)
	if err != nil {
		return nil, err
	}
	b.usesGrade = usesGrade
	if err := b.readLabels(j.feed, split); err != nil {
		return nil, err
	}
	if err := b.readRows(j.feed, split); err != nil {
		return nil, err
	}
	j.count.Effective = 0
	if b.squares > 0 {
		j.count.Effective = b.sum * b.sum / b.squares
	}
	return openRows(corpus.ProfileWeighted, b.convert)(j, split)
}

// maxReport is the maximum number of bytes of the report on the judge.
const maxReport = 64 << 20

// predictsOutcomes reports whether the corpus's report on its judge, reports/judges.json, states
// that the judge's grade predicts success (predicts.earned is true). It returns false if there is
// no report, as in a corpus of several sources.
func predictsOutcomes(f *feed) (bool, error) {
	b, err := corpus.ReadFile(f.fs, filepath.Join(f.dir, "reports", "judges.json"), maxReport)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return gjson.GetBytes(b, "predicts.earned").Bool(), err
}

// readLabels reads two properties of a split from other configs of the corpus: for each attempt
// whether a judge found its steps needed, and for each problem its difficulty.
func (b *balance) readLabels(f *feed, split string) error {
	for _, file := range f.manifest.Files {
		if file.Split != split {
			continue
		}
		path := filepath.Join(f.dir, filepath.FromSlash(file.Path))
		var err error
		switch file.Profile {
		case corpus.ProfileStepwise:
			err = corpus.ReadRows(f.fs, path, func(s *rows.Steps) error {
				b.needed[s.SessionID] = slices.Clone(s.Labels)
				return nil
			})
		case corpus.ProfileVerlRL:
			err = corpus.ReadRows(f.fs, path, func(r *rows.RL) error {
				b.difficulty[strings.Clone(r.ProblemID)] = strings.Clone(r.Difficulty)
				return nil
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readRows reads the attempts of a split, counts them by group (agent, category and difficulty),
// and computes the sums of their weights.
func (b *balance) readRows(f *feed, split string) error {
	var attempts []attempt
	err := f.readBatches(split, func(batch []row) error {
		for i := range batch {
			a := attempt{batch[i].sft.Scalars, batch[i].sft.ProblemID}
			attempts = append(attempts, a)
			b.add(&a)
		}
		return nil
	})
	if err != nil {
		return err
	}
	b.sumWeights(attempts)
	return nil
}

// attempt has the values of a row from which its training weight is computed: the row's
// single-valued columns and the id of its problem.
type attempt struct {
	rows.Scalars
	problem string
}

// groups returns the three groups that an attempt belongs to: by the owner of its agent, by the
// category of the problem, and by the problem's difficulty on the day. The owner is the agent's
// account (hotkey) or, if unknown, the agent's version; several accounts with one program are
// several owners.
func (b *balance) groups(a *attempt) []group {
	return []group{
		{"agent", cmp.Or(a.AgentHotkey, a.AgentVersion)},
		{"category", a.TaskType},
		{"difficulty", b.difficulty[a.problem]},
	}
}

func (b *balance) add(a *attempt) {
	b.rows++
	for _, g := range b.groups(a) {
		b.groupRows[g]++
		if b.groupRows[g] == 1 {
			b.kindGroups[g.kind]++
		}
	}
}

// sumWeights computes scale, sum and squares, by which the weights of single attempts are scaled to
// a mean of 1, from all attempts of the split.
func (b *balance) sumWeights(attempts []attempt) {
	total := 0.0
	for i := range attempts {
		total += b.rawWeight(&attempts[i])
	}
	b.scale = 1
	if total > 0 {
		b.scale = float64(len(attempts)) / total
	}
	for i := range attempts {
		w := b.weight(&attempts[i])
		b.sum += w
		b.squares += float64(w * w)
	}
}

// rawWeight returns the training weight of an attempt before it is scaled and limited. It
// multiplies: one over the number of turns, so that long attempts do not count more; the multiplier
// from the judge's grade, if there is one and grades predict outcomes; and for each kind of group
// (agent, category, difficulty) a factor, at most maxWeight, that gives all groups of the kind
// equal total weights.
func (b *balance) rawWeight(a *attempt) float64 {
	w := 1 / float64(max(1, a.NSteps))
	if a.JudgeMultiplier != nil && b.usesGrade {
		w *= *a.JudgeMultiplier
	}
	for _, g := range b.groups(a) {
		w *= min(maxWeight, float64(b.rows)/float64(b.kindGroups[g.kind]*b.groupRows[g]))
	}
	return w
}

func (b *balance) weight(a *attempt) float64 {
	return math.Min(maxWeight, b.scale*b.rawWeight(a))
}

// convert returns the row with its weight. Turns that a judge found unneeded, or that the
// author of the data masked, have weight 0 in the messages, all others 1. The error is a
// *chat.Unfit if no turn has weight 1.
func (b *balance) convert(r *row) ([]rows.Weighted, error) {
	weight := b.weight(&attempt{r.sft.Scalars, r.sft.ProblemID})
	out := rows.Weighted{Weight: weight, SFT: *r.sft}
	out.Messages = slices.Clone(r.sft.Messages)
	needed := b.needed[r.sft.SessionID]
	for i, m := range chat.Unescape(r.messages) {
		if m.Role != chat.Assistant {
			continue
		}
		turn := len(out.Train)
		trains := (turn >= len(needed) || needed[turn]) && !m.IsMasked()
		out.Train = append(out.Train, trains)
		turnWeight := 0
		if trains {
			turnWeight = 1
		}
		var err error
		out.Messages[i], err = encodeWeighted(m, turnWeight)
		if err != nil {
			return nil, err
		}
	}
	if !slices.Contains(out.Train, true) {
		return nil, &chat.Unfit{Reason: reasonNoTurn}
	}
	return []rows.Weighted{out}, nil
}

// weightSections returns the card's sections on weights, with the effective sample size of the
// train split. There are none if no profile has weights.
func weightSections(counts []Count) []corpus.Section {
	var sections []corpus.Section
	for _, c := range counts {
		if c.Effective == 0 || c.Split != corpus.SplitTrain {
			continue
		}
		body := fmt.Sprintf("Config `%s`: %d rows, drawn by their weights, tell as much as %.0f of equal weight (effective sample size). A weight is one over the turns, times the grade's factor if grades predict outcomes (reports/judges.json), times what makes agents' owners, categories and difficulties count alike; the mean is 1 before weights are bounded by %d.",
			c.Profile, c.Rows, c.Effective, maxWeight)
		sections = append(sections, corpus.Section{Heading: "Weights", Body: body})
	}
	return sections
}

package export

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/rows"
)

// profileWeighted is the profile of rows that say what of them trains, and how much.
const profileWeighted = "sft_weighted"

// reasonNoTurn is why an attempt has nothing to learn from: no step of it was needed.
const reasonNoTurn = "no_turn_trains"

// mostWeight bounds a weight and each of its factors: no row counts more than so
// many mean ones, however rare its kind is.
const mostWeight = 4

// balance is what the rows of one split are weighed by.
type balance struct {
	// needed are the step verdicts of config steps by session, difficulty the buckets
	// of config rl by problem; empty where the corpus has no such config.
	needed     map[string][]bool
	difficulty map[string]string
	// groups count rows by kind of group and group, kinds the groups of each kind.
	groups map[[2]string]int
	kinds  map[string]int
	rows   int
	// scale makes the mean weight 1 before it is bounded; sum and squares are those
	// of the bounded weights.
	scale, sum, squares float64
}

// openWeighted reads the split once for its balance before its rows are written.
func openWeighted(j *job, split string) (sink, error) {
	b := &balance{needed: map[string][]bool{}, difficulty: map[string]string{}, groups: map[[2]string]int{}, kinds: map[string]int{}}
	if err := b.read(j.feed, split); err != nil {
		return nil, err
	}
	if j.count.Effective = 0; b.squares > 0 {
		j.count.Effective = b.sum * b.sum / b.squares
	}
	return openRows(profileWeighted, b.weigh)(j, split)
}

func (b *balance) read(f *feed, split string) error {
	for _, file := range f.from.Files {
		var err error
		switch path := filepath.Join(f.dir, filepath.FromSlash(file.Path)); {
		case file.Split != split:
		case file.Profile == corpus.ProfileStepwise:
			err = corpus.Rows(f.fs, path, func(s *rows.Steps) error {
				b.needed[s.SessionID] = slices.Clone(s.Labels)
				return nil
			})
		case file.Profile == corpus.ProfileVerlRL:
			err = corpus.Rows(f.fs, path, func(r *rows.RL) error {
				b.difficulty[strings.Clone(r.ProblemID)] = strings.Clone(r.Difficulty)
				return nil
			})
		}
		if err != nil {
			return err
		}
	}
	var all []rows.Scalars
	var problems []string
	err := f.raw(split, func(batch []row) error {
		for i := range batch {
			s := batch[i].sft
			all, problems = append(all, s.Scalars), append(problems, s.ProblemID)
			b.add(&s.Scalars, s.ProblemID)
		}
		return nil
	})
	b.settle(all, problems)
	return err
}

// groupsOf are the groups of an attempt: whose agent it is (accounts that run one program
// are not known to be one), what kind of task, and how hard the problem was on the day.
func (b *balance) groupsOf(s *rows.Scalars, problem string) [][2]string {
	return [][2]string{
		{"agent", cmp.Or(s.AgentHotkey, s.AgentVersion)}, {"category", s.TaskType}, {"difficulty", b.difficulty[problem]},
	}
}

func (b *balance) add(s *rows.Scalars, problem string) {
	b.rows++
	for _, g := range b.groupsOf(s, problem) {
		if b.groups[g]++; b.groups[g] == 1 {
			b.kinds[g[0]]++
		}
	}
}

// settle finds the scale and the effective number of rows.
func (b *balance) settle(all []rows.Scalars, problems []string) {
	b.scale = 1
	total := 0.0
	for i := range all {
		total += b.raw(&all[i], problems[i])
	}
	if total > 0 {
		b.scale = float64(len(all)) / total
	}
	for i := range all {
		w := b.weight(&all[i], problems[i])
		b.sum, b.squares = b.sum+w, b.squares+float64(w*w)
	}
}

// raw is the weight before it is scaled and bounded: one over the turns, so that
// long attempts do not count by their length; the grade's factor; and for each kind
// of group as much as makes its groups equal, within the bound.
func (b *balance) raw(s *rows.Scalars, problem string) float64 {
	w := 1 / float64(max(1, s.NSteps))
	if s.JudgeMultiplier != nil {
		w *= *s.JudgeMultiplier
	}
	for _, g := range b.groupsOf(s, problem) {
		w *= min(mostWeight, float64(b.rows)/float64(b.kinds[g[0]]*b.groups[g]))
	}
	return w
}

func (b *balance) weight(s *rows.Scalars, problem string) float64 {
	return math.Min(mostWeight, b.scale*b.raw(s, problem))
}

// weigh makes the row: each of the model's turns that a step verdict calls unneeded
// is context, and so is told from the others by its weight.
func (b *balance) weigh(r *row) ([]rows.Weighted, error) {
	out := rows.Weighted{Weight: b.weight(&r.sft.Scalars, r.sft.ProblemID), SFT: *r.sft}
	needed := b.needed[r.sft.SessionID]
	out.Messages = slices.Clone(r.sft.Messages)
	for i, m := range chat.Unescape(r.messages) {
		if m.Role != chat.Assistant {
			continue
		}
		turn, weight := len(out.Train), 0
		out.Train = append(out.Train, turn >= len(needed) || needed[turn])
		if out.Train[turn] {
			weight = 1
		}
		var err error
		if out.Messages[i], err = weighted(m, weight); err != nil {
			return nil, err
		}
	}
	if !slices.Contains(out.Train, true) {
		return nil, &chat.Unfit{Reason: reasonNoTurn}
	}
	return []rows.Weighted{out}, nil
}

// weights says on the card how many rows of equal weight the weighted ones stand for.
func weights(counts []Count) (out []corpus.Section) {
	for _, c := range counts {
		if c.Effective > 0 && c.Split == corpus.SplitTrain {
			out = append(out, corpus.Section{Heading: "Weights", Body: fmt.Sprintf("Config `%s`: %d rows, drawn by their weights, tell as much as %.0f of equal weight (effective sample size). A weight is one over the turns, times the grade's factor, times what makes agents' owners, categories and difficulties count alike; the mean is 1 before weights are bounded by %d.",
				c.Profile, c.Rows, c.Effective, mostWeight)})
		}
	}
	return out
}

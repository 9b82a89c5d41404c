package corpus

import (
	"maps"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/corpus/trainers"
)

// trained are the train splits that a trainer's block can be given for, in the
// order of their configs.
func trained(shards []placed) []trainers.Rows {
	var out []trainers.Rows
	for _, s := range shards {
		if s.Config == "" || s.Split != SplitTrain {
			continue
		}
		of := func(r trainers.Rows) bool { return r.Config == s.Config }
		i := slices.IndexFunc(out, of)
		if i < 0 {
			i, out = len(out), append(out, trainers.Rows{Profile: s.Profile, Config: s.Config})
		}
		if s.Longest.Tokens > out[i].Longest {
			out[i].Longest, out[i].Counter = s.Longest.Tokens, s.Longest.Counter
		}
	}
	slices.SortFunc(out, func(a, b trainers.Rows) int { return strings.Compare(a.Config, b.Config) })
	return out
}

// training is what to paste into the trainers of the corpus's rows.
func training(shards []placed) string {
	var b strings.Builder
	for _, r := range trained(shards) {
		b.WriteString(trainers.Markdown(r))
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n## Training\n\nWhat a block leaves out is the trainer's own default. The scripts for TRL SFT, DPO, KTO and reward and the YAML for LLaMA-Factory were run for two steps on a tiny model; of axolotl and verl, what prepares the rows; GRPO and verl's loop were not run as they stand here.\n" + b.String()
}

// addHelpers puts the files that the blocks name beside rows that have a block.
func (a *Assembly) addHelpers(shards []placed) {
	if training(shards) == "" {
		return
	}
	extra := map[string][]byte{trainers.TemplateName: trainers.ChatTemplate, trainers.CheckName: trainers.Check}
	maps.Copy(extra, a.Extra)
	a.Extra = extra
}

// Package trainers writes what a user pastes into a trainer to learn from the
// rows of a profile: a whole script, configuration or command, in which the
// trainer's own defaults lose no row, no turn and no reasoning.
package trainers

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// TemplateName is the file of ChatTemplate in a corpus.
const TemplateName = "chat_template.jinja"

// ChatTemplate is a chat template for models that know <|im_start|> and
// <|im_end|>. It keeps every reasoning, call and result, marks what is learned
// from for assistant masks, and renders turns one by one as it does together.
//
//go:embed chat_template.jinja
var ChatTemplate []byte

// CheckName is the file of Check in a corpus.
const CheckName = "training_check.py"

// Check is what the blocks for TRL call before the first step.
//
//go:embed training_check.py
var Check []byte

// Rows are what a block is written for: one config of a corpus.
type Rows struct {
	// Profile is the encoding of the rows and Config what the card calls them.
	Profile, Config string
	// Longest are the most tokens of a row by Counter, 0 where none was counted.
	Longest int64
	Counter string
}

// Block is what to paste for one trainer.
type Block struct {
	// Trainer is its name; Language that of Text, as Markdown has it.
	Trainer, Language, Text string
}

// files are the blocks, named PROFILE.NUMBER.TRAINER.ENDING; what several of
// them share is in common.
//
//go:embed blocks
var files embed.FS

// languages are those of the endings of blocks.
var languages = map[string]string{"py": "python", "yaml": "yaml", "sh": "bash"}

// names are the trainers as they write themselves, by the names of their files.
var names = map[string]string{
	"axolotl": "axolotl 0.19", "dpo": "TRL 1.16 DPOTrainer", "grpo": "TRL 1.16 GRPOTrainer", "kto": "TRL 1.16 KTOTrainer",
	"llamafactory": "LLaMA-Factory 0.9.5", "reward": "TRL 1.16 RewardTrainer", "sft": "TRL 1.16 SFTTrainer", "verl": "verl 0.9.1",
}

// Of gives the blocks of a profile's rows; none where no trainer was tried.
func Of(r Rows) []Block {
	var out []Block
	found, _ := fs.Glob(files, "blocks/"+r.Profile+".*") // no profile has a name that is no pattern
	for _, name := range found {
		parts := strings.Split(name, ".")
		out = append(out, Block{Trainer: names[parts[2]], Language: languages[parts[3]], Text: r.fill(path.Base(name))})
	}
	return out
}

// fill writes a block for the rows: @{…}@ is a figure of theirs, or a file that
// several blocks share.
func (r Rows) fill(name string) string {
	text := read(name)
	if shared, is := strings.CutPrefix(strings.TrimSuffix(text, "}@"), "@{common/"); is {
		text = read("common/" + shared)
	}
	return strings.NewReplacer("@{config}@", r.Config, "@{length}@", strconv.FormatInt(r.Length(), 10), "@{why}@", r.Why()).Replace(text)
}

func read(name string) string {
	b, err := files.ReadFile("blocks/" + name)
	if err != nil { // blocks name only what is embedded
		panic(err)
	}
	return string(b)
}

// Markdown is the blocks under each other, with what their length stands on.
func Markdown(r Rows) string {
	var b strings.Builder
	for _, block := range Of(r) {
		fmt.Fprintf(&b, "\n%s, config `%s`:\n\n```%s\n%s```\n", block.Trainer, r.Config, block.Language, block.Text)
	}
	return b.String()
}

// LongestAttempt is the subnet's own limit of an attempt in tokens: what stands
// in where no rows were counted.
const LongestAttempt = 14_336

// Estimate is the counter of rows that no tokenizer counted.
const Estimate = "bytes4"

// margin is the share of tokens that a model's own rendering of a row may have
// above its count: four bytes a token understate the vocabularies that were
// tried by 7 to 25 %, and a counted text lacks only the marks of turns.
func (r Rows) margin() int64 {
	if cmp.Or(r.Counter, Estimate) == Estimate {
		return 35
	}
	return 5
}

// Length is the number of tokens that no row passes: the longest with its
// margin and 256 for marks of turns, rounded up to a multiple of 1,024.
func (r Rows) Length() int64 {
	const step, marks = 1024, 256
	most := cmp.Or(r.Longest, LongestAttempt)
	return (most*(100+r.margin())/100 + marks + step - 1) / step * step
}

// Why says what Length stands on.
func (r Rows) Why() string {
	if r.Longest == 0 {
		return fmt.Sprintf("an attempt has at most %d tokens; with %d %% of room", LongestAttempt, r.margin())
	}
	return fmt.Sprintf("the longest row has %d tokens by %s; with %d %% of room", r.Longest, r.Counter, r.margin())
}

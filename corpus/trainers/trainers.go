// Package trainers writes blocks for users to paste into a trainer: a complete script,
// configuration or command for the rows of a profile, with settings under which the
// trainer loses no row, no turn and no reasoning.
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

// TemplateName is the file name of ChatTemplate in a corpus.
const TemplateName = "chat_template.jinja"

// ChatTemplate is a chat template for models that know <|im_start|> and <|im_end|>. It
// keeps all reasoning, calls and results, marks the text in the loss for assistant masks,
// and renders single turns as it renders them together.
//
//go:embed chat_template.jinja
var ChatTemplate []byte

// CheckName is the file name of Check in a corpus.
const CheckName = "training_check.py"

// Check is the Python module that blocks for TRL call before the first step.
//
//go:embed training_check.py
var Check []byte

// Rows describes the rows of one config of a corpus, for which blocks are written.
type Rows struct {
	// Profile is the encoding of the rows, Config the name of the config on the card.
	Profile, Config string
	// Longest is the maximum number of tokens of a row by Counter, 0 if unknown.
	Longest int64
	Counter string
}

// Block is the text to paste for one trainer.
type Block struct {
	// Trainer is the trainer's name and version, Language the Markdown language of Text.
	Trainer, Language, Text string
}

// files are the templates of blocks, named PROFILE.NUMBER.TRAINER.ENDING. Templates that
// several profiles share are in the folder common.
//
//go:embed blocks
var files embed.FS

// languages maps the file endings of templates to the language names of Markdown code blocks.
var languages = map[string]string{"py": "python", "yaml": "yaml", "sh": "bash"}

// trainerNames maps the TRAINER part of a template's file name to the trainer's name and version.
var trainerNames = map[string]string{
	"axolotl":      "axolotl 0.19",
	"dpo":          "TRL 1.16 DPOTrainer",
	"grpo":         "TRL 1.16 GRPOTrainer",
	"kto":          "TRL 1.16 KTOTrainer",
	"llamafactory": "LLaMA-Factory 0.9.5",
	"reward":       "TRL 1.16 RewardTrainer",
	"sft":          "TRL 1.16 SFTTrainer",
	"verl":         "verl 0.9.1",
}

// Blocks returns the blocks for rows, none if no trainer was tested with their profile.
func Blocks(r Rows) []Block {
	paths, err := fs.Glob(files, "blocks/"+r.Profile+".*")
	if err != nil {
		return nil // the name of a profile is never a bad pattern
	}
	var blocks []Block
	for _, p := range paths {
		name := path.Base(p)
		parts := strings.Split(name, ".")
		trainer := parts[2]
		ending := parts[3]
		blocks = append(blocks, Block{
			Trainer:  trainerNames[trainer],
			Language: languages[ending],
			Text:     r.fill(name),
		})
	}
	return blocks
}

// fill returns the text of the template named name with its placeholders replaced: @{config}@,
// @{length}@ and @{why}@. A template that consists of @{common/NAME}@ stands for the shared
// template of that name.
func (r Rows) fill(name string) string {
	text := readFile(name)
	if common, ok := strings.CutPrefix(strings.TrimSuffix(text, "}@"), "@{common/"); ok {
		text = readFile("common/" + common)
	}
	placeholders := strings.NewReplacer(
		"@{config}@", r.Config,
		"@{length}@", strconv.FormatInt(r.Length(), 10),
		"@{why}@", r.LengthReason(),
	)
	return placeholders.Replace(text)
}

func readFile(name string) string {
	b, err := files.ReadFile("blocks/" + name)
	if err != nil {
		panic(err) // only embedded files are read
	}
	return string(b)
}

// Markdown returns the blocks for rows as they appear on a card.
func Markdown(r Rows) string {
	var b strings.Builder
	for _, block := range Blocks(r) {
		fmt.Fprintf(&b, "\n%s, config `%s`:\n\n```%s\n%s```\n", block.Trainer, r.Config, block.Language, block.Text)
	}
	return b.String()
}

// LongestAttempt is the subnet's limit of an attempt in tokens. It replaces Rows.Longest
// if that is unknown.
const LongestAttempt = 14_336

// Estimate is the name of the counter that estimates tokens from bytes.
const Estimate = "bytes4"

// marginPercent returns the percentage that is added to a row's number of tokens to bound what
// the model's tokenizer counts. It is 35 for the estimate of four bytes per token, which is 7 to
// 25 % too low for the tested vocabularies. It is 5 for a count by a tokenizer, which lacks only
// the tokens that mark turns.
func (r Rows) marginPercent() int64 {
	if cmp.Or(r.Counter, Estimate) == Estimate {
		return 35
	}
	return 5
}

// Length returns a number of tokens that no row exceeds: Longest with its margin and 256
// tokens that mark turns, rounded up to a multiple of 1,024.
func (r Rows) Length() int64 {
	const (
		multiple   = 1024
		turnTokens = 256
	)
	longest := cmp.Or(r.Longest, LongestAttempt)
	n := longest*(100+r.marginPercent())/100 + turnTokens
	return (n + multiple - 1) / multiple * multiple
}

// LengthReason returns a phrase that explains Length, for a comment in a block.
func (r Rows) LengthReason() string {
	if r.Longest == 0 {
		return fmt.Sprintf("an attempt has at most %d tokens; with %d %% of room", LongestAttempt, r.marginPercent())
	}
	return fmt.Sprintf("the longest row has %d tokens by %s; with %d %% of room", r.Longest, r.Counter, r.marginPercent())
}

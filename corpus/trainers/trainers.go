// Package trainers writes blocks for users to paste into a trainer: a complete script,
// configuration or command for the rows of a profile, with settings under which the
// trainer loses no row, no turn and no reasoning.
package trainers

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"strings"
	"text/template/parse"
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
	// Train is the number of rows of the train split, 0 if unknown.
	Train int64
	// HasEval reports whether the config has an eval split.
	HasEval bool
}

// Block is the text to paste for one trainer.
type Block struct {
	// Trainer is the trainer's name and version, Language the Markdown language of Text.
	Trainer, Language, Text string
}

// files are the templates of the code to paste that loads an export into a training program. They
// are named PROFILE.NUMBER.TRAINER.ENDING. Templates that several profiles share are in the folder
// common.
//
//go:embed blocks
var files embed.FS

// templates maps the name of each parsed template, a file in files or a part that such a file
// defines, to the template. Fields and conditions are between @{ and }@, which no training code
// contains.
var templates = parseTemplates()

func parseTemplates() map[string]*parse.Tree {
	trees := map[string]*parse.Tree{}
	err := fs.WalkDir(files, "blocks", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		parsed, err := parse.Parse(path.Base(name), string(text), "@{", "}@")
		maps.Copy(trees, parsed)
		return err
	})
	if err != nil {
		panic(err) // the files are part of the program, and a test fills each
	}
	return trees
}

// languages maps the file endings of templates to the names of languages in Markdown code blocks,
// such as py to python.
var languages = map[string]string{"py": "python", "yaml": "yaml", "sh": "bash"}

// trainerNames maps the TRAINER part of a template's file name to the trainer's name and version.
var trainerNames = map[string]string{
	"axolotl":      "axolotl 0.21",
	"dpo":          "TRL 1.16 DPOTrainer",
	"grpo":         "TRL 1.16 GRPOTrainer",
	"kto":          "TRL 1.16 KTOTrainer",
	"llamafactory": "LLaMA-Factory 0.9.5",
	"reward":       "TRL 1.16 RewardTrainer",
	"sft":          "TRL 1.16 SFTTrainer",
	"swift":        "ms-swift 4.6",
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

// fill returns the text of the template with this name (code to paste for loading an export), with
// its fields replaced by the values of the training rows r.
func (r Rows) fill(name string) string {
	var b strings.Builder
	write(&b, templates[name].Root, map[string]any{
		"AttemptLength": r.AttemptLength(),
		"Batch":         r.Batch(),
		"Config":        r.Config,
		"HasEval":       r.HasEval,
		"HasTools":      r.HasTools(),
		"Length":        r.Length(),
		"LengthReason":  r.LengthReason(),
	})
	return b.String()
}

// write appends a part of a template to b, with fields replaced by values. It supports text,
// fields, conditions and calls of other templates. The library text/template supports more and
// looks up methods by name, for which the linker would keep every exported method of the program:
// 13 MB.
func write(b *strings.Builder, node parse.Node, values map[string]any) {
	switch n := node.(type) {
	case *parse.ListNode:
		if n == nil {
			return
		}
		for _, part := range n.Nodes {
			write(b, part, values)
		}
	case *parse.TextNode:
		b.Write(n.Text)
	case *parse.ActionNode:
		fmt.Fprint(b, values[field(n.Pipe)])
	case *parse.IfNode:
		if values[field(n.Pipe)] == true {
			write(b, n.List, values)
		} else {
			write(b, n.ElseList, values)
		}
	case *parse.TemplateNode:
		write(b, templates[n.Name].Root, values)
	default:
		panic(fmt.Sprintf("template %s: %T is not supported", node, node))
	}
}

// field returns the name of the field in a template's action or condition, such as Config for
// @{.Config}@. It panics if the action is anything but a field.
func field(p *parse.PipeNode) string {
	name, ok := p.Cmds[0].Args[0].(*parse.FieldNode)
	if !ok {
		panic(fmt.Sprintf("template %s: only a field is supported", p))
	}
	return name.Ident[0]
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

// HasTools reports whether the rows have definitions of tools and weights of messages. Rows of
// profile text have both in their text alone.
func (r Rows) HasTools() bool { return r.Profile != "text" }

// Batch returns the number of rows of a step: 8, or all rows if there are fewer.
func (r Rows) Batch() int64 {
	const enough = 8
	return min(enough, cmp.Or(r.Train, enough))
}

// AttemptLength returns a number of tokens that no attempt exceeds.
func (Rows) AttemptLength() int64 { return Rows{}.Length() }

// marginPercent returns the percentage that is added to a row's number of tokens to bound what
// the model's tokenizer counts. It is 45 for the estimate of four bytes per token: rows have 1.14
// to 1.37 times as many tokens by Qwen3's vocabulary. It is 5 for a count by a tokenizer, which
// lacks only the tokens that mark turns.
func (r Rows) marginPercent() int64 {
	if cmp.Or(r.Counter, Estimate) == Estimate {
		return 45
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

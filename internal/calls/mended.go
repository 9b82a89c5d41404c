// Package calls reads the tool calls that models write as text, and the ids in the
// arguments of calls. Mended repairs whatever has one obvious meaning, and is used for
// filtering. Students are graded by package student/dialect instead, which reads strictly by the
// rules of the harness.
package calls

import (
	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/lenient"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// Reading is the parsed content of one message.
type Reading struct {
	// Think is the reasoning. Text is what is addressed to the customer. Several blocks of one
	// kind are joined by line breaks.
	Think string
	Text  string
	Calls []arena.Call
	// Results are the tool results that the message quotes, in order.
	Results []Result
	// Repairs and Faults are codes, each at most once.
	Repairs []string
	Faults  []string
}

// Result is one tool result. ID is the id of the answered call. It is empty in dialects in which
// results have the order of the calls.
type Result struct {
	ID      string
	Content arena.Raw
}

// The codes in Reading.Repairs.
const (
	RepairHermes         = "hermes_objects"
	RepairLists          = "several_lists"
	RepairReAct          = "react_lines"
	RepairFence          = "fenced_json"
	RepairBare           = "bare_json"
	RepairThinkCall      = "calls_in_think"
	RepairReasoning      = "calls_in_reasoning"
	RepairSplit          = "split_by_think"
	RepairTag            = "loose_tag"
	RepairThink          = "unclosed_think"
	RepairQuotes         = "single_quotes"
	RepairCommas         = "trailing_commas"
	RepairLiterals       = "python_literals"
	RepairKeys           = "unquoted_keys"
	RepairControl        = "control_characters"
	RepairClosers        = "missing_closers"
	RepairArgumentsText  = "arguments_as_text"
	RepairWords          = "words_as_input"
	RepairLaterResults   = "results_in_next_step"
	RepairFunctionNested = "nested_function"
)

// The codes in Reading.Faults.
const (
	FaultCall      = "unreadable_call"      // a call in text cannot be read
	FaultArguments = "unreadable_arguments" // a call's arguments cannot be read
	FaultName      = "call_without_name"    // a call names no tool
	FaultOrphan    = "result_without_call"  // a tool result answers no call
	FaultDeep      = "nested_too_deep"      // calls are nested deeper than is read
	FaultLong      = "message_too_long"     // a message is longer than is read for calls
)

// MaxDepth is the maximum depth of nested JSON in a call. Arguments of known tools have depth
// three. Anything deeper than MaxDepth is an attack on readers.
const MaxDepth = 64

// MaxText is the maximum length of a message in bytes. It is several times the longest dialogue
// that fits into a training context.
const MaxText = 256 << 10

// maxBlocks is the maximum nesting depth of thinking blocks that contain calls.
const maxBlocks = 8

// Mended reads one message in any of the dialects in which models write calls. It splits the
// message into thinking, text, tool calls and quoted results. It repairs whatever has one
// obvious meaning and lists each repair. Everything else is a fault; nothing is guessed.
func Mended(text string) Reading {
	var r Reader
	return *r.Read(text)
}

// Reader reads messages one after another and reuses its memory.
type Reader struct {
	Reading
	skipCalls bool
	level     int
}

// Read reads a message like Mended. The result is valid until the next call of Read. Its strings
// are parts of the message and remain valid.
func (r *Reader) Read(text string) *Reading {
	r.Reading = Reading{
		Calls:   r.Calls[:0],
		Results: r.Results[:0],
		Repairs: r.Repairs[:0],
		Faults:  r.Faults[:0],
	}
	if len(text) > MaxText {
		r.fault(FaultLong)
	} else {
		r.message(text)
	}
	return &r.Reading
}

// SplitThink splits a text into its thinking and its other words. It does not read calls; the
// text has none, or they are recorded elsewhere.
func SplitThink(text string) (think, words string) {
	r := Reader{skipCalls: true}
	r.message(text[:min(len(text), MaxText)])
	return r.Think, r.Text
}

func (r *Reader) repair(word string) { r.Repairs = slicesx.AppendUnique(r.Repairs, word) }
func (r *Reader) fault(word string)  { r.Faults = slicesx.AppendUnique(r.Faults, word) }

func (r *Reader) addRepairs(m lenient.Repairs) {
	for _, word := range mendWordsOf(m) {
		r.repair(word)
	}
}

// mendWordsOf returns the names of repairs of a model's JSON.
func mendWordsOf(m lenient.Repairs) (words []string) {
	for i, word := range mendWords {
		if m&(1<<i) != 0 {
			words = append(words, word)
		}
	}
	return words
}

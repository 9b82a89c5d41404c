// Package calls reads the tool calls that models write as text, and what the
// arguments of a call name. Mended is what a filter takes for a call after mending
// what has one obvious meaning. What a student is graded by is read strictly, by the
// rules of its harness, in student/dialect.
package calls

import (
	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/lenient"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// Reading is the content of one message in normal form.
type Reading struct {
	// Think is the reasoning, Text what is said aloud; several blocks of one
	// kind are joined by a line break.
	Think string
	Text  string
	Calls []arena.Call
	// Results are tool results quoted in the message, in order.
	Results []Result
	// Repairs and Faults are stable snake_case words, each at most once.
	Repairs []string
	Faults  []string
}

// Result is one tool result. ID names the call it answers; empty where the
// dialect answers by order.
type Result struct {
	ID      string
	Content arena.Raw
}

// The repairs that a reading can name.
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
	RepairLaterResults   = "results_in_next_step"
	RepairFunctionNested = "nested_function"
)

// The faults that a reading can name.
const (
	FaultCall      = "unreadable_call"      // a call in text cannot be read
	FaultArguments = "unreadable_arguments" // a call's arguments cannot be read
	FaultName      = "call_without_name"    // a call names no tool
	FaultOrphan    = "result_without_call"  // a tool result answers no call
	FaultDeep      = "nested_too_deep"      // calls are nested deeper than is read
	FaultLong      = "message_too_long"     // a message is longer than is read for calls
)

// MaxDepth is how deep the JSON of a call may nest. Arguments of shopping
// tools nest three deep; what nests deeper than this is an attack on readers.
const MaxDepth = 64

// MaxText is how long a message may be, in bytes: several times the longest
// dialogue that fits a training context.
const MaxText = 256 << 10

// maxBlocks is how deep thinking with calls in it may hold more of its kind.
const maxBlocks = 8

// Mended reads one message in any of the dialects in which models write calls:
// thinking, words and OpenAI tool calls with a JSON object as arguments. It mends
// what has one obvious meaning and names every repair; what has none is a fault,
// never a guess. Text without any call is a reading with words only.
func Mended(text string) Reading {
	var r Reader
	return *r.Read(text)
}

// Reader reads many messages with the memory of one.
type Reader struct {
	Reading
	skipCalls bool
	level     int
}

// Read reads a message as Mended does. The reading is valid until the next call; its strings
// are parts of the message and stay valid.
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

// SplitThink splits a text without calls, or whose calls are known from elsewhere, into
// thinking and words.
func SplitThink(text string) (think, words string) {
	r := Reader{skipCalls: true}
	r.message(text[:min(len(text), MaxText)])
	return r.Think, r.Text
}

func (r *Reader) repair(word string) { r.Repairs = slicesx.AppendUnique(r.Repairs, word) }
func (r *Reader) fault(word string)  { r.Faults = slicesx.AppendUnique(r.Faults, word) }

func (r *Reader) addRepairs(m lenient.Repairs) {
	for i, word := range mendWords {
		if m&(1<<i) != 0 {
			r.repair(word)
		}
	}
}

package export

import (
	"errors"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/redact"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/internal/cursor"
)

// fitter makes rows ready for their targets. It belongs to one goroutine.
type fitter struct {
	opt     *Options
	counter rows.Counter
	// tools are those of the row before and schema what was read of them.
	tools  []string
	schema chat.Schema
	// redacted counts the placeholders of the batch at hand.
	redacted redact.Counts
}

// fitted is a batch whose rows are ready for their targets.
type fitted struct {
	rows     []row
	redacted redact.Counts
}

func (f *fitter) batch(rows []row) (fitted, error) {
	f.redacted = redact.Counts{}
	for i := range rows {
		r := &rows[i]
		if err := f.fit(r); err != nil && !errors.As(err, &r.unfit) {
			return fitted{}, err
		}
	}
	return fitted{rows, f.redacted}, nil
}

// fit makes the row ready for its targets, or says why it is none.
func (f *fitter) fit(r *row) error {
	if !f.selected(r) {
		return &chat.Unfit{Reason: reasonUnselected}
	}
	if f.opt.Redact != nil {
		corpus.CleanRow(r.own(), f.opt.Redact, f.redacted)
	}
	if r.sft == nil {
		return nil
	}
	ms, err := chat.DecodeEscaped(r.sft.Messages)
	if err != nil {
		return &chat.Unfit{Reason: chat.ReasonArguments, Detail: err.Error()}
	}
	if err = f.declare(r.sft.Tools); err != nil {
		return err
	}
	if err = chat.Check(ms, f.schema); err != nil {
		return err
	}
	if slices.ContainsFunc(r.sft.Messages, manyLines) {
		if r.sft.Messages, err = chat.Encode(chat.Unescape(ms)); err != nil {
			return err
		}
	}
	r.messages = ms
	c := f.counter
	if c == nil && f.opt.Redact != nil && r.sft.TokenCounter == (rows.Bytes4{}).Name() {
		c = rows.Bytes4{} // placeholders have other lengths than what they stand for
	}
	if c != nil {
		r.sft.NTokens, r.sft.TokenCounter = int64(rows.CountTokens(c, chat.Unescape(ms), r.sft.Tools)), c.Name()
	}
	if f.opt.MaxTokens > 0 && r.sft.NTokens > f.opt.MaxTokens {
		return &chat.Unfit{Reason: reasonTokens}
	}
	return nil
}

// The reasons for which a row is in no profile.
const (
	reasonTools      = "tool_definition"  // a tool's definition is no JSON of one line
	reasonTokens     = "over_token_limit" // the row has more tokens than --max-tokens
	reasonSampled    = "not_sampled"      // it is not among the sessions drawn for the sample
	reasonUnselected = "not_selected"     // --where does not select it
)

// declare reads a row's tools; rows of one harness share them.
func (f *fitter) declare(tools []string) error {
	if f.schema != nil && slices.Equal(f.tools, tools) {
		return nil
	}
	for _, t := range tools {
		if !cursor.Valid(t) || manyLines(t) {
			return &chat.Unfit{Reason: reasonTools}
		}
	}
	f.tools, f.schema = slices.Clone(tools), chat.ParseSchema(tools)
	return nil
}

// manyLines reports whether JSON is written over several lines: formats of lines
// take it as it is.
func manyLines(text string) bool {
	return strings.IndexByte(text, '\n') >= 0 || strings.IndexByte(text, '\r') >= 0
}

func (f *fitter) selected(r *row) bool {
	keep := f.opt.Keep
	switch {
	case keep == nil:
		return true
	case r.sft != nil:
		return keep(r.sft.SessionID, r.sft.ProblemID)
	case r.kto != nil:
		return keep(r.kto.SessionID, r.kto.ProblemID)
	case r.pref != nil:
		return keep(r.pref.ChosenSession, r.pref.ProblemID) && keep(r.pref.RejectedSession, r.pref.ProblemID)
	default:
		return keep("", r.rl.ProblemID)
	}
}

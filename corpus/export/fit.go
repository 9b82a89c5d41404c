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

// fitter prepares rows for export: it selects, redacts, decodes and checks them and counts their
// tokens. It must not be used concurrently.
type fitter struct {
	opt     *Options
	counter rows.Counter // nil keeps the counts of the corpus
	// tools are those of the previous row and schema is parsed from them, since most rows have
	// the same tools.
	tools  []string
	schema chat.Schema
	// redacted counts the placeholders in the current batch.
	redacted redact.Counts
}

// fitted is a batch of rows that are ready for export, with the number of placeholders by which
// redaction replaced secrets in them.
type fitted struct {
	rows     []row
	redacted redact.Counts
}

// fitBatch prepares the rows of a batch. It sets the field unfit of each row that no profile can
// contain.
func (f *fitter) fitBatch(batch []row) (fitted, error) {
	f.redacted = redact.Counts{}
	for i := range batch {
		r := &batch[i]
		if err := f.fit(r); err != nil && !errors.As(err, &r.unfit) {
			return fitted{}, err
		}
	}
	return fitted{batch, f.redacted}, nil
}

// fit prepares a row: it redacts, decodes and checks the messages and counts their tokens. The
// error is a *chat.Unfit if no profile can contain the row, or if the options do not select it.
func (f *fitter) fit(r *row) error {
	if !f.isSelected(r) {
		return &chat.Unfit{Reason: reasonUnselected}
	}
	if f.opt.Redact != nil {
		corpus.CleanRow(r.source(), f.opt.Redact, f.redacted)
	}
	if r.sft == nil {
		return nil
	}
	ms, err := chat.DecodeEscaped(r.sft.Messages)
	if err != nil {
		return &chat.Unfit{Reason: chat.ReasonArguments, Detail: err.Error()}
	}
	if err = f.setTools(r.sft.Tools); err != nil {
		return err
	}
	if err = chat.Check(ms, f.schema); err != nil {
		return err
	}
	if slices.ContainsFunc(r.sft.Messages, hasLineBreak) {
		r.sft.Messages, err = chat.Encode(chat.Unescape(ms))
		if err != nil {
			return err
		}
	}
	r.messages = ms
	if counter := f.counterFor(r.sft); counter != nil {
		n, err := rows.CountTokens(counter, chat.Unescape(ms), r.sft.Tools)
		if err != nil {
			return err
		}
		r.sft.NTokens = int64(n)
		r.sft.TokenCounter = counter.Name()
	}
	if f.opt.MaxTokens > 0 && r.sft.NTokens > f.opt.MaxTokens {
		return &chat.Unfit{Reason: reasonTokens}
	}
	return nil
}

// counterFor returns what counts the tokens of a row again, nil to keep the stored number. This is
// the counter that the options select. Without one, if rows are redacted and the stored number was
// estimated from the length of the text, it is an estimator, because redaction may have changed the
// length.
func (f *fitter) counterFor(s *rows.SFT) rows.Counter {
	if f.counter != nil {
		return f.counter
	}
	estimate := rows.Bytes4{}
	if f.opt.Redact != nil && s.TokenCounter == estimate.Name() {
		return estimate
	}
	return nil
}

// The reasons for which a row is in no profile.
const (
	reasonTools      = "tool_definition"  // a tool's definition is not JSON on one line
	reasonTokens     = "over_token_limit" // the row has more tokens than --max-tokens
	reasonSampled    = "not_sampled"      // the session is not in the sample
	reasonUnselected = "not_selected"     // --where does not select the row
)

// setTools parses and stores a row's tools, unless they are those of the previous row. The error
// is a *chat.Unfit if a definition is not JSON on one line.
func (f *fitter) setTools(tools []string) error {
	if f.schema != nil && slices.Equal(f.tools, tools) {
		return nil
	}
	for _, t := range tools {
		if !cursor.Valid(t) || hasLineBreak(t) {
			return &chat.Unfit{Reason: reasonTools}
		}
	}
	f.tools = slices.Clone(tools)
	f.schema = chat.ParseSchema(tools)
	return nil
}

// hasLineBreak reports whether a JSON text contains a line break. Such a text cannot be copied
// into a file with one row per line.
func hasLineBreak(text string) bool {
	return strings.IndexByte(text, '\n') >= 0 || strings.IndexByte(text, '\r') >= 0
}

// isSelected reports whether the options select a row. For a preference pair, both attempts must
// be selected.
func (f *fitter) isSelected(r *row) bool {
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

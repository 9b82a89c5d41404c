package evaluate

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/shop"
	"github.com/trajectory-arena/arena/student/dialect"
)

// profileText is the name of the export profile (row format) in which the system prompt describes
// the tools and the messages contain the tool calls as text.
const profileText = "text"

// errPrompts is the error for a corpus whose rows differ in their system prompts or tools.
var errPrompts = errors.New("its rows have several system prompts")

// harnessOfRows returns the system prompt and the tools that a model saw in the training rows of
// the corpus f.as, so that it is evaluated with the same ones. It sets f.Played.Dialect, the form
// of tool calls, to that of the rows. In rows of profile "text" the tools are part of the system
// prompt.
func (f *Flags) harnessOfRows() (arena.Harness, error) {
	source, err := finish.Open(corpus.Disk{}, f.as)
	if err != nil {
		return arena.Harness{}, cli.Failed(err, "--as names the corpus that the student was trained on")
	}
	hasText := len(source.Files(profileText, corpus.SplitTrain)) > 0
	hasMessages := len(source.Files(corpus.ProfileHFJSON, corpus.SplitTrain)) > 0
	var h arena.Harness
	switch {
	case hasText && (f.Played.Dialect.OfText() || !hasMessages):
		f.Played.Dialect = dialect.Text
		h, err = harnessOfText(source)
	case hasMessages && !f.Played.Dialect.OfText():
		h, err = harnessOfMessages(source)
	default:
		err = errors.New("it has no rows of the profile of this dialect")
	}
	if err != nil {
		return h, cli.Failed(fmt.Errorf("read the rows of %s: %w", f.as, err), "--as takes a corpus with rows of profile hf-json or text; a student of text is asked with --dialect text")
	}

	if !slices.Contains(shop.Profiles(), h.Name) {
		return h, cli.Failed(fmt.Errorf("--as %s: its rows are of harness %q, which the shop does not have", f.as, h.Name), "the shop has "+strings.Join(shop.Profiles(), ", "))
	}
	f.Played.Harness = h.Name
	if f.Played.Dialect.OfText() { // the shop runs calls of the tools that the prompt describes
		known, err := shop.Profile(h.Name)
		if err != nil {
			return h, err
		}
		h.Tools = known.Tools
	}
	h.SHA256 = shop.HarnessSHA256(h.System, h.Tools)
	return h, nil
}

func harnessOfText(source *finish.Source) (arena.Harness, error) {
	var h arena.Harness
	n := 0
	err := finish.Rows(source, profileText, corpus.SplitTrain, func(r *rows.Text) error {
		system := ""
		if len(r.Messages) > 0 && r.Messages[0].Role == chat.System {
			system = r.Messages[0].Content
		}
		n++
		if n > 1 && system != h.System {
			return errPrompts
		}
		h.Name = strings.Clone(r.Harness)
		h.System = strings.Clone(system)
		return nil
	})
	return h, err
}

func harnessOfMessages(source *finish.Source) (arena.Harness, error) {
	var h arena.Harness
	n := 0
	err := finish.Rows(source, corpus.ProfileHFJSON, corpus.SplitTrain, func(r *rows.SFT) error {
		system, decodeErr := systemOf(r)
		if decodeErr != nil {
			return decodeErr
		}
		n++
		if n > 1 {
			if system != h.System || !slices.EqualFunc(h.Tools, r.Tools, isSameTool) {
				return errPrompts
			}
			return nil
		}
		h.Name = strings.Clone(r.Harness)
		h.System = strings.Clone(system)
		for _, tool := range r.Tools {
			h.Tools = append(h.Tools, arena.Raw(strings.Clone(tool)))
		}
		return nil
	})
	return h, err
}

// systemOf returns the system prompt of a row, empty if it has none.
func systemOf(r *rows.SFT) (string, error) {
	messages, err := chat.Decode(r.Messages[:min(1, len(r.Messages))])
	if err != nil || len(messages) == 0 || messages[0].Role != chat.System {
		return "", err
	}
	return messages[0].Content, nil
}

func isSameTool(a arena.Raw, b string) bool { return string(a) == b }

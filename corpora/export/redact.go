package export

import (
	"github.com/trajectory-arena/arena/corpora"
	"github.com/trajectory-arena/arena/corpora/chat"
)

// clean redacts one text and counts what it found.
func (f *feed) clean(text string) string {
	if f.opt.Redact == nil {
		return text
	}
	return f.opt.Redact.Text(text, f.redacted)
}

// cleanSFT redacts an attempt: its decoded messages, and the row they came
// from.
func (f *feed) cleanSFT(s *corpora.SFT, ms []chat.Message) error {
	if f.opt.Redact == nil {
		return nil
	}
	if err := chat.Clean(ms, f.clean); err != nil {
		return err
	}
	encoded, err := chat.Encode(ms)
	if err != nil {
		return err
	}
	s.Messages, s.Goal, s.Metadata = encoded, f.clean(s.Goal), f.clean(s.Metadata)
	return nil
}

// clean redacts the texts of a row that is no attempt.
func (r *row) clean(clean func(string) string) {
	switch {
	case r.pref != nil:
		for _, ms := range [][]corpora.Msg{r.pref.Prompt, r.pref.Chosen, r.pref.Rejected} {
			cleanMsgs(ms, clean)
		}
	case r.kto != nil:
		cleanMsgs(r.kto.Prompt, clean)
		cleanMsgs(r.kto.Completion, clean)
	default:
		cleanMsgs(r.rl.Prompt, clean)
	}
}

func cleanMsgs(ms []corpora.Msg, clean func(string) string) {
	for i := range ms {
		ms[i].Content = clean(ms[i].Content)
	}
}

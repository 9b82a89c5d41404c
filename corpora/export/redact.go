package export

import "github.com/trajectory-arena/arena/corpora"

// redact replaces what must not be published in every text of a row.
func (r *row) redact(clean func(string) string) {
	switch {
	case r.sft != nil:
		each(r.sft.Messages, clean)
		r.sft.Goal, r.sft.Metadata = clean(r.sft.Goal), clean(r.sft.Metadata)
	case r.pref != nil:
		for _, ms := range [][]corpora.Msg{r.pref.Prompt, r.pref.Chosen, r.pref.Rejected} {
			eachMsg(ms, clean)
		}
	case r.kto != nil:
		eachMsg(r.kto.Prompt, clean)
		eachMsg(r.kto.Completion, clean)
	default:
		eachMsg(r.rl.Prompt, clean)
	}
}

func each(texts []string, clean func(string) string) {
	for i := range texts {
		texts[i] = clean(texts[i])
	}
}

func eachMsg(ms []corpora.Msg, clean func(string) string) {
	for i := range ms {
		ms[i].Content = clean(ms[i].Content)
	}
}

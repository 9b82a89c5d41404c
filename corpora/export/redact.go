package export

import "github.com/trajectory-arena/arena/corpora"

// clean redacts every text of a row and counts what it found.
func (f *feed) clean(r *row) {
	if f.opt.Redact == nil {
		return
	}
	text := func(s string) string { return f.opt.Redact.Text(s, f.redacted) }
	switch {
	case r.sft != nil:
		corpora.CleanRow(r.sft, text)
	case r.pref != nil:
		corpora.CleanRow(r.pref, text)
	case r.kto != nil:
		corpora.CleanRow(r.kto, text)
	default:
		corpora.CleanRow(r.rl, text)
	}
}

package export

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/trajectory-arena/arena/corpora"
	"github.com/trajectory-arena/arena/corpora/chat"
	"github.com/trajectory-arena/arena/corpora/redact"
)

// Options are the choices of an export.
type Options struct {
	// Counter makes a counter that counts tokens anew, one for each profile; nil
	// keeps the counts of the corpus.
	Counter func() corpora.Counter
	// MaxTokens drops attempts of more tokens; 0 keeps all.
	MaxTokens int64
	// Keep says whether a session, or a problem where the row has no session,
	// was selected; nil selects all.
	Keep func(session, problem string) bool
	// Redact replaces what must not be published in a row's texts; nil leaves
	// them as they are. The written files are scanned once more.
	Redact *redact.Redactor
	// Sessions bounds the sessions of profile sts.
	Sessions int64
}

// Count is what became of the rows of one split in one profile.
type Count struct {
	Profile string           `json:"profile"`
	Split   string           `json:"split"`
	In      int64            `json:"in"`
	Out     int64            `json:"out"`
	Rows    int64            `json:"rows"`
	Dropped map[string]int64 `json:"dropped"`
	// Redacted counts placeholders by kind.
	Redacted redact.Counts `json:"redacted"`
}

// reasonTokens drops an attempt for its length, reasonUnselected because the
// caller did not select it.
const (
	reasonTokens     = "over_token_limit"
	reasonUnselected = "not_selected"
)

// row is one row of the corpus: the field of the profile it is made from is
// set, and messages beside sft.
type row struct {
	sft      *corpora.SFT
	messages []chat.Message
	rl       *corpora.RL
	pref     *corpora.Pref
	kto      *corpora.KTO
}

// job is the export of one profile.
type job struct {
	ctx     context.Context
	fs      corpora.FS
	dir     string
	from    *corpora.Manifest
	profile Profile
	part    *corpora.Part
	opt     *Options
	rows    int64
	counter corpora.Counter
	// tools are those of the row before and schema what was read of them.
	tools  []string
	schema chat.Schema
	// redacted counts the placeholders of the open split.
	redacted redact.Counts
}

// Part exports one profile of the corpus in dir into a part of its own. Rows
// stream through it: memory does not grow with the corpus.
func Part(ctx context.Context, fsys corpora.FS, dir string, m *corpora.Manifest, p Profile, part *corpora.Part, opt *Options) ([]Count, error) {
	j := &job{ctx: ctx, fs: fsys, dir: dir, from: m, profile: p, part: part, opt: opt}
	if opt.Counter != nil {
		j.counter = opt.Counter()
	}
	var out []Count
	for _, split := range []string{corpora.SplitTrain, corpora.SplitEval} {
		c, err := j.split(split)
		if err != nil {
			return nil, fmt.Errorf("export %s: %w", p.Name, err)
		}
		out = append(out, c)
	}
	if err := j.support(); err != nil {
		return nil, fmt.Errorf("export %s: %w", p.Name, err)
	}
	return out, part.Close()
}

func (j *job) split(split string) (Count, error) {
	j.redacted = redact.Counts{}
	count := Count{Profile: j.profile.Name, Split: split, Dropped: map[string]int64{}, Redacted: j.redacted}
	s, err := j.profile.open(j, split)
	if err != nil {
		return count, err
	}
	j.rows = 0
	for _, f := range j.from.Files {
		if f.Profile != j.profile.From || f.Split != split || f.Config == "sft_turns" {
			continue
		}
		if err = j.shard(filepath.Join(j.dir, filepath.FromSlash(f.Path)), s, &count); err != nil {
			return count, err
		}
	}
	err = s.close()
	count.Rows = j.rows
	return count, err
}

func (j *job) shard(path string, s sink, count *Count) error {
	return j.each(path, func(r *row) error {
		if err := j.ctx.Err(); err != nil {
			return err
		}
		count.In++
		err := j.fit(r)
		if err == nil {
			err = s.add(r)
		}
		var unfit *chat.Unfit
		if errors.As(err, &unfit) {
			count.Dropped[unfit.Reason]++
			return nil
		}
		if err == nil {
			count.Out++
		}
		return err
	})
}

// each decodes the rows of a shard by the profile they are made from.
func (j *job) each(path string, visit func(*row) error) error {
	switch j.profile.From {
	case corpora.ProfileVerlRL:
		return corpora.Rows(j.fs, path, func(r *corpora.RL) error { return visit(&row{rl: r}) })
	case corpora.ProfilePref:
		return corpora.Rows(j.fs, path, func(r *corpora.Pref) error { return visit(&row{pref: r}) })
	case corpora.ProfileKTO:
		return corpora.Rows(j.fs, path, func(r *corpora.KTO) error { return visit(&row{kto: r}) })
	default:
		return corpora.Rows(j.fs, path, func(r *corpora.SFT) error { return visit(&row{sft: r}) })
	}
}

// fit makes the row ready for its target, or says why it is none.
func (j *job) fit(r *row) error {
	if !j.selected(r) {
		return &chat.Unfit{Reason: reasonUnselected}
	}
	if r.sft == nil {
		r.clean(j.clean)
		return nil
	}
	ms, err := chat.Decode(r.sft.Messages)
	if err != nil {
		return &chat.Unfit{Reason: chat.ReasonArguments, Detail: err.Error()}
	}
	if err = j.cleanSFT(r.sft, ms); err != nil {
		return err
	}
	if err = chat.Check(ms, j.schemaOf(r.sft.Tools)); err != nil {
		return err
	}
	r.messages = ms
	if c := j.counter; c != nil {
		r.sft.NTokens, r.sft.TokenCounter = int64(corpora.CountTokens(c, ms, r.sft.Tools)), c.Name()
	}
	if j.opt.MaxTokens > 0 && r.sft.NTokens > j.opt.MaxTokens {
		return &chat.Unfit{Reason: reasonTokens}
	}
	return nil
}

// schemaOf reads a row's tools; rows of one harness share them.
func (j *job) schemaOf(tools []string) chat.Schema {
	if j.schema == nil || !slices.Equal(j.tools, tools) {
		j.tools, j.schema = slices.Clone(tools), chat.ParseSchema(raws(tools))
	}
	return j.schema
}

func (j *job) selected(r *row) bool {
	keep := j.opt.Keep
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

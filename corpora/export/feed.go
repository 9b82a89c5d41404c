package export

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
	"golang.org/x/sync/errgroup"

	"github.com/trajectory-arena/arena/corpora"
	"github.com/trajectory-arena/arena/corpora/chat"
	"github.com/trajectory-arena/arena/corpora/redact"
)

// batchBytes is about how much of a corpus's rows is handed on at a time: as a
// rule one row group, with room for what a format adds to its rows.
const batchBytes = 8 << 20

// feed reads the rows of one source profile and gives them to several exports:
// what all of them need is done once a row.
type feed struct {
	fs   corpora.FS
	dir  string
	from *corpora.Manifest
	// source is the profile of the rows that are read.
	source  string
	opt     *Options
	jobs    []*job
	counter corpora.Counter
	// tools are those of the row before and schema what was read of them.
	tools  []string
	schema chat.Schema
	// redacted counts the placeholders of the open split.
	redacted redact.Counts
}

// run exports both splits to every job.
func (f *feed) run(ctx context.Context) error {
	if f.opt.Counter != nil {
		f.counter = f.opt.Counter()
	}
	for _, split := range []string{corpora.SplitTrain, corpora.SplitEval} {
		if err := f.split(ctx, split); err != nil {
			return err
		}
	}
	for _, j := range f.jobs {
		if err := j.finish(); err != nil {
			return err
		}
	}
	return nil
}

// split reads a split once. Every job takes all batches in their order, each in
// a goroutine of its own.
func (f *feed) split(ctx context.Context, split string) error {
	f.redacted = redact.Counts{}
	group, ctx := errgroup.WithContext(ctx)
	lines := make([]chan []row, len(f.jobs))
	for i, j := range f.jobs {
		if err := j.open(split); err != nil {
			return fmt.Errorf("export %s: %w", j.profile.Name, err)
		}
		lines[i] = make(chan []row, 1)
		group.Go(func() error {
			for batch := range lines[i] {
				if err := j.take(batch); err != nil {
					return err
				}
			}
			return nil
		})
	}
	group.Go(func() error {
		err := f.read(ctx, split, lines)
		for _, line := range lines {
			close(line)
		}
		return err
	})
	if err := group.Wait(); err != nil {
		return err
	}
	closing, _ := errgroup.WithContext(ctx)
	for _, j := range f.jobs {
		closing.Go(func() error { return j.close(f.redacted) })
	}
	return closing.Wait()
}

// read gives every row of a split to each of the lines, in batches.
func (f *feed) read(ctx context.Context, split string, lines []chan []row) error {
	return f.batches(split, func(batch []row) error {
		for _, line := range lines {
			select {
			case line <- batch:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
}

// batches visits the rows of a split. Where batches end depends on the rows
// alone: each becomes row groups of its own.
func (f *feed) batches(split string, visit func([]row) error) error {
	var batch []row
	size := 0
	for _, file := range f.files(split) {
		err := f.each(file, func(r row) error {
			batch, size = append(batch, r), size+r.size()
			if size < batchBytes {
				return nil
			}
			whole := batch
			batch, size = nil, 0
			return visit(whole)
		})
		if err != nil {
			return err
		}
	}
	if len(batch) == 0 {
		return nil
	}
	return visit(batch)
}

// files are the shards of a split that the rows are read from.
func (f *feed) files(split string) (out []corpora.FileEntry) {
	for _, file := range f.from.Files {
		if file.Profile == f.source && file.Split == split && file.Config != configTurns {
			out = append(out, file)
		}
	}
	return out
}

// each reads the rows of a shard, each ready for its targets.
func (f *feed) each(file corpora.FileEntry, visit func(row) error) error {
	path := filepath.Join(f.dir, filepath.FromSlash(file.Path))
	ready := func(r row) error {
		if err := f.fit(&r); err != nil && !errors.As(err, &r.unfit) {
			return err
		}
		return visit(r)
	}
	switch f.source {
	case corpora.ProfileVerlRL:
		return corpora.Rows(f.fs, path, func(r *corpora.RL) error { return ready(row{rl: r}) })
	case corpora.ProfilePref:
		return corpora.Rows(f.fs, path, func(r *corpora.Pref) error { return ready(row{pref: r}) })
	case corpora.ProfileKTO:
		return corpora.Rows(f.fs, path, func(r *corpora.KTO) error { return ready(row{kto: r}) })
	default:
		return corpora.Rows(f.fs, path, func(r *corpora.SFT) error { return ready(row{sft: r}) })
	}
}

// size is about what a row takes in a file before compression, in bytes.
func (r *row) size() int {
	said := func(lists ...[]corpora.Msg) (n int) {
		for _, m := range slices.Concat(lists...) {
			n += len(m.Content)
		}
		return n
	}
	switch {
	case r.sft != nil:
		n := 0
		for _, m := range r.sft.Messages {
			n += len(m)
		}
		return n
	case r.pref != nil:
		return said(r.pref.Prompt, r.pref.Chosen, r.pref.Rejected)
	case r.kto != nil:
		return said(r.kto.Prompt, r.kto.Completion)
	default:
		return said(r.rl.Prompt) + len(r.rl.Tools)
	}
}

// fit makes the row ready for its targets, or says why it is none.
func (f *feed) fit(r *row) error {
	if !f.selected(r) {
		return &chat.Unfit{Reason: reasonUnselected}
	}
	f.clean(r)
	if r.sft == nil {
		return nil
	}
	ms, err := chat.Decode(r.sft.Messages)
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
		if r.sft.Messages, err = chat.Encode(ms); err != nil {
			return err
		}
	}
	r.messages = ms
	c := f.counter
	if c == nil && f.opt.Redact != nil && r.sft.TokenCounter == (corpora.Bytes4{}).Name() {
		c = corpora.Bytes4{} // placeholders have other lengths than what they stand for
	}
	if c != nil {
		r.sft.NTokens, r.sft.TokenCounter = int64(corpora.CountTokens(c, ms, r.sft.Tools)), c.Name()
	}
	if f.opt.MaxTokens > 0 && r.sft.NTokens > f.opt.MaxTokens {
		return &chat.Unfit{Reason: reasonTokens}
	}
	return nil
}

// reasonTokens drops an attempt for its length, reasonUnselected because the
// caller did not select it, reasonTools because a tool's definition is no JSON
// of one line.
const (
	reasonTools      = "tool_definition"
	reasonTokens     = "over_token_limit"
	reasonUnselected = "not_selected"
)

// declare reads a row's tools; rows of one harness share them.
func (f *feed) declare(tools []string) error {
	if f.schema != nil && slices.Equal(f.tools, tools) {
		return nil
	}
	for _, t := range tools {
		if !gjson.Valid(t) || manyLines(t) {
			return &chat.Unfit{Reason: reasonTools}
		}
	}
	f.tools, f.schema = slices.Clone(tools), chat.ParseSchema(raws(tools))
	return nil
}

// manyLines tells whether JSON is written over several lines: formats of lines
// take it as it is.
func manyLines(text string) bool {
	return strings.IndexByte(text, '\n') >= 0 || strings.IndexByte(text, '\r') >= 0
}

func (f *feed) selected(r *row) bool {
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

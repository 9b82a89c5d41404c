package build

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/bucket"
	"github.com/trajectory-arena/arena/pipeline"
	"github.com/trajectory-arena/arena/traces"
)

// plan is all that the processes of one build are given, in one file.
type plan struct {
	Schema string `json:"schema"`
	// Name tells the plan from every other, also from one of the same build.
	Name string `json:"name"`
	// Shards is how many there are of map and of write.
	Shards int      `json:"shards"`
	Days   []string `json:"days"`
	// Flags are those of arena build, with the full paths of files.
	Flags []string        `json:"flags"`
	Terms *pipeline.Terms `json:"terms"`
}

const (
	planSchema = "arena.plan.v1"
	// maxPlan bounds what is read of one: a hundred thousand inputs take 30 MB.
	maxPlan = 1 << 30
	// maxShards is more than any engine takes at once.
	maxShards = 1 << 20
)

// notPlanned are the flags that say how a process runs, not what is built.
var notPlanned = []string{"plan", "shards", "work", "quiet", "verbose"}

func (f *buildFlags) makePlan(c *cobra.Command, days []string, r *pipeline.Run) error {
	p := plan{Schema: planSchema, Name: rand.Text(), Shards: f.shards}
	var err error
	if p.Terms, err = r.Plan(c.Context()); err != nil {
		return kept(err)
	}
	if p.Flags, err = cli.Arguments(c, notPlanned...); err != nil {
		return err
	}
	for _, day := range days {
		at, err := cli.Absolute(day)
		if err != nil {
			return err
		}
		p.Days = append(p.Days, at)
	}
	return cli.WriteWhole(f.streams, f.plan, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		return e.Encode(p)
	})
}

func (f *buildFlags) plannable(days []string) error {
	switch {
	case f.force || f.dryRun || f.work != "":
		return cli.Usage(errors.New("--plan builds nothing: --force, --dry-run and --work say nothing to it"), "give --work to arena stage")
	case f.shards < 1 || f.shards > maxShards:
		return cli.Usage(fmt.Errorf("--shards is %d", f.shards), "give at least 1")
	}
	if slices.Contains(days, traces.Stdin) {
		return cli.Usage(errors.New("standard input can be read only once"), "keep the traces in a file")
	}
	return nil
}

func readPlan(path string) (*plan, error) {
	p := &plan{}
	if err := corpus.ReadJSON(corpus.Disk{}, path, maxPlan, p); err != nil {
		return nil, cli.Usage(fmt.Errorf("read plan: %w", err), "`arena build … --plan PLAN` writes one")
	}
	if p.Schema != planSchema || p.Terms == nil {
		return nil, cli.Usage(fmt.Errorf("read plan %s: schema %.40q, not %s", path, p.Schema, planSchema), "`arena build … --plan PLAN` writes one")
	}
	return p, nil
}

// with lets do have the run that was planned, as buildFlags.with has it. asks is the
// shard whose part of the judge's limits it has.
func (p *plan) with(ctx context.Context, f *buildFlags, work string, noisy cli.Noise, asks pipeline.Shard, do func(*pipeline.Run) error) error {
	c := &cobra.Command{Use: "build"}
	f.register(c)
	if err := c.ParseFlags(p.Flags); err != nil {
		return cli.Usage(fmt.Errorf("read plan: %w", err), "plan again: it was made by another program")
	}
	c.SetContext(ctx)
	f.work, f.noisy = work, noisy
	f.judge.LLM.Share, f.judge.LLM.Of = asks.Index, asks.Of
	f.judge.LLM.Payer = fmt.Sprintf("%s %d/%d", p.Name, asks.Index, asks.Of)
	f.trustRuns(p.Days)
	var fsys corpus.FS = corpus.Disk{}
	if bucket.IsURL(work) {
		dir, err := f.streams.Temporary("arena-work-")
		if err != nil {
			return err
		}
		b, err := bucket.Create(ctx, work)
		if err != nil {
			return cli.Usage(err, cli.KnownBuckets)
		}
		defer b.Close() //nolint:errcheck // what was written is there
		f.work, f.staging = filepath.Join(dir, "work"), filepath.Join(dir, "out")
		f.shared = bucket.NewWork(ctx, b, f.work, pipeline.Unit)
		fsys = f.shared
	}
	return f.with(c, p.Days, func(r *pipeline.Run) error {
		r.Terms, r.FS = p.Terms, fsys
		return do(r)
	})
}

package build

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/bucket"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/pipeline"
	"github.com/trajectory-arena/arena/pipeline/choose"
	"github.com/trajectory-arena/arena/traces"
)

// NewStage returns `arena stage`.
func NewStage(s *cli.Streams) *cobra.Command {
	return cli.Family("stage map|group|write --plan PLAN --work DIR --shard i/n", "Run one step of a build, for an engine that has many machines",
		newStep(s, "map", "Make the blocks of a shard of the inputs", func(ctx context.Context, _ *buildFlags, r *pipeline.Run, s pipeline.Shard) error {
			return keepsWork(r.Map(ctx, s))
		}),
		newStep(s, "group", "Decide what becomes of every attempt", stageGroup),
		newStep(s, "write", "Write a shard of the corpus's files", stageWrite),
	)
}

func newStep(
	s *cli.Streams,
	name, short string,
	do func(context.Context, *buildFlags, *pipeline.Run, pipeline.Shard) error,
) *cobra.Command {
	f := &buildFlags{streams: s, Settings: cli.BuildSettings()}
	var work, path, shard string
	var noisy cli.Verbosity
	c := cli.Command(name+" --plan PLAN --work DIR", short, cli.NumArgs(0, 0), func(c *cobra.Command, _ []string) error {
		p, err := readPlan(path)
		if err != nil {
			return err
		}
		part := pipeline.Shard{Count: p.Shards} // group divides its work by their number
		asks := pipeline.Unsharded
		if name != "group" {
			if part, err = p.shard(shard); err != nil {
				return err
			}
		}
		if name == "map" {
			asks = part
		}
		return p.withRun(c.Context(), f, work, noisy, asks, func(r *pipeline.Run) error {
			return do(c.Context(), f, r, part)
		})
	})
	cli.File(c, &path, "plan", "what arena build --plan wrote (required)")
	c.Flags().StringVar(&work, "work", "", "folder that all machines share, or the URL of one in a bucket; safe to delete (default CORPUS.work)")
	if name != "group" {
		c.Flags().StringVar(&shard, "shard", "0/1", "which shard of how many, counting from 0")
	}
	noisy.Flags(c)
	cli.Writes(c, "work")
	return c
}

// shard parses a shard as text, its index and the number of shards, such as "0/4". It returns an
// error if the number differs from that of the plan.
func (p *plan) shard(text string) (s pipeline.Shard, err error) {
	index, count, _ := strings.Cut(text, "/")
	var errs [2]error
	s.Index, errs[0] = strconv.Atoi(index)
	s.Count, errs[1] = strconv.Atoi(count)
	if errors.Join(errs[:]...) != nil {
		err = fmt.Errorf("shard %q is not of the form i/n", text)
	} else if err = s.Validate(); err == nil && s.Count != p.Shards {
		err = fmt.Errorf("shard %s of a plan with %d", text, p.Shards)
	}
	if err != nil {
		return s, cli.Usage(err, fmt.Sprintf("the first is --shard 0/%d", p.Shards))
	}
	return s, nil
}

func stageGroup(
	ctx context.Context,
	f *buildFlags,
	r *pipeline.Run,
	s pipeline.Shard,
) error {
	r.Config.Workers = runtime.GOMAXPROCS(0) // it may be one process while all others wait
	funnel, err := r.Group(ctx, s.Count)
	if err != nil {
		return keepsWork(err)
	}
	if !f.noisy.Quiet {
		choose.PrintFunnel(f.streams.Err, funnel)
	}
	return nil
}

func stageWrite(
	ctx context.Context,
	f *buildFlags,
	r *pipeline.Run,
	s pipeline.Shard,
) error {
	summary, err := r.Write(ctx, s)
	if err != nil {
		return keepsWork(printFailure(f.streams.Err, summary, err))
	}
	if summary == nil {
		fmt.Fprintln(f.streams.Err, "this shard is written; the process that finishes the last one puts the corpus together")
		return nil
	}
	if err = f.target.Publish(ctx); err == nil && f.shared != nil {
		err = keepsWork(f.shared.Sweep())
	}
	if err == nil {
		f.printSummary(summary)
	}
	return err
}

// plan is the JSON file that all processes of one distributed build read: the input folders, the
// flags of `arena build`, and the number of shards.
type plan struct {
	Schema string `json:"schema"`
	// Name is random, so that no two plans have the same name.
	Name string `json:"name"`
	// Shards is the number of shards of the steps map and write.
	Shards int      `json:"shards"`
	Days   []string `json:"days"`
	// Flags are those of arena build, with the full paths of files.
	Flags []string        `json:"flags"`
	Terms *pipeline.Terms `json:"terms"`
}

const (
	planSchema = "arena.plan.v1"
	// maxPlan limits the size of a plan (the file from which several processes make one build) in
	// bytes. A plan with a hundred thousand inputs has 30 MB.
	maxPlan = 1 << 30
	// maxShards limits the number of shards into which a build can be divided. No system runs as many
	// processes at once.
	maxShards = 1 << 20
)

// notPlanned are the flags of arena build that a plan does not store, because they do not change
// what is built.
var notPlanned = []string{"plan", "shards", "work", "quiet", "verbose"}

func (f *buildFlags) makePlan(
	c *cobra.Command,
	days []string,
	r *pipeline.Run,
) error {
	p := plan{
		Schema: planSchema,
		Name:   rand.Text(),
		Shards: f.shards,
	}
	var err error
	if p.Terms, err = r.Plan(c.Context()); err != nil {
		return keepsWork(err)
	}
	if err = f.makeDomainAbsolute(c); err != nil {
		return err
	}
	if p.Flags, err = cli.FlagArguments(c, notPlanned...); err != nil {
		return err
	}
	for _, day := range days {
		path, err := cli.Absolute(day)
		if err != nil {
			return err
		}
		p.Days = append(p.Days, path)
	}
	return cli.WriteWhole(f.streams, f.plan, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		return e.Encode(p)
	})
}

// makeDomainAbsolute sets the flag --domain to the full path if it names a file.
func (f *buildFlags) makeDomainAbsolute(c *cobra.Command) error {
	var builtin *domain.Set
	if f.domain == "" || builtin.ByName(f.domain) != nil {
		return nil
	}
	path, err := cli.Absolute(f.domain)
	if err != nil {
		return err
	}
	return c.Flags().Set("domain", path)
}

// checkPlannable returns an error for flags and input folders that cannot be stored in a plan, the
// file from which several processes make one build. It checks nothing unless --plan is set.
func (f *buildFlags) checkPlannable(days []string) error {
	switch {
	case f.plan == "":
	case f.force || f.dryRun || f.work != "":
		return cli.Misuse("--plan builds nothing: --force, --dry-run and --work say nothing to it", "give --work to arena stage")
	case f.shards < 1 || f.shards > maxShards:
		return cli.Usage(fmt.Errorf("--shards is %d", f.shards), "give at least 1")
	case slices.Contains(days, traces.Stdin):
		return cli.Misuse("standard input can be read only once", "keep the traces in a file")
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

// withRun calls do with the pipeline run that the plan describes. work (the work folder) and noisy
// (what is printed) are used instead of flags, which a plan does not store. asks is the shard whose
// share of the judge's requests and budget this process may spend.
func (p *plan) withRun(
	ctx context.Context,
	f *buildFlags,
	work string,
	noisy cli.Verbosity,
	asks pipeline.Shard,
	do func(*pipeline.Run) error,
) error {
	c := cli.Command("build", "", nil, nil)
	f.register(c)
	if err := c.ParseFlags(p.Flags); err != nil {
		return cli.Usage(fmt.Errorf("read plan: %w", err), "plan again: it was made by another program")
	}
	c.SetContext(ctx)
	f.work, f.noisy = work, noisy
	f.judge.LLM.Share = asks.Index
	f.judge.LLM.Of = asks.Count
	f.judge.LLM.Payer = fmt.Sprintf(
		"%s %d/%d",
		p.Name,
		asks.Index,
		asks.Count,
	)
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
		f.work = filepath.Join(dir, "work")
		f.staging = filepath.Join(dir, "out")
		f.shared = bucket.NewWork(ctx, b, f.work, pipeline.SharedUnit)
		fsys = f.shared
	}
	return f.with(c, p.Days, func(r *pipeline.Run) error {
		r.Terms, r.FS = p.Terms, fsys
		return do(r)
	})
}

package main

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/redact"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/pipeline"
)

// importFlags are what a user can say to `arena import`.
type importFlags struct {
	out     string
	runID   string
	card    cardFlags
	heldOut []string
	workers int
	// unguarded reports whether nothing is held out, which nobody may forget to say.
	unguarded bool
	asIs      bool
	force     bool
	quiet     bool
}

func newImport(s *streams) *cobra.Command {
	var f importFlags
	c := &cobra.Command{
		Use:   "import IN… -o CORPUS",
		Short: "Make a corpus of other people's traces, as they are",
		Long: `Import reads traces of any format (ATIF 1.0 to 1.7, OpenAI messages, ShareGPT,
tau-bench, ORO's rows and episodes; docs/traces.md lists them) and writes them as a
corpus that export, inspect and verify take like a build's. Each row keeps the
system prompt and the tools of its own trace, and every result stays with its call.

Nothing is graded or filtered: that is what build does, with problems and a
catalogue. A trace that cannot be a row is counted by reason, and is in the ledger.`,
		Example: `  arena import testdata/day -o imported --unguarded
  arena import testdata/day/traces/*/output.jsonl.gz -o guarded --held-out testdata/leak/bank.jsonl`,
		Args: takes(1, anyNumber),
		RunE: func(c *cobra.Command, in []string) error { return f.run(c, s, in) },
	}
	c.Flags().StringVarP(&f.out, "output", "o", "", "folder of the corpus, or the URL of one in a bucket (required)")
	f.card.register(c)
	addRunID(c, &f.runID, "", "run of records that name none (default stdin)")
	c.Flags().StringArrayVar(&f.heldOut, "held-out", nil, "problems that no row may ask for: a file, a suite, a folder of banks, or a corpus (its eval split); may be repeated")
	c.Flags().BoolVar(&f.unguarded, "unguarded", false, "write a corpus although no problems are held out; its card says so")
	c.Flags().BoolVar(&f.force, "force", false, "replace a corpus that is already there")
	c.Flags().BoolVar(&f.asIs, "as-is", false, "leave secrets, addresses and card numbers in the texts")
	c.Flags().IntVarP(&f.workers, "jobs", "j", runtime.NumCPU(), "records worked on at once")
	c.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "no progress and no counts")
	return c
}

func (f *importFlags) run(c *cobra.Command, s *streams, in []string) error {
	if f.out == "" {
		return usage(errors.New("no output folder"), "say where the corpus goes, such as -o imported")
	}
	if (len(f.heldOut) > 0) == f.unguarded {
		return usage(errors.New("nothing is held out"), "give --held-out FILE with the problems that no row may ask for, or else --unguarded")
	}
	if f.workers < 1 {
		return usage(fmt.Errorf("-j is %d", f.workers), "give at least one worker")
	}
	if err := f.card.check(); err != nil {
		return err
	}
	limitHeap()
	out, discard, err := stagedOutput(f.out)
	defer discard()
	if err != nil {
		return err
	}
	if err = besideTraces(in, out.dir); err != nil {
		return err
	}
	release, err := out.take(c.Context(), f.force)
	if err != nil {
		return err
	}
	defer release()
	inputs, cleanUp, err := dayInputs(c.Context(), s, in)
	defer cleanUp()
	if err != nil {
		return err
	}
	redactor, err := f.redactor()
	if err != nil {
		return err
	}
	progress := noise{quiet: f.quiet}.progress(s)
	m := pipeline.Import{Redact: redactor, Inputs: inputs, RunID: f.runID, Out: out.dir, FS: corpus.Disk{}, Version: version(), HeldOut: f.heldOut, Workers: f.workers, Push: f.card.push, License: f.card.license, Progress: progress.event}
	summary, err := m.Run(c.Context())
	progress.done()
	if summary != nil && (err != nil || !f.quiet) {
		pipeline.PrintFunnel(s.err, summary.Funnel)
		for _, word := range slices.Sorted(maps.Keys(summary.Lost)) {
			fmt.Fprintf(s.err, "lost: %s in %d\n", word, summary.Lost[word])
		}
		for _, named := range slices.Sorted(maps.Keys(summary.Refused)) {
			fmt.Fprintf(s.err, "refused: %s in %d\n", named, summary.Refused[named])
		}
	}
	switch {
	case errors.Is(err, pipeline.ErrEmpty):
		return failed(err, "the funnel above says why; docs/traces.md says what is read")
	case errors.Is(err, guard.ErrBank):
		return failed(err, bankForms)
	case err != nil:
		return err
	default:
		return out.publish(c.Context())
	}
}

// redactor is nil where texts stay as they are.
func (f *importFlags) redactor() (*redact.Redactor, error) {
	if f.asIs {
		return nil, nil
	}
	return redact.New(redact.Options{})
}

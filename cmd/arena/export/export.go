// Package export holds the commands that write for other programs: export,
// profiles and convert.
package export

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/export"
	"github.com/trajectory-arena/arena/corpus/redact"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/corpus/token"
	"github.com/trajectory-arena/arena/corpus/trainers"
	"github.com/trajectory-arena/arena/corpus/where"
	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/pipeline/finish"
)

// sideBySide is the default limit of how many formats one export writes at the same time. It is
// larger than the number of formats, so that the corpus is read only once for all of them.
const sideBySide = 16

// allProfiles is the value of --profile for every profile whose rows the corpus has.
const allProfiles = "all"

type exportFlags struct {
	// opt lacks the settings that depend on files, such as the tokenizer.
	opt       export.Options
	profiles  []string
	target    cli.Target
	workers   int
	where     string
	tokenizer string
	templates []string
	heldOut   []string
	python    string
	redact    bool
	hotkeys   bool
	dryRun    bool
	quiet     bool
}

// NewExport returns `arena export`.
func NewExport(s *cli.Streams) *cobra.Command {
	f := exportFlags{
		workers: sideBySide,
		opt:     export.Options{Sessions: 100},
	}
	c := cli.Command("export CORPUS --profile P -o DIR", "Write a corpus in the formats of other trainers", cli.NumArgs(1, 1),
		func(c *cobra.Command, args []string) error {
			return runExport(c, s, args[0], &f)
		})
	flags := c.Flags()
	flags.StringSliceVarP(&f.profiles, "profile", "p", nil, "format to write; may be repeated; all for every one of whose rows the corpus has some")
	f.target.Replacing(c)
	cli.Jobs(c, &f.workers, "formats written side by side from one reading of the corpus; fewer take less memory")
	flags.Int64Var(&f.opt.MaxTokens, "max-tokens", 0, "drop attempts with more tokens; 0 keeps all")
	flags.Int64Var(&f.opt.Sessions, "sessions", f.opt.Sessions, "sessions in the sample of profile sts")
	cli.File(c, &f.tokenizer, "tokenizer", "tokenizer.json (byte-level BPE) to count tokens with; attempts over --max-tokens go, 14336 unless set")
	cli.Files(c, &f.templates, "preflight", "chat template (Jinja file or tokenizer_config.json) with which the rows of hf-json and text are rendered; may be repeated")
	cli.Files(c, &f.heldOut, "held-out", "problems that no training row may ask for, beside those that the corpus protects; may be repeated")
	flags.StringVar(&f.python, "python", "python3", "Python with jinja2 and pyarrow for --preflight")
	cli.ReadsFiles(c)
	flags.StringVar(&f.where, "where", "", "only attempts that satisfy this expression, such as 'judge_score >= 0.7 && n_steps <= 15'")
	flags.BoolVar(&f.redact, "redact", false, "replace secrets, e-mail addresses and network addresses, and scan the result again")
	flags.BoolVar(&f.hotkeys, "redact-hotkeys", false, "also replace the accounts of agents")
	flags.BoolVarP(&f.dryRun, "dry-run", "n", false, "print what would be written, and write nothing")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "no progress and no counts")
	return c
}

func runExport(
	c *cobra.Command,
	s *cli.Streams,
	corpusDir string,
	f *exportFlags,
) error {
	profiles, err := chosenProfiles(f.profiles)
	if err != nil {
		return err
	}
	if f.opt.Sessions < 1 {
		return cli.Misuse("--sessions is 0", "give at least 1")
	}
	if err = f.target.Stage(s); err != nil {
		return err
	}
	done, err := f.target.CheckFree(c.Context(), s)
	if done || err != nil {
		return err
	}
	for _, template := range f.templates {
		if _, err = os.Stat(template); err != nil {
			return cli.Failed(fmt.Errorf("read chat template: %w", err), "--preflight takes a Jinja file or a model's tokenizer_config.json")
		}
	}
	if corpusDir, err = s.Path(c.Context(), corpusDir); err != nil {
		return err
	}
	return f.export(c.Context(), s, corpusDir, profiles)
}

func (f *exportFlags) export(
	ctx context.Context,
	s *cli.Streams,
	corpusDir string,
	profiles []export.Profile,
) error {
	source, err := finish.Open(corpus.Disk{}, corpusDir)
	if err != nil {
		return cli.CorpusError(corpus.Disk{}, corpusDir, err)
	}
	if slices.Equal(f.profiles, []string{allProfiles}) {
		profiles = f.withRows(s, source.Manifest, profiles)
	}
	opt, err := f.options(ctx, corpusDir)
	if err != nil {
		return err
	}
	if f.dryRun {
		forecastExport(s, source.Manifest, profiles)
		return nil
	}
	if err = f.checkHeldOut(ctx, s, source); err != nil {
		return err
	}
	if err = cli.Lock(s, f.target.Dir); err != nil {
		return err
	}
	cli.LimitHeap(cli.HeapLimit)
	progress := cli.Verbosity{Quiet: f.quiet}.Progress(s)
	fsys := cli.Watched(
		corpus.Disk{},
		[]string{corpusDir},
		progress.Reading("export", bytesToRead(source.Manifest, profiles)),
	)
	counts, err := export.Run(
		ctx,
		fsys,
		corpusDir,
		f.target.Dir,
		profiles,
		opt,
		f.workers,
	)
	progress.Done()
	if err != nil {
		return err
	}
	if !f.quiet {
		ShowCounts(s, counts)
	}
	if len(f.templates) > 0 {
		if err := preflight(ctx, s, f.python, f.target.Dir, f.templates); err != nil {
			return err
		}
	}
	return f.target.Publish(ctx)
}

// checkLeaks returns an error if a training row repeats a protected problem (one kept for
// evaluation): in a text, by its rewarded item, or because its problem is in a group with one. It
// searches only with --held-out, which adds protected problems, because the build already removed
// the leaks of those of the corpus.
func (f *exportFlags) checkLeaks(ctx context.Context, s *cli.Streams, source *finish.Source) error {
	if len(f.heldOut) == 0 {
		return nil
	}
	known, err := finish.CollectExclusions([]*finish.Source{source}, f.heldOut)
	if err != nil {
		return cli.DefaultHint(err, cli.BankForms)
	}
	leaks := 0
	err = known.FindLeaks(ctx, source, func(id, evidence string) {
		leaks++
		s.Notef("%s: %s\n", cli.WithoutSecrets(id), cli.WithoutSecrets(evidence))
	})
	if err != nil || leaks == 0 {
		return err
	}
	return cli.Limit(
		fmt.Errorf("export %s: leak: %s for what is protected", source.Dir, cli.Counted(leaks, "training row asks", "training rows ask")),
		"nothing was written; build the corpus again with --held-out",
	)
}

// checkHeldOut returns an error if a training row of source asks for a protected problem (one kept
// for evaluation), or if the export would replace an existing corpus that keeps more problems out
// of training than source does.
func (f *exportFlags) checkHeldOut(ctx context.Context, s *cli.Streams, source *finish.Source) error {
	if err := f.checkLeaks(ctx, s, source); err != nil {
		return err
	}
	bank, err := source.Bank()
	if err != nil {
		return err
	}
	return finish.CheckStillExcluded(corpus.Disk{}, f.target.Dir, bank, source.GuardDigests())
}

func forecastExport(
	s *cli.Streams,
	m *corpus.Manifest,
	profiles []export.Profile,
) {
	for _, p := range profiles {
		rows := countRows(m, p.Source)
		s.Notef(
			"%s, from %s of profile %s: %s\n",
			p.Name,
			cli.Counted(int(rows), "row", "rows"),
			p.Source,
			p.Doc,
		)
	}
}

// bytesToRead returns the size in bytes of the files that are read for profiles.
func bytesToRead(m *corpus.Manifest, profiles []export.Profile) int64 {
	bytes := int64(0)
	for _, file := range m.Files {
		if file.Rows != nil && slices.ContainsFunc(profiles, func(p export.Profile) bool { return p.Source == file.Profile }) {
			bytes += file.Bytes
		}
	}
	return bytes
}

// countRows returns the number of rows of a profile in a corpus.
func countRows(m *corpus.Manifest, profile string) int64 {
	rows := int64(0)
	for _, file := range m.Files {
		if file.Profile == profile && file.Rows != nil {
			rows += *file.Rows
		}
	}
	return rows
}

// withRows returns the profiles that are made from rows that the corpus has, and prints which it leaves
// out. A corpus with rows of no profile leaves out none, so that the counts say that nothing was written.
func (f *exportFlags) withRows(s *cli.Streams, m *corpus.Manifest, profiles []export.Profile) []export.Profile {
	absent := map[string][]string{}
	kept := slices.DeleteFunc(slices.Clone(profiles), func(p export.Profile) bool {
		isAbsent := countRows(m, p.Source) == 0
		if isAbsent {
			absent[p.Source] = append(absent[p.Source], p.Name)
		}
		return isAbsent
	})
	if len(kept) == 0 {
		return profiles
	}
	if f.quiet {
		return kept
	}
	for _, source := range slicesx.SortedKeys(absent) {
		s.Notef("left out: %s, which are made from rows of profile %s: the corpus has none (--profile NAME writes one nevertheless)\n", strings.Join(absent[source], ", "), source)
	}
	return kept
}

func (f *exportFlags) options(ctx context.Context, corpusDir string) (opt *export.Options, err error) {
	if opt = &f.opt; f.redact || f.hotkeys {
		opt.Redact = redact.New(redact.Options{Hotkeys: f.hotkeys})
	}
	opt.License = f.target.License
	opt.Command = f.target.FinishTarget(f.target.Dir).Command
	if f.tokenizer != "" {
		if err = f.count(opt); err != nil {
			return nil, err
		}
	}
	expr, err := cli.ParseWhere(f.where)
	if err != nil || expr == nil {
		return opt, err
	}
	chosen, err := where.Select(ctx, corpus.Disk{}, corpusDir, expr)
	if err != nil {
		return nil, err
	}
	opt.Keep = chosen.Keep
	return opt, nil
}

func (f *exportFlags) count(opt *export.Options) error {
	data, err := corpus.ReadFile(corpus.Disk{}, f.tokenizer, 256<<20)
	if err != nil {
		return cli.Failed(err, "--tokenizer takes the tokenizer.json of a model")
	}
	tok, err := token.Parse("tokenizer-"+digest.SHA256(data)[:12], data)
	if err != nil {
		return cli.Failed(fmt.Errorf("read %s: %w", f.tokenizer, err), "byte-level BPE is read, as of Qwen, Llama 3, GPT-2; leave --tokenizer out for the estimate")
	}
	opt.Counter = func() rows.Counter { return tok.Clone() }
	opt.MaxTokens = cmp.Or(opt.MaxTokens, trainers.LongestAttempt)
	return nil
}

func chosenProfiles(names []string) ([]export.Profile, error) {
	if len(names) == 0 {
		return nil, cli.Misuse("export needs a format", "give --profile; `arena list profiles` lists them")
	}
	profiles := export.All()
	if slices.Equal(names, []string{allProfiles}) {
		return profiles, nil
	}
	for _, name := range names {
		if _, nearest, ok := export.ByName(name); !ok {
			return nil, cli.Usage(fmt.Errorf("unknown profile %q", name), fmt.Sprintf("did you mean %s? `arena list profiles` lists them", nearest))
		}
	}
	// in the order of the table, so that the order of flags leaves no mark
	return slices.DeleteFunc(profiles, func(p export.Profile) bool {
		return !slices.Contains(names, p.Name)
	}), nil
}

// ShowCounts prints, for each profile and split, the rows read, taken and written.
func ShowCounts(s *cli.Streams, counts []export.Count) {
	written := int64(0)
	for _, c := range counts {
		written += c.Rows
		s.Notef(
			"%-18s %-6s %8d in %8d taken %8d rows  %s\n",
			c.Profile,
			c.Split,
			c.In,
			c.Out,
			c.Rows,
			corpus.FormatCounts(c.Dropped),
		)
	}
	if len(counts) > 0 && written == 0 { // a recipe of steps has no profile to export to
		fmt.Fprintln(s.Err, "warning: no row was written: there is nothing to train on")
	}
}

// preflight renders the rows of a finished export through chat templates, to find what a template
// silently leaves out, such as tool calls or reasoning. It runs Python, since the templates are
// written in Jinja and another implementation could render them differently.
func preflight(
	ctx context.Context,
	s *cli.Streams,
	python, dir string,
	templates []string,
) error {
	if _, err := exec.LookPath(python); err != nil {
		return cli.Failed(fmt.Errorf("run preflight: %w", err), "the export is written; --preflight needs Python with jinja2 and pyarrow, named by --python")
	}
	c := exec.CommandContext(
		ctx,
		python,
		append([]string{"-c", export.Preflight, dir}, templates...)...,
	)
	c.Stdout = s.Err
	c.Stderr = s.Err
	err := c.Run()
	if _, ended := errors.AsType[*exec.ExitError](err); ended {
		return cli.Limit(fmt.Errorf("preflight of %s: something of the rows is lost, or the check could not run (%w)", dir, err), "the export is written; the lines above say what is lost in which template, and what to use")
	}
	return err
}

package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/guard/rows"
)

// leakFlags are what a user can say to `arena leak`.
type leakFlags struct {
	heldOut []string
	out     string
	report  string
	failOn  string
	drop    float64
	workers int
	quiet   bool
	embed   embedFlags
}

func newLeak(s *streams) *cobra.Command {
	f := leakFlags{}
	c := &cobra.Command{
		Use:   "leak --held-out BANK… CANDIDATES…",
		Short: "Find protected problems in any texts or corpus, however they are reworded",
		Long: `Find protected problems in any texts or corpus, however they are reworded.

A bank is a problems file or suite, JSON lines with id and text, query, problem or
messages, a corpus folder (its eval split), or a folder of banks. Candidates are the
same kinds of files, Parquet, Arrow and CSV included, or - for standard input; of a dialogue the
request, the rest of what the model reads and what it wrote are searched, tool
results are not. One line of JSON a row, in input order:

  drop  the row may not be trained on (recall first)
  same  every constraint agrees: product, brand, colour, size, numbers, delivery

Which tiers there are and how well they find what: docs/leak.md.`,
		Example: `  arena leak --held-out testdata/leak/bank.jsonl testdata/leak/texts.jsonl -o -
  arena build testdata/day -o corpus
  arena leak --held-out testdata/leak/bank.jsonl corpus -o leaks.jsonl --report report.json --fail-on drop`,
		Args: takes(1, anyNumber),
		RunE: func(c *cobra.Command, names []string) error {
			paths, cleanUp, err := local(c.Context(), names)
			defer cleanUp()
			if err != nil {
				return err
			}
			return f.run(c.Context(), s, paths)
		},
	}
	c.Flags().StringArrayVar(&f.heldOut, "held-out", nil, "protected problems; may be repeated")
	c.Flags().StringVarP(&f.out, "output", "o", "-", "output file; - is standard output")
	c.Flags().StringVar(&f.report, "report", "", "write the contamination report here")
	c.Flags().StringVar(&f.failOn, "fail-on", "", "exit 3 if a row is to be dropped (drop) or asks for the same (same)")
	c.Flags().Float64Var(&f.drop, "threshold", 0, "drop from this lexical score on, 0 to 1 (default: the detector's own)")
	c.Flags().IntVarP(&f.workers, "jobs", "j", runtime.NumCPU(), "workers")
	c.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "no words on standard error")
	f.embed.register(c)
	c.AddCommand(newLeakBank(s), newLeakRecalibrate(s))
	return c
}

func (f *leakFlags) run(ctx context.Context, s *streams, paths []string) error {
	if f.failOn != "" && f.failOn != "drop" && f.failOn != "same" {
		return usage(fmt.Errorf("--fail-on is %q", f.failOn), "it takes drop or same")
	}
	if !(f.drop >= 0 && f.drop <= 1) {
		return usage(fmt.Errorf("--threshold is %v", f.drop), "it is a score from 0 to 1")
	}
	if f.workers < 1 {
		return usage(fmt.Errorf("-j is %d", f.workers), "give at least one worker")
	}
	bank, err := readBanks(f.heldOut)
	if err != nil {
		return err
	}
	g, err := guard.New(bank, guard.Config{Drop: f.drop})
	if err != nil {
		return err
	}
	if err = g.Canary(); err != nil {
		return err
	}
	scan := &leakScan{guard: g, report: guard.NewReport(g), stdin: s.in, workers: f.workers, progress: noise{quiet: f.quiet}.progress(s)}
	if scan.tier, err = f.embed.tier(ctx, g, scan.report); err != nil {
		return err
	}
	scan.required = f.embed.required
	err = f.write(s, scan, func(w io.Writer) error { return scan.paths(ctx, w, paths) })
	scan.progress.done()
	if err != nil {
		return err
	}
	return f.finish(s, scan, paths)
}

// write writes the lines and, if it is wanted, the report, whose file is opened
// before the search.
func (f *leakFlags) write(s *streams, scan *leakScan, search func(io.Writer) error) error {
	if f.report == "" {
		return writeWhole(s, f.out, search)
	}
	return writeWhole(s, f.report, func(w io.Writer) error {
		if err := writeWhole(s, f.out, search); err != nil {
			return err
		}
		b, err := scan.report.Encode()
		if err != nil {
			return err
		}
		_, err = io.WriteString(w, withoutSecrets(string(b)))
		return err
	})
}

func (f *leakFlags) finish(s *streams, scan *leakScan, paths []string) error {
	if err := f.say(s, scan, paths); err != nil {
		return err
	}
	found := map[string]int{"drop": len(scan.report.Dropped), "same": scan.same}[f.failOn]
	if found > 0 {
		return limit(fmt.Errorf("%d rows match protected problems", found), "the lines with drop true say which and why")
	}
	return nil
}

func (f *leakFlags) say(s *streams, scan *leakScan, paths []string) error {
	if f.quiet {
		return nil
	}
	fmt.Fprintf(s.err, "arena: %d rows, %d to drop (%d ask for the same), %d beyond the lexical tier\n",
		scan.report.Rows, len(scan.report.Dropped), scan.same, scan.report.Beyond)
	if scan.report.NotRun != "" {
		fmt.Fprintf(s.err, "arena: not run: %s\n", scan.report.NotRun)
	}
	return sayUnread(s, paths)
}

// sayUnread names files that lie in the folders and were not searched, up to a
// handful.
func sayUnread(s *streams, paths []string) error {
	const most = 5
	var unread []string
	for _, path := range paths {
		if path == "-" {
			continue
		}
		others, err := rows.Others(path)
		if err != nil {
			return err
		}
		unread = append(unread, others...)
	}
	if n := len(unread); n > 0 {
		fmt.Fprintf(s.err, "arena: not read: %d files that are no rows, first %s\n", n, strings.Join(unread[:min(n, most)], ", "))
	}
	return nil
}

// bankForms is what helps where a bank cannot be read.
const bankForms = "a bank is a problems file or suite, rows with text, query, problem or messages, a corpus folder (its eval split), or a folder of banks; the bank.json of a corpus is for --bank of `arena build`"

// readBanks reads every protected bank. Without one nothing would be found.
func readBanks(paths []string) ([]guard.Entry, error) {
	if len(paths) == 0 {
		return nil, usage(errors.New("no protected bank is given"), "name one with --held-out")
	}
	var bank []guard.Entry
	for _, p := range paths {
		entries, err := guard.ReadBank(p)
		if err != nil {
			return nil, failed(err, bankForms)
		}
		bank = append(bank, entries...)
	}
	return bank, nil
}

// leakScan is one pass over candidates.
type leakScan struct {
	guard   *guard.Guard
	tier    *guard.EmbeddingTier
	report  *guard.Report
	stdin   io.Reader
	same    int
	workers int
	batch   []leakRow
	// progress is told of every row that is read.
	progress *display
	// required fails the run where the embedding tier stops answering.
	required bool
}

// leakRow is one candidate with what the guard said of it.
type leakRow struct {
	candidate guard.Candidate
	finding   guard.Finding
}

// leakLine is the promised line format.
type leakLine struct {
	ID         string  `json:"id"`
	TextSHA256 string  `json:"text_sha256"`
	Match      *string `json:"match"`
	Drop       bool    `json:"drop"`
	Same       bool    `json:"same"`
	Score      float64 `json:"score"`
	Tier       *string `json:"tier"`
	Evidence   string  `json:"evidence"`
}

func (l *leakScan) paths(ctx context.Context, w io.Writer, paths []string) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	read := 0
	err := eachCandidate("leak", paths, l.stdin, l.progress, func(row rows.Row) error {
		read++
		return l.row(ctx, out, row)
	})
	if err != nil {
		return failed(err, "rows need id and one of text, query, problem or messages")
	}
	if read == 0 {
		return failed(errors.New("no candidates: the input holds no row"), "give JSON lines, a JSON array, Parquet or a corpus folder")
	}
	return l.flush(ctx, out)
}

// eachCandidate yields the rows of files, of all row files of folders, and of
// standard input, as a stage of the progress that is shown.
func eachCandidate(stage string, paths []string, stdin io.Reader, progress *display, yield func(rows.Row) error) error {
	var files []string
	for _, path := range paths {
		in := []string{path}
		if path != "-" {
			var err error
			if in, err = rows.Files(path); err != nil {
				return err
			}
		}
		files = append(files, in...)
	}
	progress.kind = "rows"
	progress.begin(stage, len(files))
	for _, f := range files {
		if err := eachRow(f, stdin, progress, yield); err != nil {
			return err
		}
	}
	return nil
}

func eachRow(file string, stdin io.Reader, progress *display, yield func(rows.Row) error) error {
	told := func(row rows.Row) error {
		progress.attempt()
		return yield(row)
	}
	if file == "-" {
		return rows.EachOf(stdin, "stdin", told)
	}
	if err := rows.Each(file, told); err != nil {
		return err
	}
	size := int64(0)
	if at, err := os.Stat(file); err == nil { // it was read: only its size is asked for
		size = at.Size()
	}
	progress.finished(size)
	return nil
}

// leakBatch is how many rows are checked side by side, and wait for one round of
// embeddings.
const leakBatch = 512

func (l *leakScan) row(ctx context.Context, out *json.Encoder, row rows.Row) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c, err := guard.CandidateOf(row)
	if err != nil {
		return err
	}
	l.batch = append(l.batch, leakRow{candidate: c})
	if len(l.batch) >= leakBatch {
		return l.flush(ctx, out)
	}
	return nil
}

// check fills in the findings of the batch.
func (l *leakScan) check() {
	var all sync.WaitGroup
	for w := range l.workers {
		all.Go(func() {
			for i := w; i < len(l.batch); i += l.workers {
				l.batch[i].finding = l.guard.Check(l.batch[i].candidate)
			}
		})
	}
	all.Wait()
}

func (l *leakScan) flush(ctx context.Context, out *json.Encoder) error {
	l.check()
	if l.tier != nil {
		if err := l.embedded(ctx); err != nil {
			return err
		}
	}
	for _, r := range l.batch {
		l.report.Add(r.candidate.ID, r.finding)
		if r.finding.Drop && r.finding.Same {
			l.same++
		}
		if err := out.Encode(lineOf(r)); err != nil {
			return err
		}
	}
	l.batch = l.batch[:0]
	return nil
}

// embedded lets the embedding tier look at every row that was not dropped.
func (l *leakScan) embedded(ctx context.Context) error {
	candidates, findings := make([]guard.Candidate, len(l.batch)), make([]guard.Finding, len(l.batch))
	for i, r := range l.batch {
		candidates[i], findings[i] = r.candidate, r.finding
	}
	if err := l.tier.Check(ctx, candidates, findings); err != nil {
		return err
	}
	if err := l.tier.Down(); err != nil {
		l.report.NotRun = "embedding, from some row on: " + err.Error()
		if l.required {
			return failed(err, "the embedding tier is required and its endpoint does not answer")
		}
	}
	for i := range l.batch {
		l.batch[i].finding = findings[i]
	}
	return nil
}

func lineOf(r leakRow) leakLine {
	sum := sha256.Sum256([]byte(r.candidate.Text))
	f := r.finding
	return leakLine{
		ID: withoutSecrets(r.candidate.ID), TextSHA256: hex.EncodeToString(sum[:]), Match: orNull(withoutSecrets(f.Match)), Drop: f.Drop, Same: f.Same,
		Score: f.Score, Tier: orNull(string(f.Tier)), Evidence: withoutSecrets(f.Evidence),
	}
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// readRotation reads the bank's state file; none yet is an empty bank.
func readRotation(path string) (*guard.Rotation, error) {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return &guard.Rotation{Schema: guard.RotationSchema}, nil
	}
	return guard.ReadRotation(path)
}

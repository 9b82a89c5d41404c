package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/guard/minhash"
	"github.com/trajectory-arena/arena/guard/rows"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/shop"
)

type dedupFlags struct {
	out       string
	field     string
	profile   string
	threshold float64
	cap       int
	strip     []string
	index     string
	workers   int
	quiet     bool
	records   cli.RecordLimit
}

// NewDedup returns `arena dedup`.
func NewDedup(s *cli.Streams) *cobra.Command {
	f := dedupFlags{profile: "auto", threshold: 0.8, workers: runtime.NumCPU()}
	c := cli.Command("dedup FILES…", "Cluster near-duplicate texts of any JSON lines, JSON array or Parquet column", cli.NumArgs(1, cli.AnyNumber),
		func(c *cobra.Command, names []string) error {
			return f.run(c.Context(), s, names)
		})
	cli.Out(c, &f.out)
	flags := c.Flags()
	flags.StringVar(&f.field, "field", "", "column to compare, as a path (a.b.0); default: the whole text of the row")
	cli.Choice(
		c,
		&f.profile,
		"profile",
		[]string{"auto", "long", "short"},
		"long (documents), short (requests) or auto (by length)",
	)
	cli.Share(c, &f.threshold, "threshold", "Jaccard similarity from which texts are near-duplicates")
	flags.IntVar(&f.cap, "bucket-cap", minhash.Long().BucketCap, "maximum size of a bucket whose texts are all compared with each other")
	cli.Files(c, &f.strip, "strip", "file with boilerplate that is ignored (system prompt, tools); may be repeated")
	cli.Jobs(c, &f.workers, "workers")
	f.records.Register(c)
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "nothing on standard error")
	flags.StringVar(&f.index, "index", "", "file of signatures of earlier runs, which are compared and added to")
	cli.ReadsFiles(c)
	cli.Replaces(c, "index")
	return c
}

// dedupLine is a line of the output of `arena dedup`. Its format is documented and must not change.
type dedupLine struct {
	ID             string   `json:"id"`
	Cluster        string   `json:"cluster"`
	Representative bool     `json:"representative"`
	Jaccard        *float64 `json:"jaccard"`
}

// The heap growth between two garbage collections in percent (GOGC): fewTextsGrowth until manyTexts
// bytes of text were read, which saves a tenth of the processor time, and usualGrowth from then on.
const (
	fewTextsGrowth = 200
	usualGrowth    = 100
	manyTexts      = 256 << 20
)

func (f *dedupFlags) run(
	ctx context.Context,
	s *cli.Streams,
	names []string,
) error {
	files, err := s.Local(ctx, names)
	if err != nil {
		return err
	}
	cli.GrowHeap(fewTextsGrowth)
	if f.index == "" {
		return cli.WriteWhole(s, f.out, func(w io.Writer) error {
			return f.cluster(ctx, s, w, files, nil)
		})
	}

	release, err := corpus.Lock(f.index)
	if err != nil {
		return err
	}
	defer release()
	stored, err := minhash.ReadIndexFile(f.index)
	if err != nil {
		return cli.Failed(err, "start a new index: give another file to --index")
	}
	index := &dedupIndex{stored: stored}
	err = cli.WriteWhole(s, f.out, func(w io.Writer) error {
		return f.cluster(ctx, s, w, files, index)
	})
	if err != nil {
		return err
	}
	// Only at the end, so that the index holds nothing of a run whose output was lost.
	return stored.Append(&index.today)
}

// dedupIndex is the set of MinHash signatures among which `arena dedup` searches near-duplicates:
// stored has those of earlier runs, read from a file, and today those of this run's texts.
type dedupIndex struct {
	stored *minhash.IndexFile
	today  minhash.Index
}

func (f *dedupFlags) cluster(
	ctx context.Context,
	s *cli.Streams,
	w io.Writer,
	files []string,
	index *dedupIndex,
) error {
	in := newRowFiles(s, f.quiet, &f.records)
	defer in.progress.Done()
	ids, texts, err := f.read(ctx, &in, files)
	if err != nil {
		return err
	}
	options, err := f.options(texts)
	if err != nil {
		return err
	}
	size := int64(0)
	for _, t := range texts {
		size += int64(len(t))
	}
	options.Signed = in.progress.Reading("compare", size)
	groups, c, err := minhash.Texts(texts, options)
	in.progress.Done()
	if err != nil {
		return err
	}
	lines := dedupLines(ids, texts, groups)
	if index != nil {
		if err = index.join(texts, lines, options); err != nil {
			return err
		}
	}
	if err = ctx.Err(); err != nil {
		return err
	}
	clusters, err := writeLines(w, lines)
	if err != nil || f.quiet {
		return err
	}
	s.Notef("arena: %d texts, %d clusters, %d candidates compared, %d buckets over the cap (%d pairs not compared)\n",
		len(texts), clusters, c.Candidates, c.Capped, c.Skipped)
	return nil
}

func writeLines(w io.Writer, lines []dedupLine) (clusters int, err error) {
	enc := asjson.NewEncoder(w)
	for _, l := range lines {
		if err := enc.Encode(l); err != nil {
			return 0, err
		}
		if l.Representative {
			clusters++
		}
	}
	return clusters, nil
}

func (f *dedupFlags) read(
	ctx context.Context,
	in *rowFiles,
	files []string,
) (ids, texts []string, err error) {
	strip, err := f.stripper()
	if err != nil {
		return nil, nil, err
	}
	size := 0
	err = in.each("read", files, func(row rows.Row) error {
		text, id, unfit := f.textOf(row)
		if size += len(text); size >= manyTexts && size-len(text) < manyTexts {
			cli.GrowHeap(usualGrowth)
		}
		// A clone, so that the id does not retain the memory of its row.
		ids, texts = append(ids, strings.Clone(id)), append(texts, strip.Strip(text))
		return cmp.Or(unfit, ctx.Err())
	})
	if err != nil {
		return nil, nil, cli.DefaultHint(err, "the input is JSON lines, a JSON array, Parquet or a corpus folder; --field names the column to compare")
	}
	if len(texts) == 0 {
		return nil, nil, cli.Failed(errors.New("no texts: the input holds no row"), "give JSON lines, a JSON array, Parquet or a corpus folder")
	}
	return ids, texts, nil
}

func (f *dedupFlags) stripper() (*minhash.Stripper, error) {
	var boilerplate []string
	for _, path := range f.strip {
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, cli.Failed(fmt.Errorf("read boilerplate: %w", err), "--strip takes a text file")
		}
		boilerplate = append(boilerplate, string(b))
	}
	return minhash.NewStripper(boilerplate, shop.RemoveTerms), nil
}

func (f *dedupFlags) textOf(row rows.Row) (text, id string, err error) {
	if f.field != "" {
		column, name, ok := row.Field(f.field)
		if !ok {
			return "", name, fmt.Errorf("row %d has no column %q", row.Line+1, f.field)
		}
		return column, name, nil
	}
	c := rows.Read(row)
	id = cmp.Or(c.ID, row.Name())
	parts := append(append([]string{c.Request}, c.Context...), c.Answers...)
	text = strings.TrimSpace(strings.Join(parts, "\n"))
	if text == "" {
		return "", id, fmt.Errorf("row %d holds no text", row.Line+1)
	}
	return text, id, nil
}

// shortText is the length in bytes below which a text counts as a request rather than a document:
// about a hundred words.
const shortText = 600

func (f *dedupFlags) options(texts []string) (minhash.Options, error) {
	o := minhash.Long()
	short := 0
	for _, t := range texts {
		if len(t) < shortText {
			short++
		}
	}
	if f.profile == "short" || f.profile == "auto" && 2*short > len(texts) {
		o = minhash.Short()
	}
	o.Threshold = f.threshold
	o.BucketCap = f.cap
	o.Workers = f.workers
	if err := o.Validate(); err != nil {
		return o, cli.Usage(err, "see `arena dedup --help`")
	}
	return o, nil
}

// dedupLines returns the output lines of `arena dedup`, one for each text. The name of a cluster is
// a hash of the text of its representative, so that it does not depend on the order of files or on
// other texts.
func dedupLines(ids, texts []string, groups []minhash.Group) []dedupLine {
	names := make([]string, len(groups))
	var text []byte
	for i, g := range groups {
		if g.Representative {
			text = append(text[:0], texts[i]...)
			names[g.Root] = digest.SHA256(text)[:16]
		}
	}
	lines := make([]dedupLine, len(groups))
	for i, g := range groups {
		lines[i] = dedupLine{
			ID:             cli.WithoutSecrets(ids[i]),
			Cluster:        names[g.Root],
			Representative: g.Representative,
		}
		if !math.IsNaN(g.Jaccard) {
			lines[i].Jaccard = &g.Jaccard
		}
	}
	return lines
}

// join finds texts that are near-duplicates of texts of earlier runs. It changes the line of
// such a text: the text gets the cluster of the earlier one and represents no cluster. The
// signatures of all texts are added to x.today.
func (x *dedupIndex) join(
	texts []string,
	lines []dedupLine,
	o minhash.Options,
) error {
	signatures := make([]minhash.Packed, len(texts))
	for i, t := range texts {
		sig := minhash.Sign(t)
		signatures[i] = sig.Pack()
	}
	merged := x.stored.Before(signatures)
	earlier := len(merged.Names)
	for i := range signatures {
		merged.Add(lines[i].Cluster, signatures[i])
	}
	c, err := merged.Cluster(o)
	if err != nil {
		return err
	}
	for i := range lines {
		if root := int(c.Root[earlier+i]); root < earlier {
			similarity := merged.Signatures[root].Similarity(&signatures[i])
			lines[i] = dedupLine{
				ID:      lines[i].ID,
				Cluster: cli.WithoutSecrets(merged.Names[root]),
				Jaccard: &similarity,
			}
		}
		x.today.Add(lines[i].Cluster, signatures[i])
	}
	return nil
}

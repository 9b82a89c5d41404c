package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/verify"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/internal/claims"
	"github.com/trajectory-arena/arena/internal/text"
	"github.com/trajectory-arena/arena/pipeline/finish"
)

// NewVerify returns `arena verify`.
func NewVerify(s *cli.Streams) *cobra.Command {
	quiet := false
	public := false
	sentences := false
	var heldOut []string
	c := cli.Command("verify CORPUS", "Check everything that a corpus says about itself, from its files alone", cli.NumArgs(1, 1),
		func(c *cobra.Command, args []string) error {
			switch {
			case public:
				return verifyPublic(c.Context(), s, args[0], heldOut)
			case sentences:
				return verifyClaims(s, args[0], quiet)
			}
			return verifyWhole(c.Context(), s, args[0], heldOut, quiet)
		})
	flags := c.Flags()
	flags.BoolVarP(&quiet, "quiet", "q", false, "no output if everything is right")
	flags.BoolVar(&public, "public", false, "search every file of a folder, compressed ones and Parquet too, for what --held-out protects")
	cli.Files(c, &heldOut, "held-out", "further problems, beside those of bank.json, that may not be trained on: a file, or a corpus (the problems that its bank.json protects); may be repeated")
	flags.BoolVar(&sentences, "claims", false, "check a file of sentences with numbers against their sources")
	cli.ReadsFiles(c)
	return c
}

func verifyWhole(
	ctx context.Context,
	s *cli.Streams,
	name string,
	heldOut []string,
	quiet bool,
) error {
	return cli.ReadCorpus(ctx, name, func(fsys corpus.FS, dir string) error {
		progress := cli.Verbosity{Quiet: quiet}.Progress(s)
		findings, err := verify.Corpus(
			ctx,
			cli.Watched(fsys, []string{dir}, progress.Reading("verify", 0)),
			dir,
		)
		progress.Done()
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			return cli.Failed(err, cli.NoCorpus)
		case err != nil:
			return cli.Failed(err, "the corpus cannot be read to its end: build or copy it again")
		}
		for _, f := range findings {
			fmt.Fprintln(s.Err, f)
		}
		n := len(findings)
		findings = slices.DeleteFunc(findings, func(f verify.Finding) bool {
			return f.Withheld
		})
		if n -= len(findings); n > 0 {
			s.Notef("%s: %s kept at home, as a published copy's may be\n", name, cli.Counted(n, "file is", "files are"))
		}
		if err = verdict(name, findings); err != nil {
			return err
		}
		source, err := finish.Open(fsys, dir)
		if err == nil {
			err = verifyTrain(ctx, s, name, source, heldOut, quiet)
		}
		if err != nil || quiet {
			return err
		}
		tellVerified(s, name, source.Manifest)
		frozen, err := source.FrozenBanks()
		for _, citation := range frozen {
			s.Notef("%s: guarded against %s\n", name, citation)
		}
		return err
	})
}

func tellVerified(s *cli.Streams, name string, m *corpus.Manifest) {
	shards := 0
	rows := int64(0)
	size := int64(0)
	for _, f := range m.Files {
		size += f.Bytes
		if f.Rows != nil {
			shards, rows = shards+1, rows+*f.Rows
		}
	}
	s.Notef("%s: good: %d files (%.1f MB) have their checksums, %d shards their %d rows and schema, card and funnel add up, no split sees another\n",
		name, len(m.Files), float64(size)/1e6, shards, rows)
}

func verdict(dir string, findings []verify.Finding) error {
	switch {
	case len(findings) == 0:
		return nil
	case !slices.ContainsFunc(findings, func(f verify.Finding) bool { return !f.Leak }):
		return cli.Limit(
			fmt.Errorf(
				"verify %s: leak: %s in more than one split, first: %s",
				dir,
				cli.Counted(len(findings), "key is", "keys are"),
				findings[0],
			),
			"do not train on it; build it again with the held-out problems given by --held-out",
		)
	default:
		return cli.Failed(
			fmt.Errorf(
				"verify %s: %s broken, first: %s",
				dir,
				cli.Counted(len(findings), "promise", "promises"),
				findings[0],
			),
			"build or copy the corpus again; a file of it was changed",
		)
	}
}

func verifyClaims(s *cli.Streams, path string, quiet bool) error {
	results, err := claims.Check(path, ".")
	if err != nil {
		return cli.Failed(err, "a line is {what, page, sentence, source, formula, value, tolerance}")
	}
	count := map[string]int{}
	for _, f := range results {
		count[f.Outcome]++
		if f.Outcome != claims.Holds || !quiet {
			fmt.Fprintf(
				s.Out,
				"%s: %s: %s: %v %s\n",
				text.Line(f.Claim.Page),
				f.Outcome,
				text.Line(f.Claim.What),
				f.Claim.Value,
				text.Line(f.Why),
			)
		}
	}
	if wrong := count[claims.Differs] + count[claims.Contradicts]; wrong > 0 {
		return cli.Failed(
			fmt.Errorf("verify %s: %d of %s wrong", path, wrong, cli.Counted(len(results), "claim is", "claims are")),
			"correct the sentence, or what it was measured from",
		)
	}
	if !quiet {
		s.Notef(
			"%s: %d of %d claims hold, %d cannot be checked\n",
			path,
			count[claims.Holds],
			len(results),
			count[claims.Unchecked],
		)
	}
	return nil
}

func verifyPublic(
	ctx context.Context,
	s *cli.Streams,
	name string,
	heldOut []string,
) error {
	if len(heldOut) == 0 {
		return cli.Misuse("--public has nothing to look for", "name what is protected by --held-out: a problems file, or the corpus that this was published from")
	}
	bank, err := readBanks(heldOut)
	if err != nil {
		return err
	}
	local, err := s.Path(ctx, name)
	if err != nil {
		return err
	}
	files := 0
	err = guard.NewScanner(bank).ScanDir(local, func(path, what string) {
		files++
		s.Notef("%s: %s\n", path, cli.WithoutSecrets(what))
	})
	switch {
	case err != nil:
		return cli.Failed(err, "a file could not be searched to its end")
	case files > 0:
		return cli.Limit(
			fmt.Errorf("verify %s: %s what is protected", name, cli.Counted(files, "file holds", "files hold")),
			"do not publish it; `arena publish` makes what may be",
		)
	}
	s.Notef("%s: nothing protected: no request, id or title of %d problems\n", name, len(bank))
	return nil
}

// verifyTrain returns an error if a training row asks for a protected problem: one that the corpus
// or the held-out files keep for evaluation. If the protected problems are not known, it only
// prints that, unless quiet is set.
func verifyTrain(
	ctx context.Context,
	s *cli.Streams,
	name string,
	source *finish.Source,
	heldOut []string,
	quiet bool,
) error {
	leaks := 0
	known, err := finish.CollectExclusions([]*finish.Source{source}, heldOut)
	if err == nil {
		err = known.FindLeaks(ctx, source, func(id, evidence string) {
			leaks++
			s.Notef("%s: %s\n", cli.WithoutSecrets(id), cli.WithoutSecrets(evidence))
		})
	}
	switch {
	case errors.Is(err, finish.ErrNotProtected):
		if !quiet {
			s.Notef("training rows were not searched for what is not known (--held-out): %v\n", err)
		}
		return nil
	case err == nil && leaks > 0:
		return cli.Limit(
			fmt.Errorf("verify %s: leak: %s for what is protected", name, cli.Counted(leaks, "training row asks", "training rows ask")),
			"do not train on it; build it again",
		)
	}
	return err
}

// Package daygen generates attempts for tests and measurements: problems, a catalogue, and
// traces of several families of agents in the sandbox's own format. Everything is determined by
// a seed; no real data are used.
package daygen

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
)

// Config sets the size and the kind of the generated data.
type Config struct {
	Seed     uint64
	Attempts int
	Problems int
	// Products is the number of products in the catalogue.
	Products int
	// Sentences is the mean number of sentences in a product's description. It determines the
	// size of an attempt, which consists mostly of product details.
	Sentences int
	// Pages is the maximum number of searches for one requested product.
	Pages int
	// Agentic is the share of runs, from 0 to 1, in which the model decides the calls.
	Agentic float64
	// Day is the number of days after 1 June 2026 on which the runs start.
	Day int
	// Gzip reports whether traces are written as .jsonl.gz.
	Gzip bool
}

// Validate returns an error that joins everything that is wrong with c, or nil.
func (c Config) Validate() error {
	var problems []error
	for _, n := range []struct {
		name  string
		value int
	}{
		{"attempts", c.Attempts},
		{"problems", c.Problems},
		{"products", c.Products},
		{"sentences", c.Sentences},
		{"pages", c.Pages},
	} {
		if n.value < 1 {
			problems = append(problems, fmt.Errorf("%s is %d, at least 1 is needed", n.name, n.value))
		}
	}
	if c.Agentic < 0 || c.Agentic > 1 {
		problems = append(problems, fmt.Errorf("agentic is %g, not a share of 0 to 1", c.Agentic))
	}
	if c.Products < len(lexicon.Nouns) {
		problems = append(problems, fmt.Errorf("products is %d, at least %d are needed", c.Products, len(lexicon.Nouns)))
	}
	return errors.Join(problems...)
}

// Summary counts what was written. Bytes is the size of the traces before compression.
type Summary struct {
	Runs, Attempts int
	Bytes          int64
}

// Write writes the generated data to dir, which must not contain any. The catalogue and one
// attempt at a time are in memory.
func Write(ctx context.Context, dir string, c Config) (Summary, error) {
	if err := c.Validate(); err != nil {
		return Summary{}, fmt.Errorf("check configuration: %w", err)
	}
	day := &day{
		Config:  c,
		dir:     dir,
		catalog: newCatalog(roll(c.Seed, 1), c.Products, c.Sentences),
	}
	day.problems = newProblems(roll(c.Seed, 2), day.catalog, c.Problems)
	if err := day.write(ctx); err != nil {
		return Summary{}, fmt.Errorf("write day %s: %w", dir, err)
	}
	return day.summary, nil
}

type day struct {
	Config
	dir      string
	catalog  *catalog
	problems []*problem
	labels   io.Writer
	summary  Summary
}

func (y *day) write(ctx context.Context) error {
	var products, problems []string
	for _, p := range y.catalog.products {
		products = append(products, p.document)
	}
	for _, p := range y.problems {
		problems = append(problems, p.document)
	}
	if err := y.lines("catalog.jsonl", products...); err != nil {
		return err
	}
	if err := y.lines("problems.jsonl", problems...); err != nil {
		return err
	}
	return y.file("labels.jsonl", func(w io.Writer) error {
		y.labels = w
		return y.runs(ctx)
	})
}

// lines creates a file in the folder of the generated data and writes the given lines to it.
func (y *day) lines(name string, problems ...string) error {
	return y.file(name, func(w io.Writer) error {
		_, err := io.WriteString(w, strings.Join(problems, "\n")+"\n")
		return err
	})
}

// file creates a file in the folder of the generated data and calls write to fill it. It returns
// an error if the file exists.
func (y *day) file(name string, write func(io.Writer) error) error {
	path := filepath.Join(y.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	if err := write(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

func (y *day) runs(ctx context.Context) error {
	for i := 0; y.summary.Attempts < y.Attempts; i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := y.run(i); err != nil {
			return err
		}
		y.summary.Runs++
	}
	return nil
}

// run writes the attempts of simulated agent i at all problems, or at as many as are still
// needed.
func (y *day) run(i int) error {
	a := newAgent(roll(y.Seed, 3, uint64(i)), i, y.Config)
	folder := "traces/run=" + a.run
	name := "output.jsonl"
	if y.Gzip {
		name += ".gz"
	}
	meta := object("eval_run_id", str(a.run), "agent_version_id", str(a.version), "miner_hotkey", str(a.hotkey),
		"suite_version", str("v3"), "started_at", str(time.UnixMilli(a.started).UTC().Format(time.RFC3339)))
	if err := y.lines(folder+"/run.json", meta); err != nil {
		return err
	}
	return y.file(folder+"/"+name, func(w io.Writer) error {
		if !y.Gzip {
			return y.attempts(w, &a, i)
		}
		// The fastest compression level is used, since the files are not kept for long.
		z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
		if err != nil {
			return err
		}
		if err := y.attempts(z, &a, i); err != nil {
			return err
		}
		return z.Close()
	})
}

func (y *day) attempts(
	w io.Writer,
	a *agent,
	run int,
) error {
	for i, p := range y.problems {
		if y.summary.Attempts == y.Attempts {
			return nil
		}
		line, label := y.attempt(
			roll(y.Seed, 4, uint64(run), uint64(i)),
			a,
			p,
		)
		if _, err := io.WriteString(w, line+"\n"); err != nil {
			return err
		}
		if _, err := io.WriteString(y.labels, label); err != nil {
			return err
		}
		y.summary.Attempts++
		y.summary.Bytes += int64(len(line)) + 1
	}
	return nil
}

// brokenShare is the share of generated attempts that failed or timed out and have no dialogue.
const brokenShare = 0.05

func (y *day) attempt(
	d *dice,
	a *agent,
	p *problem,
) (line, label string) {
	if d.chance(brokenShare) {
		status, line := broken(d, p)
		return line, a.label(p, status, "null", "it left no dialogue")
	}
	s := &shopper{
		d: d,
		c: y.catalog,
		p: p,
		a: a,
	}
	return a.envelope(d, p, s.play()), a.label(
		p,
		"SUCCESS",
		fmt.Sprint(a.agentic),
		a.why,
	)
}

func (a *agent) label(p *problem, status, agentic, why string) string {
	return object("eval_run_id", str(a.run), "problem_id", str(p.id), "family", str(a.name),
		"agentic", agentic, "status", str(status), "why", str(why)) + "\n"
}

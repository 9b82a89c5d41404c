package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/guard/rows"
	"github.com/trajectory-arena/arena/pipeline"
)

// embedFlags say where the embedding tier's vectors come from.
type embedFlags struct {
	config      guard.EmbedderConfig
	keyEnv      string
	calibration string
	required    bool
}

func (f *embedFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.config.BaseURL, "embed-endpoint", "", "also compare meanings through this OpenAI-compatible address, ending in /v1")
	c.Flags().StringVar(&f.config.Model, "embed-model", "", "model to ask for")
	c.Flags().StringVar(&f.config.Prefix, "embed-prefix", "", "text before each request, for models that want one")
	c.Flags().StringVar(&f.keyEnv, "embed-key-env", "", "environment variable that holds the key")
	c.Flags().UintVar(&f.config.Tries, "embed-tries", 4, "tries of one request while the server is busy or broken")
	c.Flags().StringVar(&f.calibration, "embed-calibration", "", "threshold as arena leak recalibrate wrote it (default: set on the bank)")
	c.Flags().BoolVar(&f.required, "embed-required", false, "fail if the embedding tier cannot run")
}

func (f *embedFlags) embedder() (*guard.Embedder, error) {
	if f.keyEnv != "" {
		if f.config.Key = os.Getenv(f.keyEnv); f.config.Key == "" {
			return nil, usage(fmt.Errorf("environment variable %s is not set", f.keyEnv), "set it to the endpoint's key")
		}
	}
	e, err := guard.NewEmbedder(f.config)
	if err != nil {
		return nil, usage(err, "give --embed-endpoint and --embed-model together")
	}
	return e, nil
}

// asked reports whether the embedding tier is wanted. What is said about it without
// a place where vectors come from is refused: a tier that is required would not
// run, and nobody would know.
func (f *embedFlags) asked() (bool, error) {
	if f.config.BaseURL != "" || f.config.Model != "" {
		return true, nil
	}
	if f.required || f.calibration != "" || f.keyEnv != "" || f.config.Prefix != "" {
		return false, usage(errors.New("nothing says where embeddings come from"), "give --embed-endpoint and --embed-model, or leave the other --embed flags out")
	}
	return false, nil
}

// tier starts the embedding tier, nil where none is asked for or where the
// endpoint is down and not required; the report then says so.
func (f *embedFlags) tier(ctx context.Context, g *guard.Guard, report *guard.Report) (*guard.EmbeddingTier, error) {
	if asked, err := f.asked(); !asked {
		return nil, err
	}
	e, err := f.embedder()
	if err != nil {
		return nil, err
	}
	calibration, err := f.readCalibration()
	if err != nil {
		return nil, err
	}
	t, err := guard.NewEmbeddingTier(ctx, g, e, calibration)
	switch {
	case err == nil:
		report.Ran = append(report.Ran, guard.TierEmbedding)
		return t, nil
	case f.required || calibration != nil || ctx.Err() != nil:
		return nil, failed(err, "is the endpoint up, and does the calibration belong to this model?")
	}
	report.NotRun = "embedding: " + err.Error()
	return nil, nil
}

// start is the embedding tier of a build; nil where none is asked for.
func (f *embedFlags) start() (pipeline.Embedding, error) {
	if asked, err := f.asked(); !asked {
		return nil, err
	}
	return f.tier, nil
}

func (f *embedFlags) readCalibration() (*guard.Calibration, error) {
	if f.calibration == "" {
		return nil, nil
	}
	b, err := os.ReadFile(f.calibration)
	if err != nil {
		return nil, usage(fmt.Errorf("read calibration: %w", err), "write one with `arena leak recalibrate`")
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	c := &guard.Calibration{}
	if err := d.Decode(c); err != nil {
		return nil, usage(fmt.Errorf("read calibration: %w", err), "write one with `arena leak recalibrate`")
	}
	return c, nil
}

func newLeakRecalibrate(s *streams) *cobra.Command {
	var f embedFlags
	var heldOut []string
	var pairs, out string
	c := &cobra.Command{
		Use:   "recalibrate --held-out BANK… --embed-endpoint URL --embed-model M",
		Short: "Set the embedding tier's threshold for a model",
		Long: `Set the embedding tier's threshold for a model: at most 2 of 100,000 pairs of
protected requests that share no product may reach it, and it is no lower than the
rewordings of --pairs need (JSON lines with base and text).`,
		Example: `  # with a server of embeddings at that address
  arena leak recalibrate --held-out testdata/leak/bank.jsonl --embed-endpoint http://127.0.0.1:8080/v1 --embed-model minilm -o minilm.json`,
		Args: takes(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			return writeWhole(s, out, func(w io.Writer) error { return recalibrate(c.Context(), w, &f, heldOut, pairs) })
		},
	}
	c.Flags().StringArrayVar(&heldOut, "held-out", nil, "protected problems; may be repeated")
	c.Flags().StringVar(&pairs, "pairs", "", "rewordings to find, JSON lines with base and text")
	c.Flags().StringVarP(&out, "output", "o", "-", "output file; - is standard output")
	f.register(c)
	return c
}

func recalibrate(ctx context.Context, w io.Writer, f *embedFlags, heldOut []string, pairs string) error {
	bank, err := readBanks(heldOut)
	if err != nil {
		return err
	}
	g, err := guard.New(bank, guard.Config{})
	if err != nil {
		return err
	}
	e, err := f.embedder()
	if err != nil {
		return err
	}
	rewordings, err := readPairs(pairs)
	if err != nil {
		return err
	}
	t, err := guard.NewEmbeddingTier(ctx, g, e, nil)
	if err != nil {
		return failed(err, "is the endpoint up?")
	}
	c, err := t.Recalibrate(ctx, rewordings)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	return enc.Encode(c)
}

func readPairs(path string) ([]guard.Pair, error) {
	if path == "" {
		return nil, nil
	}
	var out []guard.Pair
	err := rows.Each(path, func(r rows.Row) error {
		var p guard.Pair
		if err := json.Unmarshal([]byte(r.JSON), &p); err != nil || p.Base == "" || p.Text == "" {
			return errors.Join(fmt.Errorf("row %d: base and text are both needed", r.Line+1), err)
		}
		out = append(out, p)
		return nil
	})
	return out, err
}

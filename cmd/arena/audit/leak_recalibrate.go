package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/cmd/arena/instrument"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/guard/rows"
)

func newLeakRecalibrate(s *cli.Streams) *cobra.Command {
	var f instrument.EmbedFlags
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
		Args: cli.Takes(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			return cli.WriteWhole(s, out, func(w io.Writer) error { return recalibrate(c.Context(), w, &f, heldOut, pairs) })
		},
	}
	c.Flags().StringArrayVar(&heldOut, "held-out", nil, "protected problems; may be repeated")
	c.Flags().StringVar(&pairs, "pairs", "", "rewordings to find, JSON lines with base and text")
	c.Flags().StringVarP(&out, "output", "o", "-", "output file; - is standard output")
	cli.Reads(c, "held-out", "pairs")
	cli.Replaces(c, "output")
	f.Register(c)
	return c
}

func recalibrate(ctx context.Context, w io.Writer, f *instrument.EmbedFlags, heldOut []string, pairs string) error {
	bank, err := readBanks(heldOut)
	if err != nil {
		return err
	}
	g, err := guard.New(bank, guard.Config{})
	if err != nil {
		return err
	}
	e, err := f.Embedder()
	if err != nil {
		return err
	}
	rewordings, err := readPairs(pairs)
	if err != nil {
		return err
	}
	t, err := guard.NewEmbeddingTier(ctx, g, e, nil)
	if err != nil {
		return cli.Failed(err, "is the endpoint up?")
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

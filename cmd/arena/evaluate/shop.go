package evaluate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/internal/python"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/shop"
)

// NewShop returns `arena shop`.
func NewShop(s *cli.Streams) *cobra.Command {
	return cli.Family("shop", "The product search and tools that students act in", newShopIndex(s), newShopServe(s), newShopCall(s))
}

type catalogFlags struct {
	Catalog string
	index   string
	rules   string
}

func (f *catalogFlags) add(c *cobra.Command) {
	cli.File(c, &f.Catalog, "catalog", "product catalogue: JSONL")
	cli.File(c, &f.index, "index", "its search index, made by arena shop index; built on the spot where none is given")
	f.rules = "subnet"
	cli.Choice(
		c,
		&f.rules,
		"rules",
		slicesx.SortedKeys(searchRules),
		"whose server to be: subnet or benchmark (ShoppingBench)",
	)
}

var searchRules = map[string]shop.Rules{"subnet": shop.SubnetRules, "benchmark": shop.BenchmarkRules}

// open opens the catalogue for search. It verifies an index file by reading it completely, since a
// damaged index would rank products differently without an error.
func (f *catalogFlags) open(ctx context.Context) (shop.Local, error) {
	if f.Catalog == "" {
		return shop.Local{}, cli.Misuse("no catalogue given", "name one with --catalog")
	}
	c, err := shop.Open(ctx, f.Catalog, f.index)
	if err == nil && f.index != "" {
		if err = c.VerifyIndex(); err != nil {
			err = errors.Join(err, c.Close())
		}
	}
	switch {
	case err != nil && f.index != "":
		return shop.Local{}, cli.Failed(err, "an index is of one catalogue as it was, and of one version: build it again with `arena shop index`")
	case err != nil:
		return shop.Local{}, cli.Failed(err, "the catalogue is JSONL with product_id and price on every line")
	}
	return shop.Local{
		Catalog: c,
		Rules:   searchRules[f.rules],
	}, nil
}

// shopTokenEnv is the environment variable with the token of a search server: arena shop serve
// wants it, and the commands that ask a search server send it.
const shopTokenEnv = "ARENA_SHOP_TOKEN"

func newShopServe(s *cli.Streams) *cobra.Command {
	var f catalogFlags
	var door cli.Door
	c := cli.Command("serve --catalog F", "Serve the search over HTTP, a drop-in for the subnet's server", cli.NumArgs(0, 0),
		func(c *cobra.Command, _ []string) error {
			token, err := door.Token()
			if err != nil {
				return err
			}
			local, err := f.open(c.Context())
			if err != nil {
				return err
			}
			words := fmt.Sprintf("%d products", local.Catalog.Len())
			err = door.Serve(c.Context(), s, words, cli.WithToken(shop.Handler(local), token))
			return errors.Join(err, local.Catalog.Close())
		})
	f.add(c)
	door.Add(c, "127.0.0.1:5632", shopTokenEnv)
	return c
}

func newShopIndex(s *cli.Streams) *cobra.Command {
	var out string
	var verify bool
	c := cli.Command("index CATALOG -o INDEX", "Build the search index of a catalogue", cli.NumArgs(1, 1), func(c *cobra.Command, args []string) error {
		if out == "" || out == "-" {
			return cli.Misuse("no file given for the index", "name it with -o; it is mapped into memory, so it cannot be a stream")
		}
		if verify {
			return verifyIndex(c.Context(), s, args[0], out)
		}
		return buildIndex(c.Context(), s, args[0], out)
	})
	c.Flags().StringVarP(&out, "output", "o", "", "index file")
	c.Flags().BoolVar(&verify, "verify", false, "check an index instead of building it")
	cli.ReadsFiles(c)
	cli.Replaces(c, "output")
	return c
}

func buildIndex(
	ctx context.Context,
	s *cli.Streams,
	catalog, out string,
) error {
	start := time.Now()
	err := cli.WriteWhole(s, out, func(w io.Writer) error {
		return cli.DefaultHint(shop.BuildIndex(ctx, catalog, w), "every line of a catalogue is a JSON object with product_id and a numeric price; decompress it first")
	})
	if err != nil {
		return err
	}
	st, err := os.Stat(out)
	if err != nil {
		return fmt.Errorf("create index: %w", err)
	}
	s.Notef(
		"%s: %.1f MB in %s\n",
		out,
		float64(st.Size())/1e6,
		time.Since(start).Round(time.Millisecond),
	)
	return nil
}

func verifyIndex(
	ctx context.Context,
	s *cli.Streams,
	catalog, out string,
) error {
	c, err := shop.Open(ctx, catalog, out)
	if err == nil {
		err = c.Verify()
		err = errors.Join(err, c.Close())
	}
	if err != nil {
		return cli.Failed(err, "build it again with `arena shop index`")
	}
	s.Notef("%s: good\n", out)
	return nil
}

func newShopCall(s *cli.Streams) *cobra.Command {
	var f catalogFlags
	var out, remote string
	c := cli.Command("call FILE --catalog F -o F", "Run tool calls and write what the tools answer", cli.NumArgs(1, 1),
		func(c *cobra.Command, args []string) error {
			tools, closing, err := openTools(c.Context(), f, remote)
			if err != nil {
				return err
			}
			err = callTools(c.Context(), s, tools, args[0], out)
			return errors.Join(err, closing())
		})
	f.add(c)
	cli.Out(c, &out)
	c.Flags().StringVar(&remote, "remote", "", "ask the search server at this URL instead of a catalogue")
	cli.ReadsFiles(c)
	return c
}

func openTools(
	ctx context.Context,
	f catalogFlags,
	remote string,
) (*shop.Tools, func() error, error) {
	names, _ := shop.ToolNames(shop.Profiles()[0]) // it is one of them
	if remote != "" {
		return shop.NewTools(
				shop.NewRemote(remote, os.Getenv(shopTokenEnv)),
				searchRules[f.rules],
				names,
			), func() error {
				return nil
			}, nil
	}
	local, err := f.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	return shop.NewTools(local, local.Rules, names), local.Catalog.Close, nil
}

func callTools(
	ctx context.Context,
	s *cli.Streams,
	tools *shop.Tools,
	path, out string,
) (err error) {
	input := s.In
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return cli.Failed(fmt.Errorf("read calls: %w", err), "name a JSONL file, or - for standard input")
		}
		defer file.Close() //nolint:errcheck // only read
		input = file
	}
	return cli.WriteWhole(s, out, func(w io.Writer) error {
		return answerCalls(ctx, tools, input, w)
	})
}

func answerCalls(
	ctx context.Context,
	tools *shop.Tools,
	r io.Reader,
	w io.Writer,
) error {
	for line, err := range arena.Lines(r, maxCallBytes) {
		if err != nil {
			return fmt.Errorf("read calls: %w", err)
		}
		answer, err := answerCall(ctx, tools, string(line.Text))
		switch {
		case errors.Is(err, errSearch):
			return cli.Failed(fmt.Errorf("run calls: line %d: %w", line.Number, err), "is it up? its /health answers when it is ready")
		case err != nil:
			return cli.Failed(fmt.Errorf("read calls: line %d: %w", line.Number, err), "a line is {id, tool, arguments}")
		}
		if _, err = w.Write(answer); err != nil {
			return fmt.Errorf("write answers: %w", err)
		}
	}
	return nil
}

// maxCallBytes limits the size in bytes of a line with a tool call. Real calls, a query or a list
// of IDs, are far shorter.
const maxCallBytes = 1 << 20

var errSearch = errors.New("the search server did not answer")

func answerCall(
	ctx context.Context,
	tools *shop.Tools,
	text string,
) ([]byte, error) {
	line, err := python.Loads(text)
	if err != nil {
		return nil, err
	}
	id, _ := line.Get("id")
	name, hasName := line.Get("tool")
	arguments, hasArguments := line.Get("arguments")
	if line.Kind != python.Dict || !hasName || name.Kind != python.Str || !hasArguments {
		return nil, errors.New("no tool or no arguments")
	}
	a := tools.Call(ctx, name.Text, arguments)
	if r, lost := a.Unanswered(); lost {
		return nil, fmt.Errorf("%w: %s", errSearch, r.Path)
	}
	result := a.Result
	if !python.IsFinite(result) {
		result = python.Value{}
	}
	return append(python.AppendDumps(nil, python.DictOf(
		python.Item{Key: "id", Value: id}, python.Item{
			Key:   "tool_call_id",
			Value: python.String(a.ID),
		},
		python.Item{Key: "result", Value: result}, python.Item{
			Key:   "obs",
			Value: python.String(shop.Observation([]shop.Answer{a})),
		},
	)), '\n'), nil
}

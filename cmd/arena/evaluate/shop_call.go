package evaluate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/internal/python"
	"github.com/trajectory-arena/arena/shop"
)

func newShopCall(s *cli.Streams) *cobra.Command {
	var f catalogFlags
	var out, remote string
	c := cli.Command("call FILE --catalog F -o F", "Run tool calls and write what the tools answer", cli.Takes(1, 1),
		func(c *cobra.Command, args []string) error {
			tools, closing, err := openTools(c.Context(), f, remote)
			if err != nil {
				return err
			}
			return errors.Join(callTools(c.Context(), s, tools, args[0], out), closing())
		})
	f.add(c)
	cli.Out(c, &out)
	c.Flags().StringVar(&remote, "remote", "", "ask the search server at this URL instead of a catalogue")
	cli.ReadsFiles(c)
	return c
}

func openTools(ctx context.Context, f catalogFlags, remote string) (*shop.Tools, func() error, error) {
	all, err := shop.ToolNames(shop.Profiles()[0])
	if err != nil {
		return nil, nil, err
	}
	if remote != "" {
		tools, bad := shop.NewTools(shop.NewRemote(remote), searchRules[f.rules], all)
		return tools, func() error { return nil }, bad
	}
	local, err := f.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	tools, err := shop.NewTools(local, local.Rules, all)
	return tools, local.Catalog.Close, err
}

func callTools(ctx context.Context, s *cli.Streams, tools *shop.Tools, path, out string) (err error) {
	in := s.In
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return cli.Failed(fmt.Errorf("read calls: %w", err), "name a JSONL file, or - for standard input")
		}
		defer file.Close() //nolint:errcheck // only read
		in = file
	}
	return cli.WriteWhole(s, out, func(w io.Writer) error { return answerCalls(ctx, tools, in, w) })
}

func answerCalls(ctx context.Context, tools *shop.Tools, in io.Reader, w io.Writer) error {
	for line, err := range arena.Lines(in, maxCallBytes) {
		if err != nil {
			return fmt.Errorf("read calls: %w", err)
		}
		answer, err := answerCall(ctx, tools, string(line.Text))
		if errors.Is(err, errSearch) {
			return cli.Failed(fmt.Errorf("run calls: line %d: %w", line.Number, err), "is it up? its /health answers when it is ready")
		}
		if err != nil {
			return cli.Failed(fmt.Errorf("read calls: line %d: %w", line.Number, err), "a line is {id, tool, arguments}")
		}
		if _, err = w.Write(answer); err != nil {
			return fmt.Errorf("write answers: %w", err)
		}
	}
	return nil
}

// maxCallBytes bounds a call: a query and a list of ids are far shorter.
const maxCallBytes = 1 << 20

var errSearch = errors.New("the search server did not answer")

func answerCall(ctx context.Context, tools *shop.Tools, text string) ([]byte, error) {
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
		python.Item{Key: "id", Value: id}, python.Item{Key: "tool_call_id", Value: python.String(a.ID)},
		python.Item{Key: "result", Value: result}, python.Item{Key: "obs", Value: python.String(shop.Observation([]shop.Answer{a}))},
	)), '\n'), nil
}

package export

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/traces/convert"
)

type convertFlags struct {
	to      convert.Format
	out     string
	reading cli.Reading
	quiet   bool
}

// NewConvert makes `arena convert`.
func NewConvert(s *cli.Streams) *cobra.Command {
	var f convertFlags
	c := &cobra.Command{
		Use:   "convert IN…",
		Short: "Turn traces of any format into one format",
		Args:  cli.Takes(1, cli.AnyNumber),
		RunE:  func(c *cobra.Command, in []string) error { return f.run(c.Context(), s, in) },
	}
	cli.Choice(c, &f.to, "to", convert.Formats, "format to write: "+formatNames())
	c.Flags().StringVarP(&f.out, "output", "o", "", "output file, or folder for sts; - is standard output")
	f.reading.Register(c)
	c.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "no words on standard error")
	cli.ReadsDays(c)
	cli.Replaces(c, "output")
	return c
}

func formatNames() string {
	var names []string
	for _, f := range convert.Formats {
		names = append(names, string(f))
	}
	return strings.Join(names, ", ")
}

func (f *convertFlags) run(ctx context.Context, s *cli.Streams, in []string) error {
	if f.to == "" {
		return cli.Usage(errors.New("no format named"), "give one of "+formatNames()+" with --to")
	}
	if f.out == "" {
		return cli.Usage(fmt.Errorf("no output named"), "give -o PATH, or -o - for standard output")
	}
	inputs, err := s.DayInputs(ctx, in)
	if err != nil {
		return err
	}
	c := conversion{format: f.to, runID: f.reading.RunID, inputs: inputs, lost: map[convert.Loss]int{}, named: map[string]int{}, progress: cli.Noise{Quiet: f.quiet}.Progress(s)}
	c.progress.Begin("convert", len(inputs))
	if f.to == convert.STS && f.out != "-" {
		err = c.folder(ctx, f.out)
	} else {
		err = cli.WriteWhole(s, f.out, c.stream(ctx))
	}
	c.progress.Done()
	c.unread.Warn(s.Err)
	if err == nil && !f.quiet {
		c.tell(s.Err)
	}
	if err != nil {
		return err
	}
	return c.unread.Within(f.reading.MaxUnreadable)
}

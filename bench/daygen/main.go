// Command daygen writes a generated day of attempts to a folder.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"github.com/trajectory-arena/arena/internal/daygen"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "daygen:", err)
		os.Exit(1) //nolint:forbidigo // this is a main of its own
	}
}

func run(ctx context.Context, args []string) error {
	var c daygen.Config
	f := flag.NewFlagSet("daygen", flag.ContinueOnError)
	dir := f.String("o", "day", "new folder of the day")
	f.Uint64Var(&c.Seed, "seed", 1, "the day is a function of its seed and sizes")
	f.IntVar(&c.Day, "day", 0, "days after 1 June 2026 on which the runs start")
	f.IntVar(&c.Attempts, "attempts", 27000, "attempts of the day")
	f.IntVar(&c.Problems, "problems", 250, "problems of the day")
	f.IntVar(&c.Products, "products", 4000, "documents of the catalogue")
	f.IntVar(&c.Sentences, "sentences", 18, "mean sentences of a description")
	f.IntVar(&c.Pages, "pages", 4, "searches for one wish, at most")
	f.Float64Var(&c.Agentic, "agentic", 0.2, "share of runs in which the model decides")
	f.BoolVar(&c.Gzip, "gz", false, "compress the traces")
	if err := f.Parse(args); err != nil {
		return err
	}
	made, err := daygen.Write(ctx, *dir, c)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%d runs, %d attempts, %.1f MB, %.1f KB an attempt\n",
		made.Runs, made.Attempts, float64(made.Bytes)/1e6, float64(made.Bytes)/1e3/float64(made.Attempts))
	return nil
}

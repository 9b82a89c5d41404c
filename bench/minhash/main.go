// Command minhash prints the seconds of one core that signatures of the documents on
// standard input take, which are separated by NUL bytes, and those of the whole step:
// signatures, bands, exact comparison, clusters. compare.py runs it in turn with other
// tools.
package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/trajectory-arena/arena/guard/minhash"
	"github.com/trajectory-arena/arena/internal/longtest"
)

func main() {
	runtime.GOMAXPROCS(1)
	if err := measure(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "minhash:", err)
		os.Exit(1) //nolint:forbidigo // this is main
	}
}

func measure(in io.Reader, out io.Writer) error {
	b, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	var docs []string
	for part := range bytes.SplitSeq(bytes.TrimSuffix(b, []byte{0}), []byte{0}) {
		docs = append(docs, string(part))
	}
	begun := longtest.CPU()
	for _, d := range docs {
		minhash.Sign(d)
	}
	signed := longtest.CPU()
	if _, _, err = minhash.Texts(docs, minhash.Long()); err != nil {
		return err
	}
	fmt.Fprintf(out, "%.4f %.4f\n", (signed - begun).Seconds(), (longtest.CPU() - signed).Seconds())
	return nil
}

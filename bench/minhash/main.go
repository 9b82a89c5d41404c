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
	"syscall"

	"github.com/trajectory-arena/arena/guard/minhash"
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
	begun := cpu()
	for _, d := range docs {
		minhash.Sign(d)
	}
	signed := cpu()
	if _, _, err = minhash.Texts(docs, minhash.Long()); err != nil {
		return err
	}
	fmt.Fprintf(out, "%.4f %.4f\n", signed-begun, cpu()-signed)
	return nil
}

// cpu is the processor time of this process so far, in seconds; other processes on the
// machine do not change it.
func cpu() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // the arguments are right
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

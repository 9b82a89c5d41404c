// Command minhash times the project's signatures and clusters on documents
// separated by NUL bytes, one core, and can write such documents from a seed.
// compare.py runs it alternately with other tools.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/trajectory-arena/arena/guard/minhash"
)

func main() {
	runtime.GOMAXPROCS(1)
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "minhash:", err)
		os.Exit(1) //nolint:forbidigo // this is main
	}
}

func run(args []string, out io.Writer) error {
	f := flag.NewFlagSet("minhash", flag.ContinueOnError)
	generate := f.Int("generate", 0, "write this many documents instead of reading some")
	words := f.Int("words", 330, "words of a generated document")
	profile := f.String("profile", "long", "long or short")
	synthetic := f.Int("synthetic", 0, "cluster this many made-up signatures instead")
	pairs := f.Bool("pairs", false, "write the root of every document after the timing")
	if err := f.Parse(args); err != nil {
		return err
	}
	options := map[string]minhash.Options{"long": minhash.Long(), "short": minhash.Short()}[*profile]
	switch {
	case *generate > 0:
		return write(out, *generate, *words)
	case *synthetic > 0:
		return clusterSynthetic(out, *synthetic, options)
	}
	docs, err := read(os.Stdin)
	if err != nil {
		return err
	}
	return measure(out, docs, options, *pairs)
}

// measure prints seconds of processor time for signatures alone and for the
// whole step: signatures, bands, exact comparison, clusters.
func measure(out io.Writer, docs []string, o minhash.Options, pairs bool) error {
	start := cpu()
	for _, d := range docs {
		minhash.Sign(d)
	}
	signed := cpu() - start
	start = cpu()
	_, c, err := minhash.Texts(docs, o)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%.4f %.4f\n", signed.Seconds(), (cpu() - start).Seconds())
	if !pairs {
		return nil
	}
	w := bufio.NewWriter(out)
	for _, root := range c.Root {
		fmt.Fprintln(w, root)
	}
	return w.Flush()
}

// cpu is the processor time of this process so far; other processes on the
// machine do not change it.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func read(in io.Reader) ([]string, error) {
	b, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	var docs []string
	for part := range bytes.SplitSeq(bytes.TrimSuffix(b, []byte{0}), []byte{0}) {
		docs = append(docs, string(part))
	}
	return docs, nil
}

// source is a small generator of numbers that never changes (SplitMix64).
type source uint64

func (s *source) next(n int) int {
	*s += 0x9E3779B97F4A7C15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return int((z ^ z>>31) % uint64(n))
}

// write makes families of documents: a base, and copies with one word in
// twenty exchanged or fewer.
func write(out io.Writer, n, length int) error {
	w, r := bufio.NewWriterSize(out, 1<<20), source(1)
	base := make([]string, length)
	for i := range n {
		if i == 0 || r.next(3) == 0 {
			for j := range base {
				base[j] = fmt.Sprintf("w%x", r.next(1<<16))
			}
		}
		doc := append([]string(nil), base...)
		for range r.next(1 + length/20) {
			doc[r.next(length)] = fmt.Sprintf("x%x", r.next(1<<16))
		}
		if _, err := w.WriteString(strings.Join(doc, " ") + "\x00"); err != nil {
			return err
		}
	}
	return w.Flush()
}

// clusterSynthetic clusters n signatures, every fifth a near-copy of an earlier
// one, and prints time and memory.
func clusterSynthetic(out io.Writer, n int, o minhash.Options) error {
	r := source(2)
	sigs := make([]minhash.Packed, n)
	for i := range sigs {
		if i > 0 && r.next(5) == 0 {
			sigs[i] = sigs[r.next(i)]
			for range r.next(12) {
				sigs[i][r.next(minhash.K)] = byte(r.next(256))
			}
			continue
		}
		for j := range sigs[i] {
			sigs[i][j] = byte(r.next(256))
		}
	}
	start := cpu()
	c, err := minhash.Cluster(sigs, func(i, j int) float64 { return sigs[i].Similarity(&sigs[j]) }, o)
	if err != nil {
		return err
	}
	roots := 0
	for i, root := range c.Root {
		if int(root) == i {
			roots++
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fmt.Fprintf(out, "%d signatures, %d clusters, %d candidates, %.1f s, %d MB from the system\n",
		n, roots, c.Candidates, (cpu() - start).Seconds(), m.Sys>>20)
	return nil
}

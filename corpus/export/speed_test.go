package export_test

import (
	"cmp"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"golang.org/x/sync/errgroup"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/export"
	"github.com/trajectory-arena/arena/internal/longtest"
)

var corpusFlag = flag.String("corpus", "", "corpus that BenchmarkProfiles exports")

// BenchmarkProfiles measures how fast a corpus is exported in each profile. For comparison it
// measures the speed at which zstd alone compresses the same bytes in the same run and on as many
// threads, which is the limit of any writer.
//
//	go test ./corpus/export -run - -bench Profiles -benchtime 1x -corpus CORPUS
func BenchmarkProfiles(b *testing.B) {
	if *corpusFlag == "" {
		b.Skip("no -corpus")
	}
	for _, p := range export.All() {
		b.Run(p.Name, func(b *testing.B) {
			for b.Loop() {
				measure(b, *corpusFlag, p)
			}
		})
	}
}

func measure(b *testing.B, source string, p export.Profile) {
	b.Helper()
	out := filepath.Join(b.TempDir(), "out")
	total, err := timed(func() error {
		_, err := export.Run(b.Context(), corpus.Disk{}, source, out, []export.Profile{p}, &export.Options{Sessions: 1000}, 1)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	zstdLimit, err := zstdAlone(out)
	if err != nil {
		b.Fatal(err)
	}
	mb := float64(zstdLimit.size) / 1e6
	b.ReportMetric(mb, "MB")
	b.ReportMetric(mb/total.wall.Seconds(), "MB/s")
	b.ReportMetric(total.wall.Seconds()/zstdLimit.wall.Seconds(), "ratio-by-wall")
	b.ReportMetric(mb/total.cpu.Seconds(), "MB/s-a-core")
	b.ReportMetric(mb/zstdLimit.cpu.Seconds(), "zstd-MB/s-a-core")
	b.ReportMetric(total.cpu.Seconds()/zstdLimit.cpu.Seconds(), "ratio-by-CPU")
}

// cost is wall time and CPU time of all cores.
type cost struct{ wall, cpu time.Duration }

func timed(do func() error) (cost, error) {
	cpu := longtest.CPU()
	start := time.Now()
	err := do()
	return cost{time.Since(start), longtest.CPU() - cpu}, err
}

// limit compresses blocks in memory on every thread, and does nothing else.
type limit struct {
	cost
	size     int64
	encoders []*zstd.Encoder
	blocks   [][]byte
	retained int
}

// heldBytes of blocks are gathered before the clock runs.
const heldBytes = 64 << 20

func (l *limit) take(block []byte) error {
	l.blocks = append(l.blocks, slices.Clone(block))
	if l.retained += len(block); l.retained < heldBytes {
		return nil
	}
	return l.compress()
}

func (l *limit) compress() error {
	next := make(chan []byte, len(l.blocks))
	for _, b := range l.blocks {
		next <- b
	}
	close(next)
	took, err := timed(func() error {
		var group errgroup.Group
		for _, z := range l.encoders {
			group.Go(func() error {
				var out []byte
				for b := range next {
					out = z.EncodeAll(b, out[:0])
				}
				return nil
			})
		}
		return group.Wait()
	})
	l.wall, l.cpu, l.size = l.wall+took.wall, l.cpu+took.cpu, l.size+int64(l.retained)
	l.blocks = nil
	l.retained = 0
	return err
}

// zstdAlone compresses what an export holds, block by block as its writers do
// and at their level.
func zstdAlone(dir string) (*limit, error) {
	l := &limit{}
	for range runtime.GOMAXPROCS(0) {
		z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
		if err != nil {
			return nil, err
		}
		l.encoders = append(l.encoders, z)
	}
	m, err := corpus.ReadManifest(corpus.Disk{}, dir)
	if err != nil {
		return nil, err
	}
	for _, f := range m.Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Path))
		if strings.HasSuffix(path, ".parquet") {
			err = pages(path, l.take)
		} else {
			err = blocks(path, l.take)
		}
		if err != nil {
			return nil, err
		}
	}
	return l, l.compress()
}

// pages calls take with the content of every page of text.
func pages(path string, take func([]byte) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() // opened for reading
	info, err := f.Stat()
	if err != nil {
		return err
	}
	file, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		return err
	}
	for _, g := range file.RowGroups() {
		for _, c := range g.ColumnChunks() {
			if err := chunk(c, take); err != nil {
				return err
			}
		}
	}
	return nil
}

func chunk(c parquet.ColumnChunk, take func([]byte) error) (err error) {
	pages := c.Pages()
	defer func() { err = cmp.Or(err, pages.Close()) }()
	for {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if page.Type().Kind() == parquet.ByteArray && page.Dictionary() == nil {
			values := page.Data()
			text, _ := values.ByteArray()
			err = take(text)
		}
		parquet.Release(page)
		if err != nil {
			return err
		}
	}
}

// blocks calls take with the content of a file in pieces of 1 MiB. A file whose name ends in .zst
// is decompressed first.
func blocks(path string, take func([]byte) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() // opened for reading
	r := io.Reader(f)
	if strings.HasSuffix(path, ".zst") {
		z, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return err
		}
		defer z.Close()
		r = z
	}
	block := make([]byte, 1<<20)
	for {
		n, err := io.ReadFull(r, block)
		if n > 0 {
			if terr := take(block[:n]); terr != nil {
				return terr
			}
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

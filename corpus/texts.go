package corpus

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
)

// texts visits every text of a file: the strings of a Parquet file, the lines
// of any other. where names file and place.
func texts(fsys FS, dir, rel string, visit func(where, text string) error) (err error) {
	defer broken(rel, &err)
	full := filepath.Join(dir, filepath.FromSlash(rel))
	f, err := fsys.Open(full)
	if err != nil {
		return fmt.Errorf("open %s: %w", full, err)
	}
	defer closeRead(f)
	switch {
	case strings.HasSuffix(rel, ".arrow"):
		return nil // the rows of profile text, which the same run has scanned
	case strings.HasSuffix(rel, ".parquet"):
		return parquetTexts(f, full, rel, visit)
	case strings.HasSuffix(rel, ".zst"):
		z, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return fmt.Errorf("open %s: %w", full, err)
		}
		defer z.Close()
		return lineTexts(traced{z, full}, rel, visit)
	default:
		return lineTexts(traced{f, full}, rel, visit)
	}
}

func parquetTexts(f Source, full, rel string, visit func(where, text string) error) error {
	file, err := openParquet(f, full)
	if err != nil {
		return err
	}
	columns := file.Schema().Columns()
	n := 0
	for _, g := range file.RowGroups() {
		err := groupRows(g, full, func(row parquet.Row) error {
			n++
			for _, v := range row {
				name := columns[v.Column()][0]
				if v.Kind() != parquet.ByteArray || v.IsNull() || slices.Contains(hashColumns, name) {
					continue
				}
				if err := visit(fmt.Sprintf("%s, row %d, column %s", rel, n, name), string(v.ByteArray())); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func lineTexts(in io.Reader, rel string, visit func(where, text string) error) error {
	r := bufio.NewReader(in)
	for n := 1; ; n++ {
		line, err := r.ReadString('\n')
		if line != "" {
			if verr := visit(fmt.Sprintf("%s, line %d", rel, n), line); verr != nil {
				return verr
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

package corpus

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"

	"github.com/parquet-go/parquet-go"

	"github.com/trajectory-arena/arena/corpus/shard"
)

// Texts visits every text of a file of a corpus: the strings of a Parquet file,
// the lines of any other. where names file and place.
func Texts(fsys FS, dir, rel string, visit func(where, text string) error) error {
	full := filepath.Join(dir, filepath.FromSlash(rel))
	switch path.Ext(rel) {
	case ".arrow":
		return nil // the rows of profile text, which the same run has scanned
	case ".parquet":
		return Parquet(fsys, full, func(file *shard.File) error { return parquetTexts(file, rel, visit) })
	case ".zst":
		return inflate(fsys, full, func(in io.Reader) error { return lineTexts(in, rel, visit) })
	}
	f, err := fsys.Open(full)
	if err != nil {
		return err
	}
	defer closeRead(f)
	return lineTexts(f, rel, visit)
}

func parquetTexts(file *shard.File, rel string, visit func(where, text string) error) error {
	columns := file.Schema().Columns()
	n := 0
	return file.Rows(func(row parquet.Row) error {
		n++
		for _, v := range row {
			name := columns[v.Column()][0]
			if v.Kind() != parquet.ByteArray || v.IsNull() || slices.Contains(HashColumns, name) {
				continue
			}
			if err := visit(fmt.Sprintf("%s, row %d, column %s", rel, n, name), string(v.ByteArray())); err != nil {
				return err
			}
		}
		return nil
	})
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

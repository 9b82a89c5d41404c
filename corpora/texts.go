package corpora

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
)

// hashColumns hold hashes and ids alone. A scan for secrets would take them
// for keys.
var hashColumns = map[string]bool{"source_sha256": true, "record_sha256": true, "text_sha256": true, "prompt_sha256": true, "session_id": true,
	"trace_id": true, "problem_id": true, "dedup_cluster": true, "agent_hotkey": true, "agent_version": true, "eval_run_id": true, "id": true, "match": true}

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
		return parquetTexts(f, rel, visit)
	case strings.HasSuffix(rel, ".zst"):
		z, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return fmt.Errorf("open %s: %w", full, err)
		}
		defer z.Close()
		return lineTexts(z, rel, visit)
	default:
		return lineTexts(f, rel, visit)
	}
}

func parquetTexts(f Source, rel string, visit func(where, text string) error) error {
	file, err := openParquet(f, rel)
	if err != nil {
		return err
	}
	columns := file.Schema().Columns()
	n := 0
	for _, g := range file.RowGroups() {
		err := groupRows(g, rel, func(row parquet.Row) error {
			n++
			for _, v := range row {
				name := columns[v.Column()][0]
				if v.Kind() != parquet.ByteArray || v.IsNull() || hashColumns[name] {
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
			return fmt.Errorf("read %s: %w", rel, err)
		}
	}
}

package rows

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

// batchRows bounds how many rows are held decoded at a time.
const batchRows = 256

// eachParquet reads a Parquet file of any schema, each row as JSON.
func eachParquet(f *os.File, stem string, yield func(Row) error) error {
	pf, err := file.NewParquetReader(f)
	if err != nil {
		return fmt.Errorf("open parquet: %w", err)
	}
	defer pf.Close() //nolint:errcheck // nothing was written
	r, err := pqarrow.NewFileReader(pf, pqarrow.ArrowReadProperties{BatchSize: batchRows}, memory.DefaultAllocator)
	if err != nil {
		return fmt.Errorf("read parquet schema: %w", err)
	}
	batches, err := r.GetRecordReader(context.Background(), nil, nil)
	if err != nil {
		return fmt.Errorf("read parquet columns: %w", err)
	}
	defer batches.Release()
	line := 0
	for {
		batch, err := batches.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read parquet rows: %w", err)
		}
		if err := eachOfBatch(batch, stem, &line, yield); err != nil {
			return err
		}
	}
}

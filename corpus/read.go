package corpus

import (
	"fmt"
	"reflect"

	"github.com/parquet-go/parquet-go"

	"github.com/trajectory-arena/arena/corpus/shard"
)

// Parquet opens a Parquet file for as long as use takes. A broken file is an
// error, whatever the reading of it does.
func Parquet(fsys FS, path string, use func(*shard.File) error) (err error) {
	defer shard.Recover(path, &err)
	f, err := fsys.Open(path)
	if err != nil {
		return err
	}
	defer closeRead(f)
	file, err := openParquet(f, path)
	if err != nil {
		return err
	}
	return use(file)
}

func openParquet(f Source, path string) (*shard.File, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return shard.Open(f, info.Size(), path)
}

// Rows reads every row of a Parquet file of a corpus in order. Its error, or
// the first that visit gives, ends the reading. A row is valid only within its
// visit.
func Rows[T any](fsys FS, path string, visit func(*T) error) error {
	schema := parquet.SchemaOf(new(T))
	optional := shard.PointersOf(reflect.TypeFor[T](), schema)
	return Parquet(fsys, path, func(file *shard.File) error {
		if err := file.In(schema); err != nil {
			return err
		}
		return file.Rows(func(row parquet.Row) error {
			var v T
			if err := schema.Reconstruct(&v, row); err != nil {
				return fmt.Errorf("read %s: %w", path, err)
			}
			optional.Read(&v, row)
			return visit(&v)
		})
	})
}

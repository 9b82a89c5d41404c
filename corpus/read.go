package corpus

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus/shard"
	"github.com/trajectory-arena/arena/internal/digest"
)

// OpenParquet opens a Parquet file, calls use with it and closes it. It returns an error for a
// broken file, even if the Parquet library panics.
func OpenParquet(
	fsys FS,
	path string,
	use func(*shard.File) error,
) (err error) {
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

// ErrDamaged is returned if a Parquet file of a corpus is missing or cannot be read.
var ErrDamaged = errors.New("damaged file of a corpus")

// damagedError wraps ErrDamaged and a cause. Its message is that of the cause.
type damagedError struct{ cause error }

// Error returns the message of the cause.
func (e damagedError) Error() string { return e.cause.Error() }

// Unwrap returns ErrDamaged and the cause.
func (e damagedError) Unwrap() []error { return []error{ErrDamaged, e.cause} }

// ReadRows calls visit for every row of a Parquet file of a corpus in order, until visit returns
// an error. A row is valid only until visit returns. The error is ErrDamaged if the file is
// missing or cannot be read as rows of type T.
func ReadRows[T any](
	fsys FS,
	path string,
	visit func(*T) error,
) error {
	return readRows(fsys, path, reflect.TypeFor[T](), func(row any) error {
		return visit(row.(*T)) //nolint:forcetypeassert // of type T
	})
}

// readRows reads the rows of a file as ReadRows does. Rows are of type t and passed as pointers.
func readRows(
	fsys FS,
	path string,
	t reflect.Type,
	visit func(row any) error,
) error {
	schema := parquet.SchemaOf(reflect.New(t).Interface())
	pointers := shard.EmbeddedPointersOf(t, schema)
	var visitErr error
	err := OpenParquet(fsys, path, func(file *shard.File) error {
		added, err := file.Added(schema)
		if err != nil {
			return err
		}
		return file.VisitRows(func(row parquet.Row) error {
			row = append(row, added...)
			v := reflect.New(t).Interface()
			if err := schema.Reconstruct(v, row); err != nil {
				return fmt.Errorf("read %s: %w", path, err)
			}
			pointers.RestoreNulls(v, row)
			visitErr = visit(v)
			return visitErr
		})
	})
	if err == nil || visitErr != nil {
		return err
	}
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok && !errors.Is(pathErr, fs.ErrNotExist) {
		return err // such as a missing permission, which damages nothing
	}
	return damagedError{err}
}

// maxValueChars is the maximum number of characters of a value that Inspect prints.
const maxValueChars = 100

// Inspect prints a description of a Parquet file: its schema, its row groups and its first head
// rows.
func Inspect(fsys FS, path string, head int, out io.Writer) error {
	return OpenParquet(fsys, path, func(file *shard.File) error {
		fmt.Fprintf(out, "%s: %d rows, %d row groups, created by %s\n\n%s\n\n",
			path, file.NumRows(), len(file.RowGroups()), file.Metadata().CreatedBy, file.Schema())
		for i, g := range file.Metadata().RowGroups {
			fmt.Fprintf(out, "row group %d: %d rows, %d bytes, %d compressed\n", i, g.NumRows, g.TotalByteSize, g.TotalCompressedSize)
		}
		return printRows(file, head, out)
	})
}

// errEnough is returned by the function that visits rows to end the reading after the requested
// number of rows. It is no failure.
var errEnough = errors.New("enough rows")

// printRows prints the first head rows of a file, one value per line.
func printRows(file *shard.File, head int, out io.Writer) error {
	names := file.Schema().Columns()
	n := 0
	err := file.VisitRows(func(row parquet.Row) error {
		if n == head {
			return errEnough
		}
		n++
		fmt.Fprintf(out, "\nrow %d\n", n)
		for _, v := range row {
			text := "null"
			if !v.IsNull() {
				text = fmt.Sprintf("%q", v.String())
			}
			if r := []rune(text); len(r) > maxValueChars {
				text = string(r[:maxValueChars]) + "…"
			}
			fmt.Fprintf(
				out,
				"  %s: %s\n",
				strings.Join(names[v.Column()], "."),
				text,
			)
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// ErrEdited is returned for a file of a corpus whose hash differs from that in the manifest.
var ErrEdited = errors.New("file has another sha256 than the manifest says: it was edited")

// CheckFile returns an error that wraps ErrEdited if the manifest lists the file with another
// hash than that of content.
func (m *Manifest) CheckFile(path string, content []byte) error {
	for _, f := range m.Files {
		if f.Path == path && f.SHA256 != digest.SHA256(content) {
			return fmt.Errorf("check %s: %w", path, ErrEdited)
		}
	}
	return nil
}

// GuardInputs returns the inputs against which rows were checked: held-out files and banks.
func (m *Manifest) GuardInputs() []Input {
	return slices.DeleteFunc(slices.Clone(m.Inputs), func(input Input) bool {
		return input.Kind != InputHeldOut && input.Kind != InputBank
	})
}

// Describe prints a description of a corpus: its configs, splits and tables.
func (m *Manifest) Describe(out io.Writer) {
	fmt.Fprintf(out, "%s, written by arena %s, configuration %s\n\n", m.Version, m.Pipeline, m.ConfigurationSHA256)
	fmt.Fprintf(out, "%-14s %-14s %-6s %10s %14s  %s\n", "config", "profile", "split", "rows", "bytes", "file")
	for _, f := range m.Files {
		rows := "-"
		if f.Rows != nil {
			rows = fmt.Sprint(*f.Rows)
		}
		fmt.Fprintf(out, "%-14s %-14s %-6s %10s %14d  %s\n",
			cmp.Or(f.Config, "-"), cmp.Or(f.Profile, "-"), cmp.Or(f.Split, "-"), rows, f.Bytes, f.Path)
	}
	if len(m.Funnel) > 0 {
		fmt.Fprintf(out, "\n%-14s %10s %10s %8s  %s\n", "stage", "in", "out", "failed", "dropped")
	}
	for _, s := range m.Funnel {
		fmt.Fprintf(
			out,
			"%-14s %10d %10d %8d  %s\n",
			s.Name,
			s.In,
			s.Out,
			s.Failed,
			FormatCounts(s.Dropped),
		)
	}
}

// VisitTexts calls visit for every text of a file of a corpus: the strings of a Parquet file, or
// the lines of any other file, without surrounding blanks. where is the name of the file with the
// number of the row or line. It returns an error for a line of more than 256 MiB.
func VisitTexts(
	fsys FS,
	dir, rel string,
	visit func(where, text string) error,
) error {
	full := filepath.Join(dir, filepath.FromSlash(rel))
	switch path.Ext(rel) {
	case ".arrow":
		return nil // the rows of profile text, which the same run has scanned
	case ".parquet":
		return OpenParquet(fsys, full, func(file *shard.File) error {
			return visitParquetTexts(file, rel, visit)
		})
	case ".zst":
		return decompress(fsys, full, func(r io.Reader) error {
			return visitLines(r, rel, visit)
		})
	}
	f, err := fsys.Open(full)
	if err != nil {
		return err
	}
	defer closeRead(f)
	return visitLines(f, rel, visit)
}

func visitParquetTexts(
	file *shard.File,
	rel string,
	visit func(where, text string) error,
) error {
	columns := file.Schema().Columns()
	n := 0
	return file.VisitRows(func(row parquet.Row) error {
		n++
		for _, v := range row {
			name := columns[v.Column()][0]
			if v.Kind() != parquet.ByteArray || v.IsNull() || slices.Contains(HashColumns, name) {
				continue
			}
			where := fmt.Sprintf("%s, row %d, column %s", rel, n, name)
			if err := visit(where, string(v.ByteArray())); err != nil {
				return err
			}
		}
		return nil
	})
}

// maxLineBytes is the maximum size in bytes of a line that is read. In a compressed file of a few
// KB, a line can be larger than the memory.
const maxLineBytes = 256 << 20

func visitLines(
	r io.Reader,
	rel string,
	visit func(where, text string) error,
) error {
	for line, err := range arena.Lines(r, maxLineBytes) {
		if err != nil {
			return fmt.Errorf("read %s: %w", rel, err)
		}
		if err = visit(fmt.Sprintf("%s, line %d", rel, line.Number), string(line.Text)); err != nil {
			return err
		}
	}
	return nil
}

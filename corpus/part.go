package corpus

import (
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/trajectory-arena/arena/corpus/redact"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/corpus/shard"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// Part writes one partition of the rows of a corpus to a folder. It is not safe for concurrent
// use.
type Part struct {
	fs     FS
	dir    string
	limits Limits
	files  []PartFile
	// redactor redacts the rows. If it is nil, rows are unchanged.
	redactor *redact.Redactor
}

// PartFile is the description of a finished file of a part.
type PartFile struct {
	Stream
	// Path is relative to the part's folder, with forward slashes.
	Path   string
	Rows   int64
	Bytes  int64
	SHA256 string
	// XXH3 is a fast hash with which the file is checked before it is moved.
	XXH3 uint64
	// Decoded is the size in bytes of the rows before encoding.
	Decoded int64
	// Schema is the fingerprint of a Parquet file's schema. For other files, Schema and Columns
	// are empty.
	Schema  string
	Columns []Column
	// Longest is the length of the longest row. It is zero if rows have no length.
	Longest rows.Length `json:",omitzero"`
	// Clean reports whether every row was redacted. Redacted counts the inserted placeholders.
	Clean    bool
	Redacted redact.Counts
}

// partName is the name of the file that lists the files of a part. A part is the folder with what
// one worker writes of a corpus. The list is written last, so its presence means that the part is
// finished.
const partName = "part.json"

// NewPart starts a part in dir. It removes the files of an interrupted one.
func NewPart(fsys FS, dir string, limits Limits) (*Part, error) {
	return &Part{
		fs:     fsys,
		dir:    dir,
		limits: limits,
	}, ResetDir(fsys, dir)
}

// Close finishes the part by writing the list of its files. All its streams must be closed.
func (p *Part) Close() error {
	return WriteFile(
		p.fs,
		filepath.Join(p.dir, partName),
		asjson.Indented(p.files, " "),
	)
}

// ReadPart returns the files of a finished part.
func ReadPart(fsys FS, dir string) ([]PartFile, error) {
	var files []PartFile
	err := ReadJSON(fsys, filepath.Join(dir, partName), MaxManifestBytes, &files)
	return files, err
}

// partFile is a file of a part that is being written. A part is what one worker writes of a
// corpus.
type partFile struct {
	*Output
	stream Stream
	path   string
	rel    string // path in the part's folder, with forward slashes
}

// create creates a file of a stream in the part's folder, the folder of one worker. A stream is a
// split of a config, a table or a single file. n, the number of files that the stream already has,
// becomes part of the name for a split and is ignored otherwise. ext is the file name extension
// without a dot.
func (p *Part) create(
	s Stream,
	n int,
	ext string,
) (*partFile, error) {
	var rel string
	switch {
	case s.Place != "":
		rel = path.Join("files", s.Place)
	case s.Table != "":
		rel = path.Join("tables", s.Table+"."+ext)
	default:
		rel = path.Join(
			"data",
			s.Config,
			fmt.Sprintf("%s-%05d.%s", s.Split, n, ext),
		)
	}
	full := filepath.Join(p.dir, filepath.FromSlash(rel))
	f, err := Create(p.fs, full)
	return &partFile{f, s, full, rel}, err
}

// add appends a finished file to the list of the part's files (the files that one worker wrote) and
// returns its description. decoded is the size of the rows in bytes before encoding. schema is nil
// if the file is not a Parquet file.
func (p *Part) add(
	f *partFile,
	nRows, decoded int64,
	schema *parquet.Schema,
) *PartFile {
	file := PartFile{
		Stream:  f.stream,
		Path:    f.rel,
		Rows:    nRows,
		Bytes:   f.N,
		Decoded: decoded,
		SHA256:  f.SHA256(),
		XXH3:    f.quick.Sum64(),
	}
	if schema != nil {
		file.Schema = shard.Fingerprint(schema)
		file.Columns = columnsOf(schema)
	}
	p.files = append(p.files, file)
	return &p.files[len(p.files)-1]
}

// Copy copies the Parquet file at path into the part as file n of a stream. It returns an error
// if the file does not match entry, its entry in the manifest of its corpus. longest is the
// length of the longest row.
func (p *Part) Copy(
	s Stream,
	n int,
	path string,
	entry FileEntry,
	longest rows.Length,
) error {
	src, err := p.fs.Open(path)
	if err != nil {
		return err
	}
	defer closeRead(src)
	file, err := openParquet(src, path)
	if err != nil {
		return err
	}
	out, err := p.create(s, n, "parquet")
	if err != nil {
		return err
	}
	_, err = io.Copy(out, src)
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	if got := out.SHA256(); got != entry.SHA256 {
		return fmt.Errorf("copy %s: sha256 %s, the manifest says %s", path, got, entry.SHA256)
	}
	decoded := int64(0) // size before compression, as an estimate of the rows' size
	for _, g := range file.Metadata().RowGroups {
		decoded += g.TotalByteSize
	}
	p.add(out, file.NumRows(), decoded, file.Schema()).Longest = longest
	return nil
}

// Column is a column of a Parquet file. Type is in the notation of the datasets library, such as
// list<struct<role: string>>.
type Column struct{ Name, Type string }

func columnsOf(n parquet.Node) []Column {
	return slicesx.Map(n.Fields(), func(f parquet.Field) Column {
		return Column{f.Name(), typeOf(f)}
	})
}

func typeOf(n parquet.Node) string {
	if n.Leaf() {
		return leafType(n.Type())
	}
	if logical := n.Type().LogicalType(); logical != nil {
		if _, ok := logical.Value.(*format.ListType); ok {
			element := n.Fields()[0].Fields()[0]
			return "list<" + typeOf(element) + ">"
		}
	}
	fields := slicesx.Map(columnsOf(n), func(c Column) string {
		return c.Name + ": " + c.Type
	})
	return "struct<" + strings.Join(fields, ", ") + ">"
}

func leafType(t parquet.Type) string {
	if logical := t.LogicalType(); logical != nil {
		switch logical.Value.(type) {
		case *format.JsonType:
			return "json"
		case *format.TimestampType:
			return "timestamp[ms, tz=UTC]"
		}
	}
	switch t.Kind() {
	case parquet.Boolean:
		return "bool"
	case parquet.Int32, parquet.Int64:
		return "int64"
	case parquet.Float, parquet.Double:
		return "float64"
	default:
		return "string"
	}
}

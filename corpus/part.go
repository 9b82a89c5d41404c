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

// Part is the output of one partition of the rows, in a folder of its own. It
// belongs to one goroutine.
type Part struct {
	fs     FS
	dir    string
	limits Limits
	files  []PartFile
	// redactor cleans the rows; nil where they stay as they are.
	redactor *redact.Redactor
}

// PartFile is one finished file of a part.
type PartFile struct {
	Stream
	// Path is relative to the part's folder, with forward slashes.
	Path   string
	Rows   int64
	Bytes  int64
	SHA256 string
	// XXH3 is what a file is read back by that is moved into place.
	XXH3 uint64
	// Decoded is the size of the rows before encoding.
	Decoded int64
	// Schema is the fingerprint of the file's schema and Columns what it has;
	// both are empty where the file is not Parquet.
	Schema  string
	Columns []Column
	// Longest is the length of the longest row; zero where rows do not say.
	Longest rows.Length `json:",omitzero"`
	// Clean reports whether every row passed a redactor, Redacted what it took out.
	Clean    bool
	Redacted redact.Counts
}

// partName is the done-marker of a part, written last.
const partName = "part.json"

// NewPart starts a part in dir, removing what an interrupted one left there.
func NewPart(fsys FS, dir string, limits Limits) (*Part, error) {
	return &Part{fs: fsys, dir: dir, limits: limits}, Empty(fsys, dir)
}

// Close writes the part's done-marker. Every stream must have been closed.
func (p *Part) Close() error {
	return WriteFile(p.fs, filepath.Join(p.dir, partName), asjson.Indented(p.files, " "))
}

// ReadPart reads the done-marker of a finished part.
func ReadPart(fsys FS, dir string) ([]PartFile, error) {
	var files []PartFile
	err := ReadJSON(fsys, filepath.Join(dir, partName), maxManifest, &files)
	return files, err
}

type partFile struct {
	*Output
	stream Stream
	path   string
	rel    string
}

// create makes the n-th file of a stream.
func (p *Part) create(s Stream, n int, ext string) (*partFile, error) {
	rel := path.Join("data", s.Config, fmt.Sprintf("%s-%05d.%s", s.Split, n, ext))
	switch {
	case s.Place != "":
		rel = path.Join("files", s.Place)
	case s.Table != "":
		rel = path.Join("tables", s.Table+"."+ext)
	}
	full := filepath.Join(p.dir, filepath.FromSlash(rel))
	f, err := Create(p.fs, full)
	return &partFile{f, s, full, rel}, err
}

// add enters a finished file and gives its entry; schema is nil where it is not Parquet.
func (p *Part) add(f *partFile, n, decoded int64, schema *parquet.Schema) *PartFile {
	entry := PartFile{Stream: f.stream, Path: f.rel, Rows: n, Bytes: f.N, Decoded: decoded, SHA256: f.SHA256(), XXH3: f.quick.Sum64()}
	if schema != nil {
		entry.Schema, entry.Columns = shard.Fingerprint(schema), columnsOf(schema)
	}
	p.files = append(p.files, entry)
	return &p.files[len(p.files)-1]
}

// Copy puts the Parquet file at path into the part as the n-th of a stream,
// byte by byte, and holds it against the entry that its corpus has of it. Its
// longest row is the caller's to know, who reads the rows.
func (p *Part) Copy(s Stream, n int, path string, entry FileEntry, longest rows.Length) error {
	in, err := p.fs.Open(path)
	if err != nil {
		return err
	}
	defer closeRead(in)
	file, err := openParquet(in, path)
	if err != nil {
		return err
	}
	out, err := p.create(s, n, "parquet")
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	if got := out.SHA256(); got != entry.SHA256 {
		return fmt.Errorf("copy %s: sha256 %s, the manifest says %s", path, got, entry.SHA256)
	}
	decoded := int64(0) // before compression: what is known of rows without reading them
	for _, g := range file.Metadata().RowGroups {
		decoded += g.TotalByteSize
	}
	p.add(out, file.NumRows(), decoded, file.Schema()).Longest = longest
	return nil
}

// Column is a column of a Parquet file with its type in the words of the datasets
// library, such as list<struct<role: string>>.
type Column struct{ Name, Type string }

func columnsOf(n parquet.Node) []Column {
	return slicesx.Map(n.Fields(), func(f parquet.Field) Column { return Column{f.Name(), typeOf(f)} })
}

func typeOf(n parquet.Node) string {
	if n.Leaf() {
		return dtype(n.Type())
	}
	if l := n.Type().LogicalType(); l != nil {
		if _, list := l.Value.(*format.ListType); list {
			return "list<" + typeOf(n.Fields()[0].Fields()[0]) + ">"
		}
	}
	inner := slicesx.Map(columnsOf(n), func(c Column) string { return c.Name + ": " + c.Type })
	return "struct<" + strings.Join(inner, ", ") + ">"
}

func dtype(t parquet.Type) string {
	if l := t.LogicalType(); l != nil {
		switch l.Value.(type) {
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

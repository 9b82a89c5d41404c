package corpus

import (
	"errors"
	"fmt"
	"io"

	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/corpus/shard"
)

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
	p.add(s, out, file.NumRows(), decodedSize(file), file.Schema())
	p.files[len(p.files)-1].Longest = longest
	return nil
}

// decodedSize is the size of a file's pages before compression: what is known
// of its rows without reading them.
func decodedSize(file *shard.File) (n int64) {
	for _, g := range file.Metadata().RowGroups {
		n += g.TotalByteSize
	}
	return n
}

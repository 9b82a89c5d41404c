package traces

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/trajectory-arena/arena/internal/columns"
	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/traces/formats"
)

const zipMagic = "PK\x03\x04"

// containerReader reads the records of a file that is not text.
type containerReader func(src *io.SectionReader) error

// openContainer returns the reader for a file of tables or a zip file, recognised by its
// first bytes. It returns nil for a file of text.
func (r *reader) openContainer(stored io.ReadCloser) (containerReader, *io.SectionReader) {
	file, ok := stored.(*os.File)
	if !ok {
		return nil, nil
	}
	info, err := file.Stat()
	if err != nil {
		return nil, nil
	}
	src := io.NewSectionReader(file, 0, info.Size())
	var magic [columns.MagicBytes]byte
	if _, err := src.ReadAt(magic[:], 0); err != nil {
		return nil, nil
	}
	switch {
	case columns.IsColumnar(string(magic[:])):
		return r.readColumns, src
	case string(magic[:]) == zipMagic:
		return r.readZip, src
	}
	return nil, nil
}

// readContainer reads a file with its reader, and then the sessions whose lines the file
// has. A damaged file has the records before the damage.
func (r *reader) readContainer(read containerReader, src *io.SectionReader) error {
	r.decode = newDecoder(r.opt.Limits)
	r.text = &content{stored: &countingReader{}}
	r.sessionsByKey = map[string]*session{}

	err := read(src)
	if _, isDamage := errors.AsType[*damage](err); err != nil && !isDamage {
		return err
	}
	if emitErr := r.emitSessions(); emitErr != nil {
		return emitErr
	}
	return r.finishFile(err, r.records, r.records > 0, "no records in it")
}

// readColumns reads a table with one record in each row. It ignores members that are null,
// because a table has every column in every row.
func (r *reader) readColumns(src *io.SectionReader) error {
	var recordErr error
	err := columns.Each(src, src.Size(), func(row string) error {
		recordErr = r.ctx.Err()
		if recordErr == nil {
			recordErr = r.readRecord(withoutNulls(row), r.records+1)
		}
		return recordErr
	})
	if recordErr != nil || err == nil {
		return recordErr
	}
	return &damage{CorruptColumns, err.Error()}
}

// withoutNulls returns a JSON object without the members that are null.
func withoutNulls(row string) []byte {
	d := json.NewDecoder(strings.NewReader(row))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return []byte(row)
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(dropNulls(v)); err != nil {
		return []byte(row)
	}
	return bytes.TrimRight(out.Bytes(), "\n")
}

func dropNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, member := range v {
			v[key] = dropNulls(member)
			if member == nil {
				delete(v, key)
			}
		}
	case []any:
		for i := range v {
			v[i] = dropNulls(v[i])
		}
	}
	return v
}

// readZip reads a zipped log of inspect_ai. Each sample is one record, under the spec in
// the header of the log.
func (r *reader) readZip(src *io.SectionReader) error {
	z, err := zip.NewReader(src, src.Size())
	if err != nil {
		return &damage{CorruptZip, err.Error()}
	}
	options := []zstd.DOption{
		zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderMaxWindow(maxZstdWindow),
	}
	z.RegisterDecompressor(zstd.ZipMethodWinZip, zstd.ZipDecompressor(options...))

	header, err := r.readZipHeader(z)
	if err != nil {
		return err
	}
	budget := max(maxIdleLines*r.opt.Limits.LineBytes, r.opt.Limits.Expansion*src.Size())
	for _, f := range z.File {
		if !strings.HasPrefix(f.Name, "samples/") {
			continue
		}
		if err := r.ctx.Err(); err != nil {
			return err
		}
		if err := r.readZipSample(f, header, &budget); err != nil {
			return err
		}
	}
	return nil
}

// readZipHeader returns the header of a log, or the one that inspect_ai writes before the
// first sample if the log was not finished.
func (r *reader) readZipHeader(z *zip.Reader) ([]byte, error) {
	var header []byte
	for _, f := range z.File {
		isHeader := f.Name == "header.json" || f.Name == "_journal/start.json" && header == nil
		if !isHeader {
			continue
		}
		var err error
		header, err = r.unzip(f)
		if err != nil {
			return nil, err
		}
	}
	if header == nil {
		return nil, &damage{NotATrace, "a file of zip that is no log of inspect_ai"}
	}
	return header, nil
}

// readZipSample reads a sample and subtracts its size from the budget of all samples.
func (r *reader) readZipSample(
	f *zip.File,
	header []byte,
	budget *int64,
) error {
	sample, err := r.unzip(f)
	if d, ok := errors.AsType[*damage](err); ok {
		return r.addFault(r.records+1, d.reason, d.detail, false)
	}
	*budget -= int64(len(sample))
	if *budget < 0 {
		return &damage{DecompressionBomb, fmt.Sprintf("more than %d times its size", r.opt.Limits.Expansion)}
	}
	return r.readRecord(formats.InspectSample(header, sample), r.records+1)
}

// unzip returns the content of an entry. The error is a *damage.
func (r *reader) unzip(f *zip.File) ([]byte, error) {
	src, err := f.Open()
	if err != nil {
		return nil, &damage{CorruptZip, err.Error()}
	}
	defer src.Close() //nolint:errcheck // it was only read
	maxBytes := r.opt.Limits.LineBytes
	text, err := io.ReadAll(io.LimitReader(src, maxBytes+1))
	if err != nil {
		return nil, &damage{CorruptZip, err.Error()}
	}
	if int64(len(text)) > maxBytes {
		return nil, &damage{LineTooLong, fmt.Sprintf("entry of more than %d bytes", maxBytes)}
	}
	return text, nil
}

// readRecord decodes a record that is not in the window and emits what it holds.
func (r *reader) readRecord(text []byte, line int) error {
	d, err := r.decode.record(text)
	switch {
	case err != nil:
		return r.addDecodeFault(line, err, false)
	case d.sessionKey != "":
		r.addSessionLine(d.sessionKey, line, text)
		return nil
	case d.part != "":
		return r.emitParts(d, line)
	default:
		return r.emitTrace(d, line, digest.SHA256(text))
	}
}

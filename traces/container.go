package traces

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/columns"
	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/traces/formats"
)

const zipMagic = "PK\x03\x04"

// containerReader reads a binary file, such as Parquet or zip, and emits its records.
type containerReader func(src *io.SectionReader) error

// openContainer returns the function that reads a Parquet, Arrow or zip file, recognised by its
// first bytes, and the content of the file. Both are nil for any other file, for one that cannot be
// read, and for input that is no file on disk.
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

// readContainer reads a binary file with the function read, which emits the records of the file.
// Records that are single lines of a session, for example one message each, are joined, and the
// sessions are emitted after the last record. If the file is damaged, the records before the damage
// are emitted, and then a fault.
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

// readColumns reads a Parquet or Arrow file, of which each row is one record. It drops null
// members, because a row has a value for every column. The error for an invalid file is a *damage.
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

// withoutNulls returns the JSON object row without null members, also in nested objects. It
// returns row unchanged if row is not valid JSON.
func withoutNulls(row string) []byte {
	d := json.NewDecoder(strings.NewReader(row))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return []byte(row)
	}
	return asjson.Plain(dropNulls(v))
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

// readZip reads a zipped log of inspect_ai. Each sample becomes one record, together with the
// description of the evaluation ("eval") from the log's header. The error for an invalid file is a
// *damage.
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

// readZipHeader returns the text of header.json. The log of an evaluation that did not finish
// has none; then the text of _journal/start.json is returned, which inspect_ai writes first. The
// error is a *damage if the file has neither.
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
		return nil, &damage{NotATrace, "a zip file that is no log of inspect_ai: unpack it"}
	}
	return header, nil
}

// readZipSample reads one sample and emits it as a record, or as a fault if it cannot be
// unpacked. It subtracts the sample's size from budget, the number of uncompressed bytes that
// all samples may have. The error is a *damage when the budget is exhausted.
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

// unzip returns the uncompressed content of a zip entry. The error is a *damage, also for an
// entry over the size limit of a record.
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

// readRecord decodes the record text and emits its attempts, or a fault if it cannot be decoded.
// line is the number that traces and faults get. A line of a session is stored for emitSessions.
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

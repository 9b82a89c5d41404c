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

// container reads a file that holds records in another way than as text, by its first
// bytes; nil where it is text.
func (r *reader) container(stored io.ReadCloser) (each func(in *io.SectionReader) error, in *io.SectionReader) {
	file, ok := stored.(*os.File)
	if !ok {
		return nil, nil
	}
	info, err := file.Stat()
	if err != nil {
		return nil, nil
	}
	var magic [columns.MagicBytes]byte
	in = io.NewSectionReader(file, 0, info.Size())
	switch _, err = in.ReadAt(magic[:], 0); {
	case err != nil:
	case columns.Holds(string(magic[:])):
		return r.columns, in
	case string(magic[:]) == zipMagic:
		return r.zipped, in
	}
	return nil, nil
}

func (r *reader) contained(each func(in *io.SectionReader) error, in *io.SectionReader) error {
	r.decode, r.text, r.named = newDecoder(r.opt.Limits), &content{stored: &counted{}}, map[string]*session{}
	err := errors.Join(each(in), r.joined())
	return r.ended(err, r.records, r.records > 0, "no records in it")
}

// columns reads a table, a record a row. A member that is null is as one that is
// not there: columns hold every name of every row.
func (r *reader) columns(in *io.SectionReader) error {
	var own error
	err := columns.Each(in, in.Size(), func(row string) error {
		if own = r.ctx.Err(); own == nil {
			own = r.entry(withoutNulls(row), r.records+1)
		}
		return own
	})
	if own != nil || err == nil {
		return own
	}
	return &damage{CorruptColumns, err.Error()}
}

func withoutNulls(row string) []byte {
	d := json.NewDecoder(strings.NewReader(row))
	d.UseNumber()
	var v any
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if d.Decode(&v) != nil || e.Encode(dropNulls(v)) != nil {
		return []byte(row)
	}
	return bytes.TrimRight(out.Bytes(), "\n")
}

func dropNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if v[k] = dropNulls(e); e == nil {
				delete(v, k)
			}
		}
	case []any:
		for i := range v {
			v[i] = dropNulls(v[i])
		}
	}
	return v
}

// zipped reads a log of inspect_ai that is a zip: a record a sample, under the
// spec of the log's head.
func (r *reader) zipped(in *io.SectionReader) error {
	z, err := zip.NewReader(in, in.Size())
	if err != nil {
		return &damage{CorruptZip, err.Error()}
	}
	z.RegisterDecompressor(zstd.ZipMethodWinZip, zstd.ZipDecompressor(zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxZstdWindow)))
	spec, room := []byte(nil), max(idleLines*r.opt.Limits.LineBytes, r.opt.Limits.Expansion*in.Size())
	for _, f := range z.File {
		if f.Name == "header.json" || f.Name == "_journal/start.json" && spec == nil {
			if spec, err = r.unzipped(f); err != nil {
				return err
			}
		}
	}
	if spec == nil {
		return &damage{NotATrace, "a file of zip that is no log of inspect_ai"}
	}
	for _, f := range z.File {
		if !strings.HasPrefix(f.Name, "samples/") {
			continue
		}
		if err := errors.Join(r.ctx.Err(), r.zippedSample(f, spec, &room)); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) zippedSample(f *zip.File, spec []byte, room *int64) error {
	sample, err := r.unzipped(f)
	if broken, is := errors.AsType[*damage](err); is {
		return r.fault(r.records+1, broken.reason, broken.detail, false)
	}
	if *room -= int64(len(sample)); *room < 0 {
		return &damage{DecompressionBomb, fmt.Sprintf("more than %d times its size", r.opt.Limits.Expansion)}
	}
	return r.entry(formats.InspectSample(spec, sample), r.records+1)
}

func (r *reader) unzipped(f *zip.File) ([]byte, error) {
	in, err := f.Open()
	if err != nil {
		return nil, &damage{CorruptZip, err.Error()}
	}
	defer in.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(io.LimitReader(in, r.opt.Limits.LineBytes+1))
	switch {
	case err != nil:
		return nil, &damage{CorruptZip, err.Error()}
	case int64(len(text)) > r.opt.Limits.LineBytes:
		return nil, &damage{LineTooLong, fmt.Sprintf("entry of more than %d bytes", r.opt.Limits.LineBytes)}
	}
	return text, nil
}

func (r *reader) entry(text []byte, place int) error {
	f, err := r.decode.record(text)
	switch {
	case err != nil:
		return r.broken(place, err, false)
	case f.line != "":
		r.gather(f.line, place, text)
		return nil
	case f.part != "":
		return r.several(f, place)
	default:
		return r.found(f, place, digest.SHA256(text))
	}
}

// Package inspectlog writes the log of a run in the format of inspect_ai (a
// zip of JSON documents, schema version 2), so that its viewer and its
// functions open every rollout. Everything in it follows from the run's spec
// and its rollouts: the same run gives the same bytes.
package inspectlog

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/atomicfile"
	"github.com/trajectory-arena/arena/internal/wrong"
	"github.com/trajectory-arena/arena/student/rollout"
)

// version is the version of inspect_ai's log format that is written (its LOG_SCHEMA_VERSION).
const version = 2

// noTime is the time that is written where the format requires one, since a log must not depend on
// the clock. The first step of every trace has this time.
const noTime = "2001-09-09T01:46:40+00:00"

// Log is a log that is being written. It holds one sample at a time, whatever the size of
// the run, and appears at its path when it is complete.
type Log struct {
	run Run
	// entries is the zip file that is being written.
	entries *atomicfile.File
	zip     *zip.Writer
	// summaries compresses the list of sample summaries into packed. The list follows the samples
	// in the log.
	summaries *gzip.Writer
	packed    bytes.Buffer
	count     int
	usage     usage
	// encoded is the JSON of the document that is being written.
	encoded bytes.Buffer
}

// New starts the log of a run in a file, which the caller drops if the log cannot be
// written.
func New(file *atomicfile.File, r Run) (*Log, error) {
	l := &Log{
		run:     r,
		entries: file,
		zip:     zip.NewWriter(file),
	}
	l.summaries, _ = gzip.NewWriterLevel(&l.packed, gzip.BestSpeed) // a level that there is
	l.zip.RegisterCompressor(zip.Deflate, oneCompressor())
	return l, l.document("_journal/start.json", l.start())
}

// oneCompressor returns a zip.Compressor that uses a single flate.Writer for all entries, which are
// written one after another. The tables of a flate.Writer are larger than most entries.
func oneCompressor() zip.Compressor {
	var w *flate.Writer
	return func(out io.Writer) (io.WriteCloser, error) {
		if w == nil {
			var err error
			w, err = flate.NewWriter(out, flate.BestSpeed)
			return w, err
		}
		w.Reset(out)
		return w, nil
	}
}

func (l *Log) document(name string, v any) error {
	if err := l.encode(v); err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	w, err := l.entry(name)
	if err == nil {
		_, err = w.Write(l.encoded.Bytes())
	}
	return wrong.Wrap("write "+name, err)
}

func (l *Log) entry(name string) (io.Writer, error) {
	return l.zip.CreateHeader(&zip.FileHeader{
		Name:   name,
		Method: zip.Deflate,
	})
}

func (l *Log) encode(v any) error {
	l.encoded.Reset()
	return asjson.NewEncoder(&l.encoded).Encode(v)
}

// Add writes one rollout with its problem. All samples of all problems must be added in
// order.
func (l *Log) Add(p *arena.Problem, r *rollout.Result) error {
	sample, summary := l.sample(p, r)
	if err := l.document(fmt.Sprintf("samples/%s_epoch_%d.json", sample["id"], sample["epoch"]), sample); err != nil {
		return err
	}
	if err := l.encode(summary); err != nil {
		return fmt.Errorf("encode summary: %w", err)
	}
	_, err := l.summaries.Write(append([]byte{"[,"[min(l.count, 1)]}, l.encoded.Bytes()...))
	l.count++
	return err
}

// maxRollout is the maximum size in bytes of a trace for its conversation to be written to the log,
// since readers load a complete sample into memory.
const maxRollout = 16 << 20

// Close writes summaries and results after the samples, which completes the log.
func (l *Log) Close(results []Score) error {
	err := l.copySummaries()
	if err == nil {
		err = l.document("header.json", l.header(results))
	}
	if err == nil {
		err = l.zip.Close()
	}
	return wrong.Wrap("write inspect log", l.entries.End(err))
}

func (l *Log) copySummaries() error {
	behind := []string{"[]", "]"}[min(l.count, 1)]
	_, err := io.WriteString(l.summaries, behind)
	if err = errors.Join(err, l.summaries.Close()); err != nil {
		return err
	}
	stored, err := gzip.NewReader(&l.packed)
	if err != nil {
		return err
	}
	w, err := l.entry("summaries.json")
	if err == nil {
		_, err = io.Copy(w, stored)
	}
	return err
}

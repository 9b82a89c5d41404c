// Package inspectlog writes the log of a run in the format of inspect_ai (a
// zip of JSON documents, schema version 2), so that its viewer and its
// functions open every rollout. Everything in it follows from the run's spec
// and its rollouts: the same run gives the same bytes.
package inspectlog

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/flate"

	"github.com/trajectory-arena/arena/internal/atomicfile"
)

// version is inspect_ai's LOG_SCHEMA_VERSION that is written here.
const version = 2

// noTime stands where the format wants a time. A log holds no clock, so it
// takes the moment at which the steps of all traces begin.
const noTime = "2001-09-09T01:46:40+00:00"

// Log is a log under way. It holds one sample at a time, whatever the size of
// the run, and appears at its path when it is whole.
type Log struct {
	run Run
	// entries is the zip under way, summaries the list that goes behind the
	// samples; both are temporary files beside path.
	entries   *atomicfile.File
	zip       *zip.Writer
	summaries *os.File
	count     int
	usage     usage
	// buffer holds summaries on their way, encoded the document at hand.
	buffer  []byte
	encoded bytes.Buffer
}

// New begins the log of a run.
func New(path string, r Run) (*Log, error) {
	l := &Log{run: r}
	var err error
	if l.entries, err = atomicfile.Create(path); err != nil {
		return nil, fmt.Errorf("begin inspect log: %w", err)
	}
	if l.summaries, err = os.CreateTemp(filepath.Dir(path), atomicfile.Unfinished); err != nil {
		return nil, errors.Join(fmt.Errorf("begin inspect log: %w", err), l.entries.Drop())
	}
	l.zip = zip.NewWriter(l.entries)
	l.zip.RegisterCompressor(zip.Deflate, oneCompressor())
	if err := l.document("_journal/start.json", l.start()); err != nil {
		return nil, errors.Join(err, l.Drop())
	}
	return l, nil
}

// oneCompressor gives the entries of a zip, which follow each other, one and
// the same compressor: its tables are larger than most entries.
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

// document writes one entry of the zip.
func (l *Log) document(name string, v any) error {
	if err := l.encode(v); err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	w, err := l.zip.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if _, err := w.Write(l.encoded.Bytes()); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

func (l *Log) encode(v any) error {
	l.encoded.Reset()
	e := json.NewEncoder(&l.encoded)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// Add writes one rollout. All samples of all problems come in order.
func (l *Log) Add(s Sample) error {
	doc := l.sample(s)
	if n := len(s.Result.Line); n > maxRollout {
		doc.leaveOut(n)
	}
	if err := l.document(fmt.Sprintf("samples/%s_epoch_%d.json", doc.ID, doc.Epoch), doc); err != nil {
		return err
	}
	if err := l.encode(doc.summary()); err != nil {
		return fmt.Errorf("encode summary: %w", err)
	}
	separator := byte(',')
	if l.count == 0 {
		separator = '['
	}
	l.count++
	l.buffer = append(append(l.buffer, separator), l.encoded.Bytes()...)
	return l.spill(spillBytes)
}

// maxRollout bounds the trace of a rollout whose conversation the log holds: its
// readers take a sample into memory whole.
const maxRollout = 16 << 20

// spillBytes is how much of the summaries is kept in memory.
const spillBytes = 64 << 10

// spill writes summaries away where they are more than enough.
func (l *Log) spill(enough int) error {
	if len(l.buffer) < enough {
		return nil
	}
	if _, err := l.summaries.Write(l.buffer); err != nil {
		return fmt.Errorf("write summaries: %w", err)
	}
	l.buffer = l.buffer[:0]
	return nil
}

// Close writes summaries and results behind the samples; the log is then
// whole.
func (l *Log) Close(results []Score) error {
	err := errors.Join(l.copySummaries(), l.document("header.json", l.header(results)), l.zip.Close())
	if err != nil {
		return errors.Join(fmt.Errorf("write inspect log: %w", err), l.Drop())
	}
	if err := errors.Join(l.dropSummaries(), l.entries.Commit()); err != nil {
		return fmt.Errorf("write inspect log: %w", err)
	}
	return nil
}

func (l *Log) copySummaries() error {
	if l.count == 0 {
		l.buffer = append(l.buffer, '[')
	}
	l.buffer = append(l.buffer, ']')
	if err := l.spill(0); err != nil {
		return err
	}
	if _, err := l.summaries.Seek(0, io.SeekStart); err != nil {
		return err
	}
	w, err := l.zip.CreateHeader(&zip.FileHeader{Name: "summaries.json", Method: zip.Deflate})
	if err != nil {
		return err
	}
	_, err = io.Copy(w, l.summaries)
	return err
}

// Drop gives the log up.
func (l *Log) Drop() error {
	return errors.Join(l.entries.Drop(), l.dropSummaries())
}

func (l *Log) dropSummaries() error {
	return errors.Join(l.summaries.Close(), os.Remove(l.summaries.Name()))
}

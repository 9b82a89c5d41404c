package traces

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/trajectory-arena/arena/internal/cursor"
	"github.com/trajectory-arena/arena/internal/digest"
)

// reader reads the records of one input file and passes their traces and faults to emit.
type reader struct {
	ctx     context.Context //nolint:containedctx // it lives for one input
	input   Input
	opt     Options
	emit    func(Item) error
	summary Summary

	text   *content
	w      *window
	decode *decoder
	// blank is the white space before the first record. It is part of the checksum of a file with
	// one record.
	blank   []byte
	records int
	repeats repeats
	// linesOnly is set after the end of a value over several lines could not be found, or in a
	// malformed list: each further line is a record. Such a search may read LineBytes, so there is
	// at most one in a file.
	linesOnly bool
	// inBrokenList is set after malformed text in an array of records, whose other elements may be
	// on lines of their own.
	inBrokenList bool
	// sessions are the conversations whose lines are separate records of the file, in the order
	// of their first lines. sessionsByKey has the same, and sessionBytes is their total size.
	sessions      []*session
	sessionsByKey map[string]*session
	sessionBytes  int64
}

func (r *reader) read() error {
	if r.input.badMeta {
		detail := MetaName + " beside the file is no JSON object; the file itself is read, and its path names the run and the agent"
		if err := r.emitFault(Fault{Reason: BadMeta, Detail: detail}); err != nil {
			return err
		}
	}
	if r.input.refused != "" {
		return r.addFault(0, r.input.refused, "not opened", false)
	}
	if r.input.attempt != nil && !r.input.attempt.HasTrajectory {
		return r.emitTrial()
	}
	stored, err := r.input.open()
	if err != nil {
		return err
	}
	if readFile, src := r.openContainer(stored); readFile != nil {
		err = r.readContainer(readFile, src)
		return errors.Join(err, stored.Close())
	}
	text, err := openContent(withContext(r.ctx, stored), r.opt.Limits)
	if err == nil {
		err = r.readContent(text)
		text.close()
	}
	return errors.Join(err, stored.Close())
}

func (r *reader) readContent(text *content) error {
	r.text = text
	r.w = &window{
		src:   text,
		limit: int(r.opt.Limits.LineBytes),
		line:  1,
	}
	r.decode = newDecoder(r.opt.Limits)
	r.sessionsByKey = map[string]*session{}
	var more bool
	r.blank, more = r.w.skipBlank()
	for more {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		if err := r.nextRecord(); err != nil {
			return err
		}
		r.blank, more = r.w.skipBlank()
	}
	if err := r.emitSessions(); err != nil {
		return err
	}
	return r.finishFile(r.w.failure(), r.w.line, true, "nothing but white space")
}

// finishFile emits a fault if err is a *damage, and also if err is nil and the file has no record;
// emptyDetail then describes the fault. It returns any other error unchanged. hasBegun says that
// records were read before, so that damage means that others were lost.
func (r *reader) finishFile(
	err error,
	line int,
	hasBegun bool,
	emptyDetail string,
) error {
	if d, ok := errors.AsType[*damage](err); ok {
		return r.addFault(line, d.reason, d.detail, hasBegun && d.reason != NotATrace)
	}
	if err == nil && r.records == 0 {
		return r.addFault(0, EmptyFile, emptyDetail, false)
	}
	return err
}

// nextRecord reads and emits one record at the start of the unread text, which may have several
// lines, or all records of an array.
func (r *reader) nextRecord() error {
	if r.w.unread()[0] == '[' && !r.linesOnly {
		if isList, err := r.readArray(); isList {
			return err
		}
	}
	length, ok := r.w.lineEnd()
	if !ok {
		line := r.w.line
		r.w.skipLine()
		return r.addFault(line, LineTooLong, fmt.Sprintf("more than %d bytes", r.w.limit), false)
	}
	text := r.w.unread()[:length]
	if r.inBrokenList {
		text = bytes.TrimSuffix(trimLine(text), []byte{','})
		if string(text) == "]" {
			r.w.consume(length)
			return nil
		}
	}

	d, err := r.decode.record(text)
	if r.mayContinue(err) {
		if end, ok := r.multilineEnd(); ok {
			d, err = r.decode.record(r.w.unread()[:end])
			return r.consumeRecord(end, r.w.line, d, err)
		}
		r.linesOnly = true
	}
	return r.consumeRecord(length, r.w.line, d, err)
}

// multilineEnd returns the length of the object or array at the start of the unread text, which may
// have several lines. ok is false if its end is not found within the limit.
func (r *reader) multilineEnd() (end int, ok bool) {
	if r.w.unread()[0] == '{' {
		return r.w.multilineEnd()
	}
	return r.w.valueEnd(0)
}

// mayContinue reports whether a line may be only the first line of a record over several lines. err
// is the error with which the decoder rejected the line.
func (r *reader) mayContinue(err error) bool {
	e, ok := errors.AsType[*cursor.Error](err)
	if !ok || e.Fault != cursor.Ended || r.linesOnly {
		return false
	}
	return r.startsContainer()
}

// consumeRecord consumes the n bytes of a record and emits its traces, or a fault if err is an
// error of the decoder. If the record is only a line of a session, it stores the line for
// emitSessions.
func (r *reader) consumeRecord(n, line int, d decoded, err error) error {
	raw := r.w.unread()[:n]
	isLast := n == len(r.w.unread())
	switch {
	case err != nil && isLast && r.w.failed():
		r.w.consume(n) // finishFile reports the damage that cut off the record
		return nil
	case err != nil:
		isEnd := isLast && r.w.err != nil
		r.w.consume(n)
		return r.addDecodeFault(line, err, isEnd)
	case d.sessionKey != "":
		r.addSessionLine(d.sessionKey, line, trimLine(raw))
		r.w.consume(n)
		return nil
	}

	// A file with one attempt is known by the checksum of the file, white space included.
	recordSum := sha256.Sum256(trimLine(raw))
	sum := recordSum[:]
	if r.records > 0 {
		r.w.consume(n)
	} else {
		fileSum := sha256.New()
		fileSum.Write(r.blank)
		fileSum.Write(raw)
		r.w.consume(n)
		tail, more := r.w.skipBlank()
		fileSum.Write(tail)
		d.isOnlyRecord = !more && !r.w.failed()
		if d.isOnlyRecord && d.part == "" && d.trace.Source.Shape != sandboxLine.Shape {
			line = 0
			sum = fileSum.Sum(nil)
		}
	}
	if d.part != "" {
		return r.emitParts(d, line)
	}
	return r.emitTrace(d, line, hex.EncodeToString(sum))
}

// emitParts emits one trace for each attempt of a record that contains several attempts. The
// checksum of a trace covers only its own part of the record. The traces have the line number of
// the record, or the numbers 1, 2, 3 and so on if the file has no other record.
func (r *reader) emitParts(d decoded, line int) error {
	isOnlyRecord := d.isOnlyRecord
	for i, part := range append([]decoded{d}, d.siblings...) {
		part.isOnlyRecord = false
		if isOnlyRecord {
			line = i + 1
		}
		if err := r.emitTrace(part, line, digest.SHA256([]byte(part.part))); err != nil {
			return err
		}
	}
	return nil
}

// addDecodeFault emits a fault for err if it is an error of the decoder, and returns any other
// error. isEnd is set for the last record of the file, which was cut off if it is incomplete.
func (r *reader) addDecodeFault(line int, err error, isEnd bool) error {
	if e, ok := errors.AsType[*cursor.Error](err); ok {
		reason := cmp.Or(limitReasons[e.Fault], BadJSON)
		return r.addFault(line, reason, e.Error(), isEnd && e.Fault == cursor.Ended)
	}
	if d, ok := errors.AsType[*damage](err); ok {
		return r.addFault(line, d.reason, d.detail, false)
	}
	return err
}

// limitReasons maps those errors of the JSON cursor that mean an exceeded limit to the reasons of a
// Fault. Any other error in the JSON has the reason BadJSON.
var limitReasons = map[cursor.Fault]Reason{
	cursor.TooDeep:       TooDeep,
	cursor.StringTooLong: StringTooLong,
	cursor.TooMany:       TooManyElements,
}

// addFault counts a record that cannot be read and emits a fault for it. line is 0 for a fault of
// the file. isCut is set if the file ends within the record, so that later records are lost.
func (r *reader) addFault(
	line int,
	reason Reason,
	detail string,
	isCut bool,
) error {
	r.records++
	return r.emitFault(Fault{
		Line:   line,
		Reason: reason,
		Detail: detail,
		Cut:    isCut,
	})
}

func (r *reader) emitFault(f Fault) error {
	r.summary.Faults++
	if f.Cut {
		r.summary.Cut = true
	}
	f.FileSHA256 = r.input.SHA256
	return r.emit(Item{Fault: &f})
}

// emitTrace sets the source, the checksum and the ids of a trace, adds what evaluators recorded on
// the attempt, and emits the trace. For an empty dialogue whose problem is unknown, it emits a
// fault instead.
func (r *reader) emitTrace(d decoded, line int, recordSHA256 string) error {
	t := d.trace
	t.Source.FileSHA256 = r.input.SHA256
	t.Source.Line = line
	t.RecordSHA256 = recordSHA256
	r.addResult(&d)
	r.setIDs(d)
	if t.Source.Shape == dialogueFile.Shape && len(t.Steps) == 0 && t.ProblemID == "" {
		return r.addFault(line, NotATrace, "empty list or null, and no path that names a problem", false)
	}
	r.records++
	r.text.markTrace()
	r.summary.Traces++
	return r.emit(Item{Trace: t})
}

func trimLine(line []byte) []byte { return bytes.TrimRight(line, " \t\r\n") }

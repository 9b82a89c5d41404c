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

type reader struct {
	ctx  context.Context //nolint:containedctx // it lives for one input
	in   Input
	opt  Options
	emit func(Item) error
	sum  Summary

	text   *content
	w      *window
	decode *decoder
	// blank is the white space before the next record.
	blank   []byte
	records int
	// linesOnly is set once a value that should span lines did not end: the
	// search for its end may cost LineBytes, and is not made twice a file.
	linesOnly bool
	// listed is set once an array of records broke off: its other elements may
	// still stand on lines of their own.
	listed bool
	// sessions gather records that are lines of one, in the order in which they began.
	sessions []*session
	named    map[string]*session
	gathered int64
}

func (r *reader) read() error {
	if r.in.badMeta {
		if err := r.tell(Fault{Reason: BadMeta, Detail: MetaName + " beside the file is no JSON object"}); err != nil {
			return err
		}
	}
	if r.in.refused != "" {
		return r.fault(0, r.in.refused, "not opened", false)
	}
	stored, err := r.in.open()
	if err != nil {
		return err
	}
	if each, in := r.container(stored); each != nil {
		return errors.Join(r.contained(each, in), stored.Close())
	}
	text, err := open(withContext(r.ctx, stored), r.opt.Limits)
	if err == nil {
		err = r.content(text)
		text.closer()
	}
	return errors.Join(err, stored.Close())
}

func (r *reader) content(text *content) error {
	r.text, r.w = text, &window{src: text, limit: int(r.opt.Limits.LineBytes), line: 1}
	r.decode, r.named = newDecoder(r.opt.Limits), map[string]*session{}
	var more bool
	r.blank, more = r.w.skipBlank()
	for more {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		if err := r.record(); err != nil {
			return err
		}
		r.blank, more = r.w.skipBlank()
	}
	return r.finish()
}

// finish reads what was gathered and says why the text ended, where that needs
// saying.
func (r *reader) finish() error {
	if err := r.joined(); err != nil {
		return err
	}
	return r.ended(r.w.failure(), r.w.line, true, "nothing but white space")
}

// ended tells of what broke a file off, which is cut if something of it was read, or that
// nothing is in it.
func (r *reader) ended(err error, line int, begun bool, nothing string) error {
	if broken, is := errors.AsType[*damage](err); is {
		return r.fault(line, broken.reason, broken.detail, begun && broken.reason != NotATrace)
	}
	if err == nil && r.records == 0 {
		return r.fault(0, EmptyFile, nothing, false)
	}
	return err
}

// record reads the record that the window starts with: an array, a line, or
// an object over several lines.
func (r *reader) record() error {
	if r.w.ahead()[0] == '[' && !r.linesOnly {
		if rows, err := r.array(); rows {
			return err
		}
	}
	n, ok := r.w.lineEnd()
	if !ok {
		line := r.w.line
		r.w.skipLine()
		return r.fault(line, LineTooLong, fmt.Sprintf("more than %d bytes", r.w.limit), false)
	}
	text := r.w.ahead()[:n]
	if r.listed {
		if text = bytes.TrimSuffix(trimLine(text), []byte{','}); string(text) == "]" {
			r.w.consume(n)
			return nil
		}
	}
	f, err := r.decode.record(text)
	if r.mayGoOn(err) {
		if to, ok := r.severalLines(); ok {
			f, err = r.decode.record(r.w.ahead()[:to])
			return r.take(to, r.w.line, f, err)
		}
		r.linesOnly = true
	}
	return r.take(n, r.w.line, f, err)
}

// severalLines returns the end of the value that the window starts with.
func (r *reader) severalLines() (to int, ok bool) {
	if r.w.ahead()[0] == '{' {
		return r.w.document()
	}
	return r.w.value(0)
}

// mayGoOn reports whether a record that could not be read is only the first line
// of one that is written over several.
func (r *reader) mayGoOn(err error) bool {
	if bad, is := errors.AsType[*cursor.Error](err); !is || bad.Fault != cursor.Ended || r.linesOnly {
		return false
	}
	first := r.w.ahead()[0]
	return first == '{' || first == '['
}

// take consumes the n bytes of a record and emits what was found in them. A
// record that the end of a damaged file cut off is not told twice.
func (r *reader) take(n, line int, f found, err error) error {
	raw := r.w.ahead()[:n]
	if err != nil && r.w.stopped() && n == len(r.w.ahead()) {
		r.w.consume(n)
		return nil
	}
	if err != nil {
		last := n == len(r.w.ahead()) && r.w.err != nil
		r.w.consume(n)
		return r.broken(line, err, last)
	}
	if f.line != "" {
		r.gather(f.line, line, trimLine(raw))
		r.w.consume(n)
		return nil
	}
	own := sha256.Sum256(trimLine(raw))
	whole := sha256.New()
	if r.records == 0 {
		whole.Write(r.blank)
		whole.Write(raw)
	}
	r.w.consume(n)
	if r.records == 0 {
		tail, more := r.w.skipBlank()
		whole.Write(tail)
		f.lone = !more && !r.w.stopped()
	}
	switch {
	case f.part != "":
		return r.several(f, line)
	case f.lone && f.trace.Source.Shape != sandboxLine.Shape:
		return r.found(f, 0, hex.EncodeToString(whole.Sum(nil)))
	default:
		return r.found(f, line, hex.EncodeToString(own[:]))
	}
}

// several emits the traces of one record, each by its own part of it.
func (r *reader) several(f found, line int) error {
	lone := f.lone
	for i, one := range append([]found{f}, f.others...) {
		one.lone = false
		if lone {
			line = i + 1
		}
		if err := r.found(one, line, digest.SHA256([]byte(one.part))); err != nil {
			return err
		}
	}
	return nil
}

// broken emits the fault that a decoder's error stands for. A record that the
// text is over in, and that wants to go on, was cut off.
func (r *reader) broken(line int, err error, last bool) error {
	if bad, is := errors.AsType[*cursor.Error](err); is {
		return r.fault(line, cmp.Or(limited[bad.Fault], BadJSON), bad.Error(), last && bad.Fault == cursor.Ended)
	}
	if refused, is := errors.AsType[*damage](err); is {
		return r.fault(line, refused.reason, refused.detail, false)
	}
	return err
}

// limited are the reasons of texts beyond a limit; any other fault of a text is that it is no JSON.
var limited = map[cursor.Fault]Reason{cursor.TooDeep: TooDeep, cursor.StringTooLong: StringTooLong, cursor.TooMany: TooManyElements}

// fault tells of a record that cannot be read; cut reports whether the file ends in it.
func (r *reader) fault(line int, reason Reason, detail string, cut bool) error {
	r.records++
	return r.tell(Fault{Line: line, Reason: reason, Detail: detail, Cut: cut})
}

func (r *reader) tell(f Fault) error {
	r.sum.Faults++
	r.sum.Cut = r.sum.Cut || f.Cut
	f.FileSHA256 = r.in.SHA256
	return r.emit(Item{Fault: &f})
}

func (r *reader) found(f found, line int, record string) error {
	f.trace.Source.FileSHA256, f.trace.Source.Line = r.in.SHA256, line
	f.trace.RecordSHA256 = record
	r.name(f)
	if t := f.trace; t.Source.Shape == dialogueFile.Shape && len(t.Steps) == 0 && t.ProblemID == "" {
		return r.fault(line, NotATrace, "empty list or null, and no path that names a problem", false)
	}
	r.records++
	r.text.good()
	r.sum.Traces++
	return r.emit(Item{Trace: f.trace})
}

func trimLine(line []byte) []byte { return bytes.TrimRight(line, " \t\r\n") }

package traces

import (
	"bytes"
	"fmt"
	"slices"
)

// session is a conversation that a file stores as several records, such as one line for each
// message.
type session struct {
	// line is the line of the first record. text has all records, separated by commas.
	line int
	text bytes.Buffer
	// tooLong is set if the session is longer than a record may be, or if all sessions of the
	// file are longer than maxSessionLines records. Its text is then dropped.
	tooLong bool
}

// maxSessionLines is the maximum size of all sessions of one file, as a multiple of
// Limits.LineBytes.
const maxSessionLines = 8

// addSessionLine appends a record to the session with this key, which it starts if the key is new.
// line is the number of the record's line in the file.
func (r *reader) addSessionLine(key string, line int, record []byte) {
	s := r.sessionsByKey[key]
	if s == nil {
		s = &session{line: line}
		r.sessions = append(r.sessions, s)
		r.sessionsByKey[key] = s
	}

	maxBytes := r.opt.Limits.LineBytes
	r.sessionBytes += int64(len(record))
	if int64(s.text.Len()+len(record)) > maxBytes || r.sessionBytes > maxSessionLines*maxBytes {
		s.tooLong = true
	}
	if s.tooLong {
		s.text = bytes.Buffer{}
		return
	}
	if s.text.Len() > 0 {
		s.text.WriteByte(',')
	}
	s.text.Write(record)
}

// emitSessions decodes each session as one document and emits its traces. Sessions have the
// order of their first records.
func (r *reader) emitSessions() error {
	sessions := r.sessions
	r.sessions = nil
	r.sessionsByKey = map[string]*session{}
	for _, s := range sessions {
		if err := r.emitSession(s); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) emitSession(s *session) error {
	if s.tooLong {
		detail := fmt.Sprintf("session of more than %d bytes, or behind so many", r.opt.Limits.LineBytes)
		return r.addFault(s.line, LineTooLong, detail, false)
	}
	doc := slices.Concat(
		[]byte(`{"session":[`),
		s.text.Bytes(),
		[]byte("]}"),
	)
	return r.readRecord(doc, s.line)
}

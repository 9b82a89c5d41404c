package serve

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/trajectory-arena/arena/corpus/redact"
)

// A log keeps its first headBytes bytes, which show how the server was set up, and its last
// tailBytes bytes, which show how it ended. So a server that logs without end cannot fill the disk.
const (
	headBytes = 16 << 20
	tailBytes = 1 << 20
	// lineBytes is the length in bytes above which an unfinished line of a server's log is written
	// without waiting for its end.
	lineBytes = 64 << 10
)

// boundedLog is the log file of a server, limited in size: it has the first lines and the newest
// ones. Secrets are removed from the lines, since servers log how they were started. It can be used
// by several goroutines.
type boundedLog struct {
	mu       sync.Mutex
	file     *os.File
	redactor *redact.Redactor
	line     []byte
	// room is the number of bytes that can still be written to the first part (head) of the file.
	room int
	// tail has the newest bytes after the head, at most 2*tailBytes. dropped is the number of bytes
	// that were removed between head and tail or could not be written.
	tail    []byte
	dropped int64
}

func newBoundedLog(path string) (*boundedLog, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	return &boundedLog{
		file:     file,
		redactor: redact.New(redact.Options{}),
		room:     headBytes,
	}, nil
}

// Write adds p to the log. It never returns an error, since a full disk must not stop a server with
// which an evaluation may still finish.
func (l *boundedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.line = append(l.line, p...)
	if end := bytes.LastIndexByte(l.line, '\n') + 1; end > 0 {
		l.add(l.clean(l.line[:end]))
		l.line = append(l.line[:0], l.line[end:]...)
	}
	if len(l.line) > lineBytes {
		l.add(l.clean(l.line))
		l.line = l.line[:0]
	}
	return len(p), nil
}

func (l *boundedLog) clean(text []byte) []byte {
	return []byte(l.redactor.Text(string(text), redact.Counts{}))
}

func (l *boundedLog) add(p []byte) {
	head := p[:min(len(p), l.room)]
	if n, err := l.file.Write(head); err != nil {
		l.dropped += int64(len(head) - n)
	}
	l.room -= len(head)
	l.tail = append(l.tail, p[len(head):]...)
	if over := len(l.tail) - tailBytes; over > tailBytes {
		l.dropped += int64(over)
		l.tail = append(l.tail[:0], l.tail[over:]...)
	}
}

func (l *boundedLog) last(n int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(l.clean(l.line))
	l.line = l.line[:0]
	if len(l.tail) > 0 {
		return string(l.tail[max(0, len(l.tail)-n):])
	}
	info, err := l.file.Stat()
	if err != nil {
		return ""
	}
	b := make([]byte, min(int64(n), info.Size()))
	read, _ := l.file.ReadAt(b, info.Size()-int64(len(b))) // what could be read is told
	return string(b[:read])
}

// close writes the last line and the tail to the file, after a note of how many bytes are missing
// before the tail, and closes the file.
func (l *boundedLog) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(l.clean(l.line))
	var err error
	if l.dropped > 0 {
		_, err = fmt.Fprintf(l.file, "\n[%d bytes of the log are left out here]\n", l.dropped)
	}
	_, bad := l.file.Write(l.tail)
	return errors.Join(err, bad, l.file.Close())
}

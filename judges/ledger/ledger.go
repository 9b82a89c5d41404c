// Package ledger records every exchange with a judge model, so that no answer is paid for twice.
// A ledger is a folder of files of JSON lines. Each process writes one file and reads all files,
// so that shards can run at the same time. Ledgers are merged by moving their files into one
// folder.
package ledger

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/journal"
)

// ErrNotFound is returned if the ledger has no answer.
var ErrNotFound = errors.New("no answer held")

// hashKey is a SHA-256 in binary form, which needs half the memory of hex.
type hashKey [32]byte

// Ledger is an open ledger. Its methods are safe for concurrent use.
type Ledger struct {
	dir string

	// fileMu guards file, the file that this process writes.
	fileMu sync.Mutex
	file   *journal.Lines

	// mu guards the fields below. It is not held while a file is written.
	mu sync.Mutex
	// read is the number of bytes read so far of each file of another process.
	read map[string]int64
	// byAsk and byKey map the hash of a question, and the hash of a request, to the first
	// readable exchange.
	byAsk map[hashKey]place
	byKey map[hashKey]place
	usage map[usageKey]Usage
	bill  Bill
	paid  map[string]Bill
	// unread maps a question to the number of its replies that were no answer.
	unread map[hashKey]int
}

// place is where the line of an exchange (a request to a model, with its reply) is: a file of the
// ledger, and offset and length in bytes.
type place struct {
	file   string
	offset int64
	size   int
	// cached reports whether another process wrote the file.
	cached bool
}

// Open reads the ledger in dir, with all that other processes have recorded so far. If dir does
// not exist, the first exchange creates it.
func Open(dir string) (*Ledger, error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("read ledger %s: not a folder", dir)
	}
	l := &Ledger{
		dir:    dir,
		read:   map[string]int64{},
		byAsk:  map[hashKey]place{},
		byKey:  map[hashKey]place{},
		usage:  map[usageKey]Usage{},
		bill:   Bill{Spent: Free()},
		paid:   map[string]Bill{},
		unread: map[hashKey]int{},
	}
	addCost := func(e Exchange) {
		l.bill = l.bill.plus(e)
		l.paid[e.Payer] = l.paid[e.Payer].plus(e)
	}
	if err := l.readNew(addCost); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// readNew reads the exchanges (model requests with their replies) that other processes have
// recorded since the last call, adds them to the indexes, and calls visit for each. The caller must
// hold fileMu and mu, or be the only user of the ledger.
func (l *Ledger) readNew(visit func(Exchange)) error {
	entries, err := os.ReadDir(l.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("list ledger: %w", err)
	}
	for _, entry := range entries {
		path := filepath.Join(l.dir, entry.Name())
		if !strings.HasSuffix(path, suffix) {
			continue
		}
		if err := l.readFile(path, entry, visit); err != nil {
			return fmt.Errorf("read ledger %s: %w", path, err)
		}
	}
	return nil
}

// readFile reads the lines that other processes added to a file of the ledger since the last call.
// It adds them to the indexes and calls visit for each. It skips the file that this process writes,
// since its lines were added to the indexes when they were written.
func (l *Ledger) readFile(
	path string,
	entry fs.DirEntry,
	visit func(Exchange),
) error {
	const newline = 1
	if l.file != nil && path == l.file.Path() {
		return nil
	}
	info, err := entry.Info()
	if err != nil || info.Size() <= l.read[path]+newline {
		return nil //nolint:nilerr // the file was removed meanwhile
	}
	return eachLine(path, l.read[path], func(offset int64, size int, e Exchange) {
		l.index(e, place{
			file:   path,
			offset: offset,
			size:   size,
			cached: true,
		})
		l.read[path] = offset + int64(size)
		visit(e)
	})
}

// index adds an exchange at position p to the indexes by question and by request, and to the usage
// of its model. An exchange without a readable reply is added to the usage and counted for its
// question, but cannot be found.
func (l *Ledger) index(e Exchange, p place) {
	key := usageKey{e.Model, e.PromptSHA256}
	l.usage[key] = l.usage[key].plus(e)
	switch e.Outcome {
	case arena.JudgeScored:
		addFirst(l.byAsk, e.Ask, p)
		addFirst(l.byKey, e.Key, p)
	case arena.JudgeUnparsed, arena.JudgeRefused:
		if k, ok := parseHash(e.Ask); ok {
			l.unread[k]++
		}
	case arena.JudgeFailed, arena.JudgeUnsaid, arena.JudgeUndecided, arena.JudgeNotMeasured, arena.JudgeNotAsked:
	}
}

// addFirst adds the position of an answer to an index under a hash in hex. It changes nothing if
// the index already has an answer for this hash, since later ones are copies, or if the hash is
// invalid.
func addFirst(index map[hashKey]place, id string, p place) {
	k, ok := parseHash(id)
	if !ok {
		return
	}
	if _, exists := index[k]; !exists {
		index[k] = p
	}
}

// Answer returns the readable exchange that answered the question ask, or ErrNotFound. It also
// reads what other processes have recorded so far, but does not add it to the Bill.
func (l *Ledger) Answer(ask string) (Exchange, error) {
	e, err := l.find(l.byAsk, ask)
	if !errors.Is(err, ErrNotFound) {
		return e, err
	}
	l.fileMu.Lock()
	l.mu.Lock()
	err = l.readNew(func(Exchange) {})
	l.mu.Unlock()
	l.fileMu.Unlock()
	if err != nil {
		return Exchange{}, err
	}
	return l.find(l.byAsk, ask)
}

// Unread returns the number of replies to the question ask that were no answer, in all runs.
func (l *Ledger) Unread(ask string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	k, _ := parseHash(ask)
	return l.unread[k]
}

// Reply returns a readable exchange with the same request, for any question. It returns
// ErrNotFound if there is none.
func (l *Ledger) Reply(key string) (Exchange, error) {
	return l.find(l.byKey, key)
}

func (l *Ledger) find(index map[hashKey]place, id string) (Exchange, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k, ok := parseHash(id)
	if !ok {
		return Exchange{}, ErrNotFound
	}
	p, ok := index[k]
	if !ok {
		return Exchange{}, ErrNotFound
	}
	e, err := readLine(p.file, p.offset, p.size)
	if err != nil {
		return Exchange{}, fmt.Errorf("read ledger: %w", err)
	}
	e.Cached = p.cached
	return e, nil
}

// Add records an exchange. The exchange is on disk when Add returns.
func (l *Ledger) Add(e Exchange) error {
	p, err := l.write(e)
	if err != nil {
		return fmt.Errorf("record exchange: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.bill = l.bill.plus(e)
	l.index(e, p)
	return nil
}

func (l *Ledger) write(e Exchange) (place, error) {
	line, err := encode(e)
	if err != nil {
		return place{}, err
	}
	file, err := l.openFile()
	if err != nil {
		return place{}, err
	}
	offset, err := file.Append(line)
	if err != nil {
		return place{}, err
	}
	return place{
		file:   file.Path(),
		offset: offset,
		size:   len(line),
	}, file.Sync()
}

// openFile returns the file that this process writes, and creates it at the first call.
func (l *Ledger) openFile() (*journal.Lines, error) {
	l.fileMu.Lock()
	defer l.fileMu.Unlock()
	if l.file != nil {
		return l.file, nil
	}
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return nil, err
	}
	file, err := journal.CreateLines(l.dir, "exchanges-*"+suffix)
	l.file = file
	return file, err
}

// Close closes this process's file.
func (l *Ledger) Close() error {
	l.fileMu.Lock()
	defer l.fileMu.Unlock()
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}

// parseHash decodes a SHA-256 in hex. ok is false if id is not one.
func parseHash(id string) (k hashKey, ok bool) {
	if len(id) != hex.EncodedLen(len(k)) {
		return hashKey{}, false
	}
	_, err := hex.Decode(k[:], []byte(id))
	return k, err == nil
}

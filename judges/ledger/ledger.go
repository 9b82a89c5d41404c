// Package ledger keeps every exchange with a judge model, so that no answer is
// paid for twice. A ledger is a folder of files of JSON lines: each process writes
// one of its own and reads all of them, so shards work side by side, and ledgers
// merge by putting their files into one folder.
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

// ErrNotHeld says that the ledger holds no answer.
var ErrNotHeld = errors.New("no answer held")

// Ledger is an open ledger. Its methods may be called from any goroutine.
type Ledger struct {
	dir string

	// creating is held while this process's file is made.
	creating sync.Mutex
	own      *journal.Lines

	// mu guards what follows, and is never held while the disk is written.
	mu sync.Mutex
	// read says how far each file of another process was read.
	read  map[string]int64
	byAsk map[[32]byte]place
	byKey map[[32]byte]place
	usage map[asked]Usage
	bill  Bill
	paid  map[string]Bill
	// unread counts replies that were no answer, by question.
	unread map[[32]byte]int
}

// place is the line of a file that holds an exchange.
type place struct {
	file   string
	offset int64
	size   int
	held   bool
}

// Open reads the ledger in dir, which the first exchange creates where it does
// not exist. It sees what other processes had recorded at this moment.
func Open(dir string) (*Ledger, error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("read ledger %s: not a folder", dir)
	}
	l := &Ledger{
		dir: dir, read: map[string]int64{}, byAsk: map[[32]byte]place{}, byKey: map[[32]byte]place{}, usage: map[asked]Usage{}, unread: map[[32]byte]int{},
		bill: Bill{Spent: Free()}, paid: map[string]Bill{},
	}
	count := func(e Exchange) {
		l.bill = l.bill.plus(e)
		l.paid[e.Payer] = l.paid[e.Payer].plus(e)
	}
	if err := l.catchUp(count); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

func (l *Ledger) eachFile(visit func(path string, entry fs.DirEntry) error) error {
	entries, err := os.ReadDir(l.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("list ledger: %w", err)
	}
	for _, entry := range entries {
		path := filepath.Join(l.dir, entry.Name())
		if !strings.HasSuffix(path, suffix) {
			continue
		}
		if err := visit(path, entry); err != nil {
			return fmt.Errorf("read ledger %s: %w", path, err)
		}
	}
	return nil
}

// catchUp reads what other processes have recorded since it was last called. The
// caller has mu, or the ledger alone.
func (l *Ledger) catchUp(visit func(Exchange)) error {
	return l.eachFile(func(path string, entry fs.DirEntry) error {
		const newline = 1
		info, err := entry.Info()
		if l.own != nil && path == l.own.Path() || err != nil || info.Size() <= l.read[path]+newline {
			return nil //nolint:nilerr // a file that went meanwhile holds nothing
		}
		return eachLine(path, l.read[path], func(offset int64, size int, e Exchange) {
			l.enter(e, place{file: path, offset: offset, size: size, held: true})
			l.read[path] = offset + int64(size)
			visit(e)
		})
	})
}

// enter makes an exchange known to what looks for answers and predicts costs.
func (l *Ledger) enter(e Exchange, at place) {
	of := asked{e.Model, e.PromptSHA256}
	l.usage[of] = l.usage[of].plus(e)
	if k, ok := hash(e.Ask); ok && (e.Outcome == arena.JudgeUnparsed || e.Outcome == arena.JudgeRefused) {
		l.unread[k]++
	}
	if e.Outcome != arena.JudgeScored {
		return
	}
	keepFirst(l.byAsk, e.Ask, at)
	keepFirst(l.byKey, e.Key, at)
}

// keepFirst keeps the first answer: later ones to the same question are copies.
func keepFirst(index map[[32]byte]place, id string, at place) {
	k, ok := hash(id)
	if _, known := index[k]; ok && !known {
		index[k] = at
	}
}

// Answer finds the readable exchange that answered ask, or else ErrNotHeld. What
// other processes have recorded by now counts, but is on nobody's bill here.
func (l *Ledger) Answer(ask string) (Exchange, error) {
	e, err := l.find(l.byAsk, ask)
	if !errors.Is(err, ErrNotHeld) {
		return e, err
	}
	l.creating.Lock()
	l.mu.Lock()
	err = l.catchUp(func(Exchange) {})
	l.mu.Unlock()
	l.creating.Unlock()
	if err != nil {
		return Exchange{}, err
	}
	return l.find(l.byAsk, ask)
}

// Unread counts the replies to ask, in all runs, that were no answer.
func (l *Ledger) Unread(ask string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	k, _ := hash(ask)
	return l.unread[k]
}

// Reply finds a readable exchange with the very same request, whatever it was
// asked for, or else ErrNotHeld.
func (l *Ledger) Reply(key string) (Exchange, error) {
	return l.find(l.byKey, key)
}

func (l *Ledger) find(index map[[32]byte]place, id string) (e Exchange, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k, ok := hash(id)
	at, held := index[k]
	if !ok || !held {
		return Exchange{}, ErrNotHeld
	}
	e, err = readLine(at.file, at.offset, at.size)
	if err != nil {
		return Exchange{}, fmt.Errorf("read ledger: %w", err)
	}
	e.Held = at.held
	return e, nil
}

// Add records an exchange durably before it returns.
func (l *Ledger) Add(e Exchange) error {
	line, err := encode(e)
	own, bad := l.writable()
	if err = errors.Join(err, bad); err != nil {
		return fmt.Errorf("record exchange: %w", err)
	}
	offset, err := own.Append(line)
	if err == nil {
		err = own.Sync()
	}
	if err != nil {
		return fmt.Errorf("record exchange: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.bill = l.bill.plus(e)
	l.enter(e, place{file: own.Path(), offset: offset, size: len(line)})
	return nil
}

// writable is this process's file, made with the folder at the first exchange.
func (l *Ledger) writable() (*journal.Lines, error) {
	l.creating.Lock()
	defer l.creating.Unlock()
	if l.own != nil {
		return l.own, nil
	}
	err := os.MkdirAll(l.dir, 0o700)
	if err == nil {
		l.own, err = journal.CreateLines(l.dir, "exchanges-*"+suffix)
	}
	return l.own, err
}

// Close closes this process's file.
func (l *Ledger) Close() error {
	l.creating.Lock()
	defer l.creating.Unlock()
	if l.own == nil {
		return nil
	}
	err := l.own.Close()
	l.own = nil
	return err
}

func hash(id string) (k [32]byte, ok bool) {
	n, err := hex.Decode(k[:], []byte(id[:min(len(id), hex.EncodedLen(len(k)))]))
	return k, err == nil && hex.EncodedLen(n) == len(id) && n == len(k)
}

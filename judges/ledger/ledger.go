// Package ledger keeps every exchange with a judge model, so that no answer is
// paid for twice. A ledger is a folder of SQLite segments: each process writes
// its own and reads all of them, so shards on a shared folder need no lock.
//
// A segment is written in WAL mode without checkpoints: its main file does not
// change while it is open and its log only grows, every commit with a checksum.
// So a killed process loses nothing it had committed, and another process may
// copy a segment at any moment and read a consistent state of it.
package ledger

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/trajectory-arena/arena"
)

// ErrNotHeld says that the ledger holds no answer.
var ErrNotHeld = errors.New("no answer held")

// Exchange is one request to a model and what came of it.
type Exchange struct {
	// Key is the hex sha256 of what was asked of whom: model, messages and
	// parameters. Ask is the hex sha256 of the question that the request was
	// one try at answering; several models may have been tried.
	Key string
	Ask string
	// Model is the model that was asked, Served the one the reply names.
	Model        string
	Served       string
	PromptSHA256 string
	// Outcome is scored where the reply could be read.
	Outcome arena.JudgeOutcome
	// Try counts from 1 within one Ask and run.
	Try int
	// Status is the HTTP status, 0 where no reply came.
	Status  int
	Request []byte
	Reply   []byte
	// PromptBytes is the size of the messages' text.
	PromptBytes int
	// Verdicts is how many were asked for: one on an attempt, or one for each of
	// its steps.
	Verdicts int
	Tokens   Spent
	// Total is what the Ask has cost up to and with this exchange.
	Total     Spent
	LatencyMS int64
	// Error says in words why there is no answer.
	Error string
	// Held is true where the exchange was recorded before the ledger was
	// opened. It is set on reading.
	Held bool
}

// Spent is what exchanges cost.
type Spent struct {
	Prompt     int
	Completion int
	// USD is nil where a price is unknown.
	USD *float64
}

// Plus is the sum of both; its price is unknown where either is.
func (s Spent) Plus(o Spent) Spent {
	sum := Spent{Prompt: s.Prompt + o.Prompt, Completion: s.Completion + o.Completion}
	if s.USD != nil && o.USD != nil {
		usd := *s.USD + *o.USD
		sum.USD = &usd
	}
	return sum
}

// Free is what an exchange costs that was never sent.
func Free() Spent {
	return Spent{USD: new(float64)}
}

// Ledger is an open ledger. Its methods may be called from any goroutine.
type Ledger struct {
	dir  string
	temp string

	// queue holds what waits to be recorded. Whoever gets writing records all
	// of it in one transaction: a disk takes about as long for one as for many.
	queueing sync.Mutex
	queue    []*pending
	writing  sync.Mutex

	// mu guards what follows, and is never held while the disk is written.
	mu    sync.Mutex
	read  []*segment
	own   *segment
	byAsk map[[32]byte]place
	byKey map[[32]byte]place
	usage map[asked]Usage
	bill  Bill
}

// place is where the answer to a question lies.
type place struct {
	segment *segment
	row     int64
	held    bool
}

// Open reads the ledger in dir, which the first exchange creates where it does
// not exist. It sees what other processes had committed at this moment.
func Open(dir string) (*Ledger, error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("read ledger %s: not a folder", dir)
	}
	l := &Ledger{
		dir: dir, byAsk: map[[32]byte]place{}, byKey: map[[32]byte]place{}, usage: map[asked]Usage{},
		bill: Bill{Spent: Free()},
	}
	paths, err := filepath.Glob(filepath.Join(escapeGlob(dir), "*"+suffix))
	if err != nil {
		return nil, fmt.Errorf("list ledger %s: %w", dir, err)
	}
	for _, path := range paths {
		if err := l.load(path); err != nil {
			return nil, errors.Join(fmt.Errorf("read ledger segment %s: %w", path, err), l.Close())
		}
	}
	return l, nil
}

func (l *Ledger) load(path string) error {
	s, err := l.openSegment(path)
	if err != nil || s == nil {
		return err
	}
	l.read = append(l.read, s)
	return s.each(func(row int64, e Exchange) { l.note(e, place{s, row, true}) })
}

// note enters an exchange into the index and the sums.
func (l *Ledger) note(e Exchange, at place) {
	l.bill = l.bill.plus(e)
	of := asked{e.Model, e.PromptSHA256}
	l.usage[of] = l.usage[of].plus(e)
	if e.Outcome != arena.JudgeScored {
		return
	}
	enter(l.byAsk, e.Ask, at)
	enter(l.byKey, e.Key, at)
}

// enter keeps the first answer: later ones to the same question are copies.
func enter(index map[[32]byte]place, id string, at place) {
	k, ok := hash(id)
	if _, known := index[k]; ok && !known {
		index[k] = at
	}
}

// Answer finds the readable exchange that answered ask, or else ErrNotHeld.
func (l *Ledger) Answer(ask string) (Exchange, error) {
	return l.find(l.byAsk, ask)
}

// Reply finds a readable exchange with the very same request, whatever it was
// asked for, or else ErrNotHeld.
func (l *Ledger) Reply(key string) (Exchange, error) {
	return l.find(l.byKey, key)
}

func (l *Ledger) find(index map[[32]byte]place, id string) (Exchange, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k, ok := hash(id)
	at, held := index[k]
	if !ok || !held {
		return Exchange{}, ErrNotHeld
	}
	e, err := at.segment.get(at.row)
	if err != nil {
		return Exchange{}, fmt.Errorf("read ledger: %w", err)
	}
	e.Held = at.held
	return e, nil
}

// Close seals this process's segment and releases all others.
func (l *Ledger) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	if l.own != nil {
		errs = append(errs, l.own.db.Close())
	}
	for _, s := range l.read {
		errs = append(errs, s.db.Close())
	}
	l.own, l.read = nil, nil
	if l.temp != "" {
		errs = append(errs, os.RemoveAll(l.temp))
	}
	return errors.Join(errs...)
}

func hash(id string) (k [32]byte, ok bool) {
	n, err := hex.Decode(k[:], []byte(id))
	return k, err == nil && n == len(k)
}

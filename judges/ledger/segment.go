package ledger

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	_ "modernc.org/sqlite" // the pure Go driver named "sqlite"
)

// Ledgers were SQLite files before they were lines. They are read, never written:
// docs/decisions/20261122-one-log.md says until when.
const (
	segmentSuffix  = ".sqlite"
	segmentVersion = 2
)

// segment is an old file of a ledger.
type segment struct {
	version int
	db      *sql.DB
}

// openSegment reads an old file; one without a version holds nothing.
func (l *Ledger) openSegment(path string, visit func(Exchange)) error {
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		return err
	}
	db, err := l.openSQLite(path)
	if err != nil {
		return err
	}
	s := &segment{db: db}
	l.old = append(l.old, s)
	if err := db.QueryRow("PRAGMA user_version").Scan(&s.version); err != nil {
		return err
	}
	switch {
	case s.version == 0:
		return nil
	case s.version < 0 || s.version > segmentVersion:
		return fmt.Errorf("schema %d is above %d: written by a later version of arena", s.version, segmentVersion)
	}
	return s.each(func(row int64, e Exchange) {
		l.enter(e, place{old: s, row: row, held: true})
		visit(e)
	})
}

// openSQLite opens a file as it is, or with the log that a killed process left a
// copy of both, in which SQLite may tidy up.
func (l *Ledger) openSQLite(path string) (*sql.DB, error) {
	option, value := "immutable", "1"
	if log, err := os.ReadFile(path + "-wal"); err == nil {
		main, err := os.ReadFile(path)
		if err == nil && l.temp == "" {
			l.temp, err = os.MkdirTemp("", "arena-ledger-")
		}
		path = filepath.Join(l.temp, filepath.Base(path))
		if err = errors.Join(err, os.WriteFile(path, main, 0o600), os.WriteFile(path+"-wal", log, 0o600)); err != nil {
			return nil, err
		}
		option, value = "mode", "rw"
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(abs), RawQuery: url.Values{option: {value}}.Encode()}
	db, err := sql.Open("sqlite", u.String())
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

func (l *Ledger) closeSegments() error {
	var errs []error
	for _, s := range l.old {
		errs = append(errs, s.db.Close())
	}
	if l.temp != "" {
		errs = append(errs, os.RemoveAll(l.temp))
	}
	l.old, l.temp = nil, ""
	return errors.Join(errs...)
}

const columns = `key, ask, model, served, prompt_sha256, outcome, try, status, request_zstd, reply, prompt_bytes, verdicts,
	prompt_tokens, completion_tokens, cost_usd, ask_prompt_tokens, ask_completion_tokens, ask_cost_usd, latency_ms, error`

// columns are those to read: version 1 asked for one verdict at a time.
func (s *segment) columns() string {
	if s.version < 2 {
		return strings.Replace(columns, "verdicts", "1", 1)
	}
	return columns
}

// each visits every exchange in the order written, without the long texts.
func (s *segment) each(visit func(row int64, e Exchange)) (err error) {
	light := strings.Replace(strings.Replace(s.columns(), "request_zstd", "x''", 1), "reply", "''", 1)
	rows, err := s.db.Query("SELECT id, " + light + " FROM exchanges ORDER BY id")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var row int64
		e, err := scan(&row, rows.Scan)
		if err != nil {
			return err
		}
		visit(row, e)
	}
	return rows.Err()
}

func (s *segment) get(row int64) (Exchange, error) {
	e, err := scan(&row, s.db.QueryRow("SELECT id, "+s.columns()+" FROM exchanges WHERE id = ?", row).Scan)
	if err == nil {
		e.Request, err = decompress(e.Request)
	}
	return e, err
}

func scan(row *int64, into func(...any) error) (e Exchange, err error) {
	err = into(row, &e.Key, &e.Ask, &e.Model, &e.Served, &e.PromptSHA256, &e.Outcome, &e.Try, &e.Status, &e.Request,
		&e.Reply, &e.PromptBytes, &e.Verdicts, &e.Tokens.Prompt, &e.Tokens.Completion, &e.Tokens.USD,
		&e.Total.Prompt, &e.Total.Completion, &e.Total.USD, &e.LatencyMS, &e.Error)
	return e, err
}

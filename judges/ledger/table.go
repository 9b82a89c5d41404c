package ledger

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// schema is version 2. Requests repeat their instructions word by word and are
// compressed; replies stay readable for anyone with a SQLite shell.
var schema = []string{
	`CREATE TABLE exchanges (
	id INTEGER PRIMARY KEY, key TEXT NOT NULL, ask TEXT NOT NULL,
	model TEXT NOT NULL, served TEXT NOT NULL, prompt_sha256 TEXT NOT NULL,
	outcome TEXT NOT NULL, try INTEGER NOT NULL, status INTEGER NOT NULL,
	request_zstd BLOB NOT NULL, reply TEXT NOT NULL, prompt_bytes INTEGER NOT NULL, verdicts INTEGER NOT NULL,
	prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL, cost_usd REAL,
	ask_prompt_tokens INTEGER NOT NULL, ask_completion_tokens INTEGER NOT NULL, ask_cost_usd REAL,
	latency_ms INTEGER NOT NULL, error TEXT NOT NULL) STRICT`,
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

// insert writes a batch in one transaction: all of it, or nothing.
func (s *segment) insert(batch []*pending) (err error) {
	tx, err := s.db.Begin()
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	marks := strings.TrimSuffix(strings.Repeat("?,", 20), ",")
	statement, err := tx.Prepare("INSERT INTO exchanges (" + columns + ") VALUES (" + marks + ")")
	if err != nil {
		return err
	}
	for _, p := range batch {
		result, err := statement.Exec(values(p.exchange)...)
		if err != nil {
			return err
		}
		if p.row, err = result.LastInsertId(); err != nil {
			return err
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	s.rows += len(batch)
	return nil
}

// values are an exchange's columns in their order.
func values(e Exchange) []any {
	return []any{
		e.Key, e.Ask, e.Model, e.Served, e.PromptSHA256, string(e.Outcome), e.Try, e.Status,
		compressor.EncodeAll(e.Request, []byte{}), strings.ToValidUTF8(string(e.Reply), "\uFFFD"), e.PromptBytes, e.Verdicts,
		e.Tokens.Prompt, e.Tokens.Completion, e.Tokens.USD, e.Total.Prompt, e.Total.Completion, e.Total.USD,
		e.LatencyMS, e.Error,
	}
}

func (s *segment) get(row int64) (Exchange, error) {
	e, err := scan(s.db.QueryRow("SELECT id, "+s.columns()+" FROM exchanges WHERE id = ?", row).Scan)
	if err != nil {
		return Exchange{}, err
	}
	e.Request, err = decompressor.DecodeAll(e.Request, nil)
	if err != nil {
		return Exchange{}, fmt.Errorf("decompress request: %w", err)
	}
	return e, nil
}

// each visits every exchange in the order written, without the long texts.
func (s *segment) each(visit func(row int64, e Exchange)) (err error) {
	light := strings.Replace(strings.Replace(s.columns(), "request_zstd", "x''", 1), "reply", "''", 1)
	rows, err := s.db.Query("SELECT id, " + light + " FROM exchanges ORDER BY id")
	if err != nil {
		return err
	}
	defer func() {
		if closing := rows.Close(); err == nil {
			err = closing
		}
	}()
	for rows.Next() {
		var id int64
		e, err := scan(func(into ...any) error {
			into[0] = &id
			return rows.Scan(into...)
		})
		if err != nil {
			return err
		}
		visit(id, e)
	}
	return rows.Err()
}

func scan(into func(...any) error) (e Exchange, err error) {
	var id int64
	var usd, total sql.NullFloat64
	err = into(&id, &e.Key, &e.Ask, &e.Model, &e.Served, &e.PromptSHA256, &e.Outcome, &e.Try, &e.Status, &e.Request,
		&e.Reply, &e.PromptBytes, &e.Verdicts, &e.Tokens.Prompt, &e.Tokens.Completion, &usd,
		&e.Total.Prompt, &e.Total.Completion, &total, &e.LatencyMS, &e.Error)
	if usd.Valid {
		e.Tokens.USD = &usd.Float64
	}
	if total.Valid {
		e.Total.USD = &total.Float64
	}
	return e, err
}

// The coders are safe for concurrent use and hold no state between calls.
var (
	compressor, _   = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	decompressor, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20))
)

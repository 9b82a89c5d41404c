package ledger_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/trajectory-arena/arena/judges/ledger"
)

const table = `CREATE TABLE exchanges (
	id INTEGER PRIMARY KEY, key TEXT NOT NULL, ask TEXT NOT NULL,
	model TEXT NOT NULL, served TEXT NOT NULL, prompt_sha256 TEXT NOT NULL,
	outcome TEXT NOT NULL, try INTEGER NOT NULL, status INTEGER NOT NULL,
	request_zstd BLOB NOT NULL, reply TEXT NOT NULL, prompt_bytes INTEGER NOT NULL, verdicts INTEGER NOT NULL,
	prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL, cost_usd REAL,
	ask_prompt_tokens INTEGER NOT NULL, ask_completion_tokens INTEGER NOT NULL, ask_cost_usd REAL,
	latency_ms INTEGER NOT NULL, error TEXT NOT NULL) STRICT`

// segment writes the exchanges from and up to as ledgers of earlier versions kept
// them.
func segment(t *testing.T, path string, from, to int, then ...string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	run := func(statement string, args ...any) {
		if _, err := db.Exec(statement, args...); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	for _, statement := range []string{"PRAGMA locking_mode = EXCLUSIVE", "PRAGMA journal_mode = WAL", "PRAGMA wal_autocheckpoint = 0", table, "PRAGMA user_version = 2"} {
		run(statement)
	}
	for i := from; i < to; i++ {
		e := answer(i)
		run("INSERT INTO exchanges VALUES (NULL"+strings.Repeat(", ?", 20)+")", e.Key, e.Ask, e.Model, e.Served, e.PromptSHA256, string(e.Outcome), e.Try, e.Status,
			packed(t, e.Request), string(e.Reply), e.PromptBytes, e.Verdicts, e.Tokens.Prompt, e.Tokens.Completion, e.Tokens.USD,
			e.Total.Prompt, e.Total.Completion, nil, e.LatencyMS, e.Error)
	}
	for _, statement := range then {
		run(statement)
	}
	return db
}

func packed(t *testing.T, b []byte) []byte {
	t.Helper()
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer enc.Close()
	return enc.EncodeAll(b, []byte{})
}

// TestAnEarlierLedgerIsRead: its answers were paid for. What is asked from now on
// stands in a file beside it.
func TestAnEarlierLedgerIsRead(t *testing.T) {
	t.Parallel()
	for name, then := range map[string][]string{
		"version 2": nil,
		"version 1": {"ALTER TABLE exchanges DROP COLUMN verdicts", "PRAGMA user_version = 1"},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "7-0.sqlite")
		if err := segment(t, path, 0, 40, then...).Close(); err != nil {
			t.Fatal(err)
		}
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		l := opened(t, dir)
		add(t, l, answer(40))
		l = opened(t, dir)
		for i := range 41 {
			e, err := l.Answer(id("ask", i))
			if err != nil || !e.Held || string(e.Request) != fmt.Sprintf(`{"q":%d}`, i) || string(e.Reply) != fmt.Sprintf("reply %d", i) || *e.Tokens.USD != 0.5 {
				t.Errorf("%s: answer %d: %+v, %v", name, i, e, err)
			}
			if i < 40 && (e.Total.USD != nil || len(then) > 0 != (e.Verdicts == 1)) {
				t.Errorf("%s: answer %d: %+v", name, i, e)
			}
		}
		if b := l.Bill(); b.Exchanges != 41 || *b.USD != 20.5 {
			t.Errorf("%s: bill %+v", name, b)
		}
		if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
			t.Errorf("%s: the file was changed: %v", name, err)
		}
	}
}

// TestAKilledEarlierLedgerIsRead: all that its writer recorded is in SQLite's log
// beside the file.
func TestAKilledEarlierLedgerIsRead(t *testing.T) {
	t.Parallel()
	from, dir := t.TempDir(), t.TempDir()
	db := segment(t, filepath.Join(from, "7-0.sqlite"), 0, 25)
	for _, name := range []string{"7-0.sqlite", "7-0.sqlite-wal"} {
		b, err := os.ReadFile(filepath.Join(from, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	l := opened(t, dir)
	if got := l.Bill().Exchanges; got != 25 {
		t.Errorf("%d exchanges of 25", got)
	}
	if e, err := l.Answer(id("ask", 24)); err != nil || string(e.Reply) != "reply 24" {
		t.Errorf("%+v, %v", e, err)
	}
}

func TestALaterSegmentIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := segment(t, filepath.Join(dir, "7-0.sqlite"), 0, 1, "PRAGMA user_version = 3").Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := ledger.Open(dir); err == nil || !strings.Contains(err.Error(), "later version") {
		t.Errorf("got %v", err)
	}
}

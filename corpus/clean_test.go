package corpus_test

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/redact"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/internal/canary"
)

// TestAddLeavesTheRowUnchanged adds a row to a part with a redactor: the file lacks the secrets, and the
// row of the caller has them.
func TestAddLeavesTheRowUnchanged(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "part")
	p, err := corpus.NewPart(corpus.Disk{}, dir, corpus.DefaultLimits)
	ok(t, err)
	p.SetRedactor(redact.New(redact.Options{Hotkeys: true}))
	out := corpus.NewShards[rows.SFT](p, corpus.Stream{Config: "sft", Split: corpus.SplitTrain})
	const hotkey = "5GrwvaEF5zXb26Fz9rcQpDWS57CtERHpNehXCPcNoHGKutQY"
	rec := record(1)
	rec.Dialogue.Turns[0].Think = "of " + hotkey + " at a@example.com"
	row, _, err := rows.NewSFT(rec, facts(corpus.SplitTrain, 1))
	ok(t, err)
	before := slices.Clone(row.Messages)
	ok(t, out.Add(&row))
	if !slices.Equal(row.Messages, before) {
		t.Errorf("the row itself was changed to %q", row.Messages)
	}
	ok(t, out.Close())
	ok(t, p.Close())
	files, err := corpus.ReadPart(corpus.Disk{}, dir)
	ok(t, err)
	ok(t, corpus.ReadRows(corpus.Disk{}, filepath.Join(dir, files[0].Path), func(row *rows.SFT) error {
		if texts := strings.Join(row.Messages, ""); strings.Contains(texts, hotkey) || strings.Contains(texts, "a@example.com") {
			t.Errorf("left in %q", texts)
		}
		return nil
	}))
	if !files[0].Clean || files[0].Redacted["hotkey"] != 1 {
		t.Errorf("clean: %v, counted %v", files[0].Clean, files[0].Redacted)
	}
}

// TestPartRedactsEveryRow checks that a repeated value is replaced and counted each time, with a dictionary
// (role) and without (content), and that a clean value does not hide another.
func TestPartRedactsEveryRow(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "part")
	p, err := corpus.NewPart(corpus.Disk{}, dir, corpus.DefaultLimits)
	ok(t, err)
	p.SetRedactor(redact.New(redact.Options{}))
	secret := canary.All()[0]
	out := corpus.NewShards[rows.KTO](p, corpus.Stream{Table: "kto"})
	for range 3 {
		ok(t, out.Add(&rows.KTO{Prompt: []rows.Msg{{Role: "a plain role", Content: "a plain text"}, {Role: secret.Text, Content: secret.Text}}}))
	}
	ok(t, out.Close())
	ok(t, p.Close())
	ok(t, corpus.ReadRows(corpus.Disk{}, filepath.Join(dir, "tables", "kto.parquet"), func(row *rows.KTO) error {
		first := row.Prompt[0]
		second := row.Prompt[1]
		if first.Role != "a plain role" || first.Content != "a plain text" {
			t.Errorf("clean texts were changed to %q", first)
		}
		if strings.Contains(second.Role, secret.Secret) || strings.Contains(second.Content, secret.Secret) {
			t.Errorf("left in %q", second)
		}
		return nil
	}))
	files, err := corpus.ReadPart(corpus.Disk{}, dir)
	ok(t, err)
	if want := (redact.Counts{"aws-access-token": 6}); !maps.Equal(files[0].Redacted, want) {
		t.Errorf("counted %v", files[0].Redacted)
	}
}

// TestCleanRowReadsOptionalColumns checks that a text in an optional column is redacted in the row
// only, since other rows may share it, and that an empty column stays empty.
func TestCleanRowReadsOptionalColumns(t *testing.T) {
	t.Parallel()
	r := redact.New(redact.Options{})
	secret := canary.All()[0]
	shared := secret.Text
	row := rows.Attempt{Model: &shared}
	corpus.CleanRow(&row, r, redact.Counts{})
	if strings.Contains(*row.Model, secret.Secret) || shared != secret.Text {
		t.Errorf("the row has %q, and the shared text is %q", *row.Model, shared)
	}

	empty := rows.Attempt{Suite: secret.Text}
	corpus.CleanRow(&empty, r, redact.Counts{})
	if empty.Model != nil || strings.Contains(empty.Suite, secret.Secret) {
		t.Errorf("model %v, suite %q", empty.Model, empty.Suite)
	}
}

package corpora_test

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/corpora"
	"github.com/trajectory-arena/arena/corpora/redact"
	"github.com/trajectory-arena/arena/internal/canary"
)

// TestEveryRowIsCleaned holds that a value which recurs is replaced and counted
// each time, with a dictionary (role) and without (content), and that one which
// is clean does not hide another.
func TestEveryRowIsCleaned(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "part")
	p, err := corpora.NewPart(corpora.Disk{}, dir, corpora.DefaultLimits)
	ok(t, err)
	r, err := redact.New(redact.Options{})
	ok(t, err)
	p.Redact(r)
	secret := canary.All()[0]
	out := corpora.NewShards[corpora.KTO](p, corpora.Stream{Table: "kto"})
	for range 3 {
		ok(t, out.Add(&corpora.KTO{Prompt: []corpora.Msg{{Role: "a plain role", Content: "a plain text"}, {Role: secret.Text, Content: secret.Text}}}))
	}
	ok(t, out.Close())
	ok(t, p.Close())
	ok(t, corpora.Rows(corpora.Disk{}, filepath.Join(dir, "tables", "kto.parquet"), func(row *corpora.KTO) error {
		first, second := row.Prompt[0], row.Prompt[1]
		if first.Role != "a plain role" || first.Content != "a plain text" {
			t.Errorf("clean texts became %q", first)
		}
		if strings.Contains(second.Role, secret.Secret) || strings.Contains(second.Content, secret.Secret) {
			t.Errorf("left in %q", second)
		}
		return nil
	}))
	files, err := corpora.ReadPart(corpora.Disk{}, dir)
	ok(t, err)
	if want := (redact.Counts{"aws-access-token": 6}); !maps.Equal(files[0].Redacted, want) {
		t.Errorf("counted %v", files[0].Redacted)
	}
}

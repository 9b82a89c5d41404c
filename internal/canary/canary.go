// Package canary has invented secrets of many kinds. Tests plant them and search for them
// afterwards.
package canary

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"html"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"

	"github.com/trajectory-arena/arena/internal/longtest"
)

// Canary is one invented secret with text around it.
type Canary struct {
	Kind string
	// Text is the planted text. Secret is the part that must not be found afterwards.
	Text, Secret string
}

// All returns canaries of more than two hundred kinds: secrets, and the same secrets in
// disguises that redactors must recognise. They are assembled at run time, so that scanners of
// this repository do not report them.
func All() []Canary { return slices.Concat(plain(), disguised()) }

// disguised returns secrets in disguises that redactors must recognise: with invisible characters, with
// signs as HTML escapes, and in base64. It takes only canaries whose text is the secret and nothing
// else, and none that has a zero-width space already.
func disguised() []Canary {
	var out []Canary
	for _, c := range plain() {
		if c.Text != c.Secret || strings.Contains(c.Secret, "\u200b") {
			continue
		}
		half := len(c.Text) / 2
		for half > 0 && !utf8.RuneStart(c.Text[half]) {
			half--
		}
		for kind, text := range map[string]string{
			"zero width": c.Text[:half] + "\u200b" + c.Text[half:],
			"soft":       c.Text[:half] + "\u00ad" + c.Text[half:],
			"markup": strings.NewReplacer(
				"@",
				"&#64;",
				"_",
				"&lowbar;",
				"-",
				"&#x2d;",
				".",
				"&#46;",
			).Replace(c.Text),
			"base64": base64.StdEncoding.EncodeToString([]byte("found: " + c.Text + " there")),
		} {
			if text != c.Text {
				out = append(out, Canary{c.Kind + ", " + kind, text, text})
			}
		}
	}
	slices.SortFunc(out, func(a, b Canary) int {
		return strings.Compare(a.Kind, b.Kind)
	})
	return out
}

// secrets has one canary a line: its kind, a tab, and its text, with the secret between « and ».
// Every · is removed at run time, so that scanners do not find the secrets here, and ⏎ is replaced
// by a line break.
//
//go:embed secrets.txt
var secrets string

// plain returns the secrets in secrets.txt, in the form in which issuers and people write them.
func plain() (out []Canary) {
	for line := range strings.Lines(secrets) {
		kind, text, _ := strings.Cut(strings.NewReplacer("·", "", "\n", "", "⏎", "\n").Replace(line), "\t")
		_, secret, _ := strings.Cut(text, "«")
		secret, _, _ = strings.Cut(secret, "»")
		out = append(out, Canary{kind, strings.NewReplacer("«", "", "»", "").Replace(text), secret})
	}
	return out
}

// Sample returns the canaries of all kinds. Without the build tag long, it returns every fourth.
func Sample() (sample []Canary) {
	for i, canaries := 0, All(); i < len(canaries); i += longtest.Pick(1, 4) {
		sample = append(sample, canaries[i])
	}
	return sample
}

// Found is a canary that was found in a file.
type Found struct{ Kind, Path string }

// Find searches all files of a folder for canaries and returns those found. It searches inside
// Parquet, zstd and zip files and in file names, and recognises canaries that are escaped as in
// HTML or JSON.
func Find(t testing.TB, canaries []Canary, dir string) []Found {
	t.Helper()
	var out []Found
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := content(filepath.Join(dir, path))
		text += "\n" + path
		for _, c := range canaries {
			quoted, _ := json.Marshal(c.Secret) // a string is always encoded
			inJSON := strings.Trim(string(quoted), `"`)
			if strings.Contains(text, c.Secret) || inJSON != c.Secret && strings.Contains(text, inJSON) {
				out = append(out, Found{c.Kind, path})
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// content returns the text in a file. Files that end in .parquet, .eval or .zst are
// decompressed; of Parquet it returns the texts in the cells. To the text of any other file it
// appends the same text with HTML entities decoded.
func content(path string) (string, error) {
	b, err := os.ReadFile(path)
	switch {
	case err != nil:
		return "", err
	case strings.HasSuffix(path, ".parquet"):
		return cells(b)
	case strings.HasSuffix(path, ".eval"):
		return zipContent(b)
	case strings.HasSuffix(path, ".zst"):
		z, err := zstd.NewReader(bytes.NewReader(b))
		if err == nil {
			defer z.Close()
			b, err = io.ReadAll(z)
		}
		return string(b), err
	default:
		return string(b) + html.UnescapeString(string(b)), nil
	}
}

// zipContent returns the text of all files in a zip archive.
func zipContent(text []byte) (string, error) {
	z, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, entry := range z.File {
		f, err := entry.Open()
		if err == nil {
			_, err = io.Copy(&b, f)
		}
		if err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

func cells(text []byte) (string, error) {
	var b strings.Builder
	r := parquet.NewReader(bytes.NewReader(text))
	defer func() { _ = r.Close() }() // it is only read
	rows := make([]parquet.Row, 16)
	for {
		n, err := r.ReadRows(rows)
		for _, row := range rows[:n] {
			for _, v := range row {
				if v.Kind() == parquet.ByteArray && !v.IsNull() {
					b.Write(append(v.ByteArray(), '\n'))
				}
			}
		}
		if err == io.EOF { //nolint:errorlint // parquet-go gives it bare
			return b.String(), nil
		}
		if err != nil {
			return "", err
		}
	}
}

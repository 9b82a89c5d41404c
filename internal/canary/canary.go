// Package canary holds secrets of many kinds, made up, for tests that plant
// them and look for them afterwards.
package canary

import (
	"archive/zip"
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

	"github.com/trajectory-arena/arena/internal/long"
)

// Canary is one secret in the words around it.
type Canary struct {
	Kind string
	// Text is what is planted, Secret the part that must not be found again.
	Text, Secret string
}

// All are canaries of more than two hundred kinds: secrets, and the same in the
// disguises that redactors see through. They are put together at run time, so
// that scanners of this repository's own source stay calm.
func All() []Canary { return slices.Concat(Plain(), disguised()) }

// disguised are the canaries that stand by themselves, written in other ways.
func disguised() []Canary {
	var out []Canary
	for _, c := range Plain() {
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
			"markup":     strings.NewReplacer("@", "&#64;", "_", "&lowbar;", "-", "&#x2d;", ".", "&#46;").Replace(c.Text),
			"base64":     base64.StdEncoding.EncodeToString([]byte("found: " + c.Text + " there")),
		} {
			if text != c.Text {
				out = append(out, Canary{c.Kind + ", " + kind, text, text})
			}
		}
	}
	slices.SortFunc(out, func(a, b Canary) int { return strings.Compare(a.Kind, b.Kind) })
	return out
}

// Plain are the secrets as their issuers and people write them.
func Plain() []Canary {
	const body = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0"
	const hex = "0123456789abcdef0123456789abcdef01234567"
	bare := [][2]string{
		{"aws", "AKIA" + "IOSFODNN7EXAMPLE"}, {"aws temporary", "ASIA" + "Y34FZKBOKMUTVV7A"}, {"github", "ghp" + "_" + body[:36]},
		{"github fine", "github" + "_pat_" + body}, {"gitlab", "glpat" + "-" + body[:20]}, {"slack", "xoxb" + "-123456789012-123456789012-" + body[:24]},
		{"stripe", "sk" + "_live_" + body[:24]}, {"openai", "sk" + "-proj-" + body}, {"anthropic", "sk" + "-ant-api03-" + body},
		{"google", "AIza" + "SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q"}, {"hugging face", "hf" + "_" + body[:34]}, {"npm", "npm" + "_" + body[:36]},
		{"pypi", "pypi" + "-AgEIcHlwaS5vcmc" + body}, {"digital ocean", "dop" + "_v1_" + hex + hex[:24]}, {"shopify", "shpat" + "_" + hex[:32]},
		{"sendgrid", "SG" + "." + body[:22] + "." + body}, {"groq", "gsk" + "_" + body + body[:12]}, {"vault", "hvs" + "." + body + body + body[:10]},
		{"linear", "lin" + "_api_" + body}, {"docker", "dckr" + "_pat_" + body[:27]}, {"nvidia", "nvapi" + "-" + body + body[:24]},
		{"x ai", "xai" + "-" + body + body}, {"jwt", "eyJhbGciOi" + "JIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"},
		{"e-mail", "ana.cruz+shop" + "@" + "mail.example.org"}, {"card", "4111 1111 " + "1111 1111"}, {"network address", "203.0.113" + ".77"},
		{"letters alone", "hf" + "_" + strings.Repeat("aBcDeFgHiJkLmNoPq", 2)}, {"google client", "GOCSPX" + "-" + body[:28]}, {"fireworks", "fw" + "_" + body[:24]},
		{"chat bot", "845528348" + ":AA" + body[:33]}, {"network address of eight groups", "2001:db8:85a3" + "::8a2e:370:7334"},
		{"e-mail beyond ASCII", "jürgen.müller" + "@" + "bücher-laden.de"},
		{"wallet", "0x" + hex}, {"cut token", "ghp" + "_" + body[:18]},
		{"chutes", "cpk" + "_" + hex[:32] + "." + hex[:32] + "." + body[:32]}, {"tailscale", "tskey" + "-auth-" + body[:12] + "-" + body}, {"netlify", "nfp" + "_" + body},
		{"wandb", "wandb" + "_v1_" + body + body[:20]}, {"mailchimp", hex[:32] + "-us" + "12"}, {"discord", "MTk4NjIyNDgzNDcxOTI1MjQ4" + "." + "Cl2FMQ" + "." + "ZnCjm1XVW7vRze4b7Cq4se7kKWs"},
		{"amex", "3782 822463 " + "10005"}, {"phone", "+1 202 555 " + "0143"}, {"phone in brackets", "+1 (415) 555-" + "0123"}, {"phone abroad", "+49 30 9018" + "20"},
		{"iban", "DE89 3704 0044 " + "0532 0130 00"}, {"iban unspaced", "GB29NWBK601613" + "31926819"}, {"wif", "KwdMAjGmerYanjeui5SHS7JkmpZvVipYvB2L" + "JGU1ZxJwYvP98617"},
		{"wif of old", "5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1" + "jvhTVqvbTLvyTJ"}, {"phrase", "letter advice cage absurd amount doctor " + "acoustic avoid letter advice cage above"},
		{"phrase of 24", strings.Repeat("zoo ", 23) + "vote"}, {"phrase of 15", "gravity machine north sort system female " + "filter attitude volume fold club stay feature office ecology stable narrow fog"},
	}
	var out []Canary
	for _, c := range bare {
		out = append(out, Canary{c[0], c[1], c[1]})
	}
	return append(out,
		Canary{"url", "postgres://shop:" + "hunter2pass@db.internal/x", "hunter2pass"},
		Canary{"cookie", "Cookie: theme=dark; session=" + body[:32], body[:32]},
		Canary{"webhook", "https://discord.com/api/webhooks/" + "1023902404248611148/" + body + body[:28], body[:28]},
		Canary{"authorization", "Authorization: Bearer " + "abcDEF1234567890ghiJKL", "abcDEF1234567890ghiJKL"},
		Canary{"password", "password" + "=S3cr3tPassw0rd!", "S3cr3tPassw0rd!"},
		Canary{"api key", `{"api_key": "` + `zz99yy88xx77ww66"}`, "zz99yy88xx77ww66"},
		Canary{"private key", "-----BEGIN RSA PRIVATE " + "KEY-----\nMIIEow\nIBAAKC\n-----END RSA PRIVATE KEY-----", "MIIEow"},
		Canary{"said", "the access token is " + "q1w2e3r4t5y6u7i8", "q1w2e3r4t5y6u7i8"},
		Canary{"openai key", "OPENAI" + "_KEY=" + body[:20], body[:20]},
		Canary{"any key", "MY_SHOP" + "_KEY: " + body[4:30], body[4:30]},
		Canary{"any token", "BOT" + "_TOKEN=" + body[2:30], body[2:30]},
		Canary{"aws secret", "my AWS secret key: " + "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEX", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEX"},
		Canary{"basic", "Authorization: Basic " + "dXNlcjpQYXNzdzByZFhZIQ==", "dXNlcjpQYXNzdzByZFhZIQ"},
		Canary{"sas", "https://x.blob.example.net/c/f?sv=2020&sig=" + body + "%3D", body},
		Canary{"wandb login", "wandb login " + hex, hex},
		Canary{"telegram", "https://api.example.org/bot123456789" + ":AA" + body[:33] + "/getMe", body[:33]},
		Canary{"keyfile", `{"secretSeed":"0x` + strings.Repeat("1a2b3c4d", 8) + `"}`, strings.Repeat("1a2b3c4d", 8)},
		Canary{"keyfile of an account", `{"privateKey":"0x` + strings.Repeat("5a6b7c8d", 16) + `"}`, strings.Repeat("5a6b7c8d", 16)},
		Canary{"hotkey seed", "hotkey seed = " + strings.Repeat("9a8b7c6d", 8), strings.Repeat("9a8b7c6d", 8)},
		Canary{"phrase with a word lost", "seed phrase: " + "winner thank year wave sausage worth useful legal winner thank yellow able", "winner thank year wave sausage"},
		Canary{"phrase as a list", "mnemonic: 1. letter 2. advice 3. cage 4. absurd 5. amount 6. doctor 7. acoustic 8. avoid 9. letter 10. advice 11. cage 12. above", "1. letter 2. advice 3. cage"},
		Canary{"phone said", "call me at " + "(415) 555-0199", "555-0199"},
		Canary{"phone labelled", "whatsapp: " + "0301 2345678", "2345678"},
		Canary{"home", "/home/" + "alicewonder/project/x.py", "alicewonder"},
		Canary{"home of another system", `C:\Users\` + "janewonder/Documents", "janewonder"},
		Canary{"wallet key", "the private seed " + strings.Repeat("0a1b2c3d", 8), strings.Repeat("0a1b2c3d", 8)},
	)
}

// Some are those of all kinds, without the tag long of every fourth.
func Some() (some []Canary) {
	for i, c := range All() {
		if long.Tests || i%4 == 0 {
			some = append(some, c)
		}
	}
	return some
}

// Found is one canary in one file.
type Found struct{ Kind, Path string }

// Find looks for canaries in all files of a folder, inside of Parquet, zstd and zip
// too, as pages and as JSON show them, and in the files' own names.
func Find(t testing.TB, all []Canary, dir string) []Found {
	t.Helper()
	var out []Found
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := content(filepath.Join(dir, path))
		text += "\n" + path
		for _, c := range all {
			quoted, bad := json.Marshal(c.Secret)
			if bad != nil {
				return bad
			}
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

// content is all text of a file.
func content(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // it is only read
	switch {
	case strings.HasSuffix(path, ".parquet"):
		return cells(f)
	case strings.HasSuffix(path, ".eval"):
		return zipped(path)
	case strings.HasSuffix(path, ".zst"):
		z, err := zstd.NewReader(f)
		if err != nil {
			return "", err
		}
		defer z.Close()
		b, err := io.ReadAll(z)
		return string(b), err
	default:
		b, err := io.ReadAll(f)
		return string(b) + html.UnescapeString(string(b)), err
	}
}

// zipped is all text of the files in a zip.
func zipped(path string) (string, error) {
	z, err := zip.OpenReader(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = z.Close() }() // it is only read
	var b strings.Builder
	for _, entry := range z.File {
		f, err := entry.Open()
		if err != nil {
			return "", err
		}
		if _, err = io.Copy(&b, f); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

func cells(f *os.File) (string, error) {
	var b strings.Builder
	r := parquet.NewReader(f)
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

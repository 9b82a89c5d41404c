package redact_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/corpora/redact"
)

// canaries are secrets of many kinds, made up, in the middle of a sentence.
// They are put together at run time, so that scanners of this repository's own
// source stay calm.
func canaries() map[string]string {
	const body = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0"
	hex := "0123456789abcdef0123456789abcdef01234567"
	return map[string]string{
		"aws":           "AKIA" + "IOSFODNN7EXAMPLE",
		"aws temporary": "ASIA" + "Y34FZKBOKMUTVV7A",
		"github":        "ghp" + "_" + body[:36],
		"github fine":   "github" + "_pat_" + body,
		"gitlab":        "glpat" + "-" + body[:20],
		"slack":         "xoxb" + "-123456789012-123456789012-" + body[:24],
		"stripe":        "sk" + "_live_" + body[:24],
		"openai":        "sk" + "-proj-" + body,
		"anthropic":     "sk" + "-ant-api03-" + body,
		"google":        "AIza" + "SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q",
		"hugging face":  "hf" + "_" + body[:34],
		"npm":           "npm" + "_" + body[:36],
		"pypi":          "pypi" + "-AgEIcHlwaS5vcmc" + body,
		"digital ocean": "dop" + "_v1_" + hex + hex[:24],
		"shopify":       "shpat" + "_" + hex[:32],
		"sendgrid":      "SG" + "." + body[:22] + "." + body,
		"groq":          "gsk" + "_" + body + body[:12],
		"vault":         "hvs" + "." + body + body + body[:10],
		"linear":        "lin" + "_api_" + body,
		"docker":        "dckr" + "_pat_" + body[:27],
		"nvidia":        "nvapi" + "-" + body + body[:24],
		"x ai":          "xai" + "-" + body + body,
		"jwt":           "eyJhbGciOi" + "JIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
		"e-mail":        "ana.cruz+shop" + "@" + "mail.example.org",
		"card":          "4111 1111 " + "1111 1111",
		"address v4":    "203.0.113" + ".77",
		"wallet":        "0x" + hex,
		"cut token":     "ghp" + "_" + body[:18],
	}
}

// sentences hold secrets that only their surroundings give away: the text and
// the part that must go.
func sentences() [][2]string {
	return [][2]string{
		{"postgres://shop:" + "hunter2pass@db.internal/x", "hunter2pass"},
		{"Authorization: Bearer " + "abcDEF1234567890ghiJKL", "abcDEF1234567890ghiJKL"},
		{"password" + "=S3cr3tPassw0rd!", "S3cr3tPassw0rd!"},
		{`{"api_key": "` + `zz99yy88xx77ww66"}`, "zz99yy88xx77ww66"},
		{`{\"secret\": \"` + `zz99yy88xx77ww66\"}`, "zz99yy88xx77ww66"},
		{"-----BEGIN RSA PRIVATE " + "KEY-----\nMIIEow\nIBAAKC\n-----END RSA PRIVATE KEY-----", "MIIEow"},
		{"-----BEGIN OPENSSH PRIVATE " + "KEY-----\\nb3BlbnNzaC1rZXk", "b3BlbnNzaC1rZXk"},
		{"the access token is " + "q1w2e3r4t5y6u7i8", "q1w2e3r4t5y6u7i8"},
	}
}

func redactor(t testing.TB, opt redact.Options) *redact.Redactor {
	t.Helper()
	r, err := redact.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestCanariesGo hides every canary in plain text, between quotes, as a JSON
// value and after a long line: nothing of it may be left, and nothing else go.
func TestCanariesGo(t *testing.T) {
	t.Parallel()
	r := redactor(t, redact.Options{})
	for name, secret := range canaries() {
		for _, around := range [][2]string{
			{"I found ", " in the log."}, {`"`, `"`}, {`{"q":"`, `","page":1}`}, {strings.Repeat("soft cotton towel ", 300), "\n"}, {"(", ")"}, {"", ""},
		} {
			counts := redact.Counts{}
			got := r.Text(around[0]+secret+around[1], counts)
			if strings.Contains(got, secret) || strings.Contains(got, secret[len(secret)-8:]) {
				t.Errorf("%s: left in %.200q", name, got)
			}
			if !strings.HasPrefix(got, around[0]) || !strings.HasSuffix(got, around[1]) || len(counts) != 1 {
				t.Errorf("%s: took too much: %.200q %v", name, got, counts)
			}
			if err := r.Left("text", got); err != nil {
				t.Errorf("%s: not stable: %v", name, err)
			}
		}
	}
	for _, s := range sentences() {
		got := r.Text("so "+s[0]+" it was", redact.Counts{})
		if strings.Contains(got, s[1]) || r.Left("text", got) != nil {
			t.Errorf("%q became %q", s[0], got)
		}
	}
}

// TestShoppingStays holds that ordinary text of shops is left alone.
func TestShoppingStays(t *testing.T) {
	t.Parallel()
	r := redactor(t, redact.Options{})
	for _, s := range []string{
		`[{"product_id":"8689528976","shop_id":"5934937","title":"Dila heatproof spatula polyester cartoon new white","price":319.58}]`,
		"plaid cotton shirt, plaid: red, keyboard key: mechanical, price 104.00-157.00, version 1.2.3.4",
		"secret: a long-lasting formula; token of love; password manager book",
		"dimensions 10.5 x 20.25 x 3.75, 4000 5000 6000 pieces, 2024-06-01 12:30:00",
		"local server 127.0.0.1 and 192.168.0.10",
		"task-management sk-ii facial treatment essence", "contact us @home",
		`{"session_id":"4111111111111112","order":"9911111111111111","grey":"monkey"}`, "curl and curling iron, basic tee, 3 s.a. sizes",
		`{"record_sha256":"0654ea` + "4111111111111111" + `ab9bf11a19b58dd5f04616134a190ff627532de0"}`,
		"run 9a1c697b-a304-4f8d-82c5-c7bc1b843a81/11675703-c6eb-4229-8dce-8ef2f7c3009e",
		redact.Placeholder("email"),
	} {
		if got := r.Text(s, redact.Counts{}); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
}

func TestHotkeysOnlyWhenAsked(t *testing.T) {
	t.Parallel()
	text := "agent 5AtUVE5Zoyk1n6NhrxsQvzroE6WuEfs2UUnVi9UqAFhmtuFJ won"
	if got := redactor(t, redact.Options{}).Text(text, redact.Counts{}); got != text {
		t.Errorf("not asked: %q", got)
	}
	if got := redactor(t, redact.Options{Hotkeys: true}).Text(text, redact.Counts{}); got != "agent [REDACTED:hotkey] won" {
		t.Errorf("asked: %q", got)
	}
}

// FuzzRedactedTextIsClean: whatever a text holds, one call leaves nothing to
// find in it, in a JSON string of it, or in a string within that; JSON stays
// JSON; and nothing but findings goes.
func FuzzRedactedTextIsClean(f *testing.F) {
	for _, c := range canaries() {
		f.Add(c)
	}
	for _, s := range sentences() {
		f.Add(s[0])
	}
	for _, s := range []string{
		"-----BEGIN OPENSSH PRIVATE KEY-----\\nb3BlbnNzaCb\"o", "İ\xff password=" + "x1y2z3a4b5 [REDACTED:token]", "\n@mail.example.org",
		`\u0041KIA` + "IOSFODNN7EXAMPLE", "://[REDACTED:email]@x", "seCret:0\xfc0\xa0\x0100A", "secret=\b\f\r00A00B0", `{"card":4111111111111111,"a":["` + "ana@mail.example.org" + `"]}`, `"\ud83d\ude00@mail.example.org"`,
	} {
		f.Add(s)
	}
	r := redactor(f, redact.Options{Hotkeys: true})
	f.Fuzz(func(t *testing.T, text string) {
		got := r.Text(text, redact.Counts{})
		once, twice := quote(t, got), quote(t, quote(t, got))
		for _, s := range []string{got, once, twice} {
			if err := r.Left("text", s); err != nil {
				t.Fatalf("%q became %q: %v", text, s, err)
			}
		}
		if parts := strings.ContainsAny(text, `{["`); parts && json.Valid([]byte(text)) && !json.Valid([]byte(got)) {
			t.Fatalf("%s became %s", text, got) // a bare number is text
		}
		message := `{"role":"tool","content":` + quote(t, text) + `,"tool_call_id":"a"}`
		clean := r.Text(message, redact.Counts{})
		if err := r.Left("message", clean); err != nil || !json.Valid([]byte(clean)) {
			t.Fatalf("%s became %s: %v", message, clean, err)
		}
	})
}

func quote(t *testing.T, text string) string {
	t.Helper()
	b, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestEscapesHideNothing writes secrets with escapes in them, as deep as JSON
// within JSON goes.
func TestEscapesHideNothing(t *testing.T) {
	t.Parallel()
	r := redactor(t, redact.Options{})
	for _, s := range []string{
		`{"q":"\u0041KIA` + `IOSFODNN7EXAMPLE"}`, `{"q":"{\"k\":\"\\u0041\\u004bIA` + `IOSFODNN7EXAMPLE\"}"}`, `{"q":"ana\u0040` + `mail.example.org"}`,
		`{"q":"postgres:\/\/shop:` + `hunter2pass@db.internal"}`, `{"password\u0022:1,"password":"` + `S3cr3tPassw0rd"}`, `{"card":4111111111111111}`,
	} {
		counts := redact.Counts{}
		got := r.Text(s, counts)
		if len(counts) != 1 || r.Left("text", got) != nil {
			t.Errorf("%s became %s", s, got)
		}
		if json.Valid([]byte(s)) && !json.Valid([]byte(got)) {
			t.Errorf("%s became %s, which is no JSON", s, got)
		}
	}
}

func BenchmarkText(b *testing.B) {
	r := redactor(b, redact.Options{})
	text := strings.Repeat(`{"product_id":"8689528976","title":"Dila plaid keyboard cover polyester cartoon","price":319.58,"service":["COD"]} `, 120)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		r.Text(text, redact.Counts{})
	}
}

package redact_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/corpus/redact"
	"github.com/trajectory-arena/arena/internal/canary"
)

// TestCanariesGo hides every canary in plain text, between quotes, as a JSON
// value and after a long line: nothing of it may be left, and nothing else go.
func TestCanariesGo(t *testing.T) {
	t.Parallel()
	r := redact.New(redact.Options{})
	for _, c := range canary.All() {
		if c.Text != c.Secret { // it is known by the words around it
			got := r.Text("so "+c.Text+" it was", redact.Counts{})
			if strings.Contains(got, c.Secret) || r.Left("text", got) != nil {
				t.Errorf("%q is changed to %q", c.Text, got)
			}
			continue
		}
		name := c.Kind
		secret := c.Secret
		for _, around := range [][2]string{
			{"I found ", " in the log."}, {`"`, `"`}, {`{"q":"`, `","page":1}`}, {strings.Repeat("soft cotton towel ", 300), "\n"}, {"(", ")"}, {"", ""},
			{"It was ", "."}, {"first ", ", then another"}, {"<b>", "</b>"}, {"keys: [", "]."}, {"`", "`: mine"}, {"is ", "!\n"},
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
}

// TestShoppingStays holds that ordinary text of shops is left alone.
func TestShoppingStays(t *testing.T) {
	t.Parallel()
	r := redact.New(redact.Options{})
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
		"oatmeal cookie: 2 packs; size=large", "std::vector 12:30:00 2024:06:01 ratio 2:1 dead::beef", `{"year":2024:aa}`, "my firmware fw_update tool, csk-ii",
		`{"text":"they are private","record_sha256":"` + strings.Repeat("0a1b2c3d", 8) + `"}`,
	} {
		if got := r.Text(s, redact.Counts{}); got != s {
			t.Errorf("%q is changed to %q", s, got)
		}
	}
}

func TestHotkeysOnlyWhenAsked(t *testing.T) {
	t.Parallel()
	text := "agent 5AtUVE5Zoyk1n6NhrxsQvzroE6WuEfs2UUnVi9UqAFhmtuFJ won"
	if got := redact.New(redact.Options{}).Text(text, redact.Counts{}); got != text {
		t.Errorf("not asked: %q", got)
	}
	if got := redact.New(redact.Options{Hotkeys: true}).Text(text, redact.Counts{}); got != "agent [REDACTED:hotkey] won" {
		t.Errorf("asked: %q", got)
	}
}

// FuzzRedactedTextIsClean holds for any text that one call leaves nothing to find in it, in a JSON
// string of it, or in a string within that, and that JSON remains JSON.
func FuzzRedactedTextIsClean(f *testing.F) {
	for _, c := range canary.All() {
		f.Add(c.Text)
	}
	for _, s := range []string{
		"-----BEGIN OPENSSH PRIVATE KEY-----\\nb3BlbnNzaCb\"o", "İ\xff password=" + "x1y2z3a4b5 [REDACTED:token]", "\n@mail.example.org",
		`\u0041KIA` + "IOSFODNN7EXAMPLE", "://[REDACTED:email]@x", "seCret:0\xfc0\xa0\x0100A", "secret=\b\f\r00A00B0", `{"card":4111111111111111,"a":["` + "ana@mail.example.org" + `"]}`, `"\ud83d\ude00@mail.example.org"`,
		"{\"api_key\":=\x8f\x94p$2!\xfd ",
	} {
		f.Add(s)
	}
	r := redact.New(redact.Options{Hotkeys: true})
	f.Fuzz(func(t *testing.T, text string) {
		got := r.Text(text, redact.Counts{})
		once := quote(t, got)
		twice := quote(t, quote(t, got))
		for _, s := range []string{got, once, twice} {
			if err := r.Left("text", s); err != nil {
				t.Fatalf("%q is changed to %q: %v", text, s, err)
			}
		}
		if parts := strings.ContainsAny(text, `{["`); parts && json.Valid([]byte(text)) && !json.Valid([]byte(got)) {
			t.Fatalf("%s is changed to %s", text, got) // a bare number is text
		}
		message := `{"role":"tool","content":` + quote(t, text) + `,"tool_call_id":"a"}`
		clean := r.Text(message, redact.Counts{})
		if err := r.Left("message", clean); err != nil || !json.Valid([]byte(clean)) {
			t.Fatalf("%s is changed to %s: %v", message, clean, err)
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

// TestEscapesHideNothing writes secrets with the escapes of JSON nested within JSON.
func TestEscapesHideNothing(t *testing.T) {
	t.Parallel()
	r := redact.New(redact.Options{})
	for _, s := range []string{
		`{\"secret\": \"` + `zz99yy88xx77ww66\"}`, "-----BEGIN OPENSSH PRIVATE " + "KEY-----\\nb3BlbnNzaC1rZXk",
		`{"q":"\u0041KIA` + `IOSFODNN7EXAMPLE"}`, `{"q":"{\"k\":\"\\u0041\\u004bIA` + `IOSFODNN7EXAMPLE\"}"}`, `{"q":"ana\u0040` + `mail.example.org"}`,
		`{"q":"postgres:\/\/shop:` + `hunter2pass@db.internal"}`, `{"password\u0022:1,"password":"` + `S3cr3tPassw0rd"}`, `{"card":4111111111111111}`,
	} {
		counts := redact.Counts{}
		got := r.Text(s, counts)
		if len(counts) != 1 || r.Left("text", got) != nil {
			t.Errorf("%s is changed to %s", s, got)
		}
		if json.Valid([]byte(s)) && !json.Valid([]byte(got)) {
			t.Errorf("%s is changed to %s, which is no JSON", s, got)
		}
	}
}

func BenchmarkText(b *testing.B) {
	r := redact.New(redact.Options{})
	text := strings.Repeat(`{"product_id":"8689528976","title":"Dila plaid keyboard cover polyester cartoon","price":319.58,"service":["COD"]} `, 120)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		r.Text(text, redact.Counts{})
	}
}

package redact

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tyler-smith/go-bip39"
)

func randomText(r *rand.Rand, alphabet string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[r.IntN(len(alphabet))]
	}
	return string(b)
}

// TestSecretsEndWhereTheyEnd holds that no part of a long secret remains next to its placeholder.
func TestSecretsEndWhereTheyEnd(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(6, 1))
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	for _, n := range []int{150, 250, 520, 1100, 10_000} {
		secret := randomText(r, letters, n)
		hash := randomText(r, "0123456789abcdef", n)
		for _, text := range []string{
			"client_secret=" + secret,
			`{"api_key":"` + secret + `"}`,
			"password: " + secret,
			"use ghp_" + secret + " for it.",
			"https://storage.example/o?X-Goog-Signature=" + hash,
			"https://d1.example/f?Expires=1&Signature=" + secret + "&Key-Pair-Id=K1",
			"client-key-data: " + secret,
			"machine git.example login ana password " + secret,
			`{"auths":{"reg.example":{"auth":"` + secret + `"}}}`,
			"WIFI:S:House;T:WPA;P:" + secret + ";;",
			"https://hooks.zapier.com/hooks/catch/123456/" + secret,
			"https://acme.webhook.office.com/webhookb2/" + secret + "/Incoming",
			"MAPS_KEY=" + secret,
			"Authorization: Bearer " + secret,
			"sk_live_" + secret,
			"glpat-" + secret,
			"https://ana:" + secret + "@git.example/x.git",
		} {
			redacted := New(Options{}).Text(text, Counts{})
			tail := text[max(0, len(text)-60):]
			if strings.Contains(redacted, secret[n-20:]) || strings.Contains(redacted, hash[n-20:]) {
				t.Errorf("%d bytes: %q ends as %q", n, tail, redacted)
			}
		}
	}
}

// TestSecretsOfConfigurationFiles holds made-up secrets in the forms of common tools, each with the
// part that must go.
func TestSecretsOfConfigurationFiles(t *testing.T) {
	t.Parallel()
	for text, secret := range map[string]string{
		"machine git.example login ana password hunter-rain-77":                 "hunter-rain-77",
		`{"auths":{"reg.example":{"auth":"YW5hOmh1bnRlci1yYWluLTc3"}}}`:         "YW5hOmh1bnRlci1yYWluLTc3",
		"    client-key-data: LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQo=":     "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQo",
		"WIFI:S:House;T:WPA;P:blue-kettle-9;;":                                  "blue-kettle-9",
		"WIFI:T:WPA;S:House;P:bluekettle;H:true;;":                              "bluekettle",
		"post to https://hooks.zapier.com/hooks/catch/123456/ab12cd3/ please":   "123456/ab12cd3",
		"https://acme.webhook.office.com/webhookb2/11aa22bb-33cc@44dd/Incoming": "11aa22bb-33cc@44dd",
		"Ring me, 0917 555 0142, after six":                                     "0917 555 0142",
		"text 09175550142":                                                      "09175550142",
		"MAPS_KEY=8f3k2n5q9w7e1r4t6y8u":                                         "8f3k2n5q9w7e1r4t6y8u",
		"my password is hunter-rain-77":                                         "hunter-rain-77",
		"The Wi-Fi password  IS hunter-rain-77":                                 "hunter-rain-77",
		"the api key\nis 8f3k2n5q9w7e1r4t6y8u":                                  "8f3k2n5q9w7e1r4t6y8u",
		"LICENCE_KEY=8F3K2N5Q9W7E1R4T6Y8U":                                      "8F3K2N5Q9W7E1R4T6Y8U",
	} {
		if redacted := New(Options{}).Text(text, Counts{}); strings.Contains(redacted, secret) {
			t.Errorf("%q remains %q", text, redacted)
		}
	}
	for _, text := range []string{
		"the password for the door is a secret among friends",
		"sort_key=ingredient_2024_sauces_and_more",
		"product 10917555014233 of the catalogue",
		"the policy is clear, and its signature dish costs 300",
		"ForgotPassword-RegisterUser-DeleteAccount-GetUserToken-level-2-1",
		"open PasswordHistory_table_2024 and tokenIsRefreshed_after_login1",
		"login to the shop and reset the password please",
	} {
		if redacted := New(Options{}).Text(text, Counts{}); redacted != text {
			t.Errorf("%q is changed to %q", text, redacted)
		}
	}
}

// TestMnemonicsJoinedBySigns finds mnemonic phrases whose words other signs than spaces join.
func TestMnemonicsJoinedBySigns(t *testing.T) {
	t.Parallel()
	entropy := make([]byte, 16)
	for i := range entropy {
		entropy[i] = byte(37 * i)
	}
	phrase, err := bip39.NewMnemonic(entropy)
	if err != nil {
		t.Fatal(err)
	}
	for _, sign := range []string{" ", "-", "_", ".", ", "} {
		for _, before := range []string{"", "keep ", "backup-of-the-old-wallet-of-my-uncle-" + sign} {
			text := before + strings.ReplaceAll(phrase, " ", sign) + " ok"
			if redacted := New(Options{}).Text(text, Counts{}); strings.Contains(redacted, strings.Fields(phrase)[5]) {
				t.Errorf("joined by %q: %q remains %q", sign, text, redacted)
			}
		}
	}
}

// TestOrderNumbersStay checks that at most 0.5 % of random numbers of 16 digits which are named as
// order numbers are taken for card numbers, and that a card number is found.
func TestOrderNumbersStay(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(16, 1))
	changed := 0
	for i := range 2000 {
		names := []string{"order number ", "Order #", "my order # is ", "my order is ", "tracking no. ", "ref: ", "invoice "}
		text := names[i%len(names)] + randomText(r, "0123456789", 16)
		if New(Options{}).Text(text, Counts{}) != text {
			changed++
		}
	}
	if changed > 10 {
		t.Errorf("%d of 2000 order numbers are taken for cards", changed)
	}
	for _, text := range []string{"4111 1111 1111 1111", "pay my order with 4111111111111111 please"} {
		if redacted := New(Options{}).Text(text, Counts{}); strings.Contains(redacted, "1111") {
			t.Errorf("a card remains: %q", redacted)
		}
	}
}

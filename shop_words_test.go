package arena_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// shopWord matches words of the shop as words of their own and as parts of Go names.
var shopWord = regexp.MustCompile(`(?i:\b(shop|shops|shopping|seller|sellers|voucher|vouchers|peso|pesos|php|cart)\b)|` +
	`\b(recommend|recommends|recommended|recommending|product|products)\b|` +
	`[a-z](Shop|Seller|Voucher|Peso|Recommend|Product)|\b(shop|seller|voucher|peso|recommend|product)[A-Z]|\b(Shop|Seller|Voucher|Peso|Recommend|Product)`)

// shopName matches the names by which general code refers to the domain of the shop, and imports of
// its packages.
var shopName = regexp.MustCompile(`domain\.(Shop|FromShop)\b|"github\.com/trajectory-arena/arena/(judges/)?shop[/"]`)

// shopPackages are the packages whose purpose is the shop: its catalogue and its rules, students and
// environments in it, and traces of it that tests make. Packages in them belong to it, too.
var shopPackages = []string{
	"shop", "judges/shop", "environment", "student", "contest", "bench", "pipeline/rewrite", "pipeline/recipe", "cmd/arena/evaluate",
	"internal/daygen", "internal/script", "internal/evaluation",
}

// shopWordsLeft are the general packages that still have words of the shop. Whoever removes the last
// one takes the package from the list; no package is added.
var shopWordsLeft = []string{
	".", "cmd/arena", "cmd/arena/audit", "cmd/arena/build", "cmd/arena/cli", "cmd/arena/instrument", "corpus/export", "corpus/redact", "corpus/rows", "corpus/verify",
	"domain", "filters", "filters/checks", "filters/evidence", "filters/habits", "guard", "guard/lexical", "guard/minhash", "guard/rows",
	"internal/calls", "internal/model/modeltest", "judges", "judges/llm",
	"pipeline", "pipeline/finish", "pipeline/reports", "report/attempt", "report/site", "traces", "traces/formats",
}

// TestWordsOfTheShopStayInTheShop holds general packages free of the words of one domain, since a
// constant of the shop under a general name accuses or praises attempts of every other arena.
func TestWordsOfTheShopStayInTheShop(t *testing.T) {
	t.Parallel()
	left := map[string]bool{}
	for _, f := range sourceFiles(t) {
		folder := filepath.ToSlash(filepath.Dir(f.path))
		isShops := slices.ContainsFunc(shopPackages, func(shops string) bool {
			return folder == shops || strings.HasPrefix(folder, shops+"/")
		})
		if f.isTest || isShops {
			continue
		}
		text, err := os.ReadFile(f.path)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			word := shopWord.FindString(shopName.ReplaceAllString(line, ""))
			if word == "" {
				continue
			}
			left[folder] = true
			if !slices.Contains(shopWordsLeft, folder) {
				t.Errorf("%s:%d: %q is a word of the shop: move it to shop.yaml or to a package of the shop", f.path, i+1, word)
			}
		}
	}
	for _, folder := range shopWordsLeft {
		if !left[folder] {
			t.Errorf("%s has no word of the shop any more: take it from shopWordsLeft", folder)
		}
	}
}

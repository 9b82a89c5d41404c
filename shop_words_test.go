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

// shopName matches the names by which general code refers to the domain of the shop, the id in a
// problem of the subnet's contract, the benchmark whose format is read, and imports of the shop's packages.
var shopName = regexp.MustCompile(`domain\.(Shop|FromShop)\b|\.ProductID\b|ShoppingBench|"github\.com/trajectory-arena/arena/(judges/)?shop[/"]`)

// shopPackages are the packages whose purpose is the shop: its catalogue and its rules, students and
// environments in it, and traces of it that tests make. Packages in them belong to it, too.
var shopPackages = []string{
	"shop", "judges/shop", "environment", "student", "contest", "bench", "pipeline/rewrite", "pipeline/recipe", "cmd/arena/evaluate",
	"internal/daygen", "internal/script", "internal/evaluation", "internal/shopcalls",
}

// shopFiles are files of general packages that use names of the subnet's contract: its problems and
// outcomes, their columns, the built-in domain, and the commands and files that belong to the shop.
var shopFiles = []string{
	"problem.go", "problem_read.go", "outcome.go",
	"corpus/rows/ledgerv1.go", "corpus/rows/profilev1.go", "corpus/rows/rowv1.go", "corpus/rows/outcome.go", "corpus/rows/problem.go",
	"corpus/export/env.go", "corpus/export/turns.go", "report/attempt/text.go",
	"domain/domain.go", "domain/set.go", "cmd/arena/audit/dedup.go",
	"guard/stored.go", // words that are hashed in stored banks
	"cmd/arena/main.go", "cmd/arena/build/build.go", "cmd/arena/build/recipe.go", "cmd/arena/build/recipe_rollouts.go",
	"corpus/redact/json.go", // names of fields that hold ids, in the data of any arena
}

// TestWordsOfTheShopStayInTheShop holds general packages free of the words of one domain, since a
// constant of the shop under a general name accuses or praises attempts of every other arena.
func TestWordsOfTheShopStayInTheShop(t *testing.T) {
	t.Parallel()
	for _, f := range sourceFiles(t) {
		folder := filepath.ToSlash(filepath.Dir(f.path))
		isShops := slices.ContainsFunc(shopPackages, func(shops string) bool {
			return folder == shops || strings.HasPrefix(folder, shops+"/")
		})
		if f.isTest || isShops || slices.Contains(shopFiles, filepath.ToSlash(f.path)) {
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
			t.Errorf("%s:%d: %q is a word of the shop: move it to shop.yaml or to a package of the shop", f.path, i+1, word)
		}
	}
}

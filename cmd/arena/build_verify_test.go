package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/internal/daygen"
	"github.com/trajectory-arena/arena/internal/longtest"
)

// requestWriters write requests of two kinds: in a few templates, as a generator does, and with
// other words in each, as people do.
var requestWriters = map[string]func(r *rand.Rand) string{
	"templates": func(r *rand.Rand) string {
		return fmt.Sprintf(pick(r, "Please find a %s by %s, made of %s, colour %s.", "I need a %s from %s in %s, %s one please", "Looking for a %s (brand %s), %s, shade %s"),
			pick(r, goods...), brand(r), pick(r, stuffs...), pick(r, colours...))
	},
	"people": func(r *rand.Rand) string {
		parts := []string{pick(r, "hello,", "hi there", "for my mother:", "urgent!"), pick(r, "any", "a good", "the cheapest", "some"), pick(r, colours...), pick(r, stuffs...), pick(r, goods...)}
		r.Shuffle(3, func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		return strings.Join(append(parts, fmt.Sprintf("under %d pesos", 50+r.IntN(5000))), " ")
	},
}

var (
	goods   = []string{"fountain pen", "yoga block", "bicycle bell", "climbing chalk", "garden trowel", "desk lamp", "reading lamp", "tool box", "phone case", "camp stove"}
	stuffs  = []string{"rubber", "glass", "bamboo", "felt", "walnut", "copper", "linen", "cork", "steel"}
	colours = []string{"amber", "coral", "ivory", "black", "teal", "navy", "olive", "rose", "sand"}
)

func pick(r *rand.Rand, words ...string) string { return words[r.IntN(len(words))] }

func brand(r *rand.Rand) string {
	return pick(r, "tisa", "gipu", "rebe", "festo", "oze") + pick(r, "pas", "tai", "bopai", "sume", "kla") + pick(r, "ne", "bu", "si", "dai")
}

// TestVerifyAgreesWithBuild checks that verify accepts the corpus of a build, for several numbers
// and authors of problems.
func TestVerifyAgreesWithBuild(t *testing.T) {
	sizes := []int{400, 2000}
	if longtest.Tests {
		sizes = []int{100, 400, 2000, 6000}
	}
	for name, write := range requestWriters {
		for _, size := range sizes {
			t.Run(fmt.Sprintf("%s %d", name, size), func(t *testing.T) {
				day := filepath.Join(t.TempDir(), "day")
				out := filepath.Join(t.TempDir(), "corpus")
				if err := os.CopyFS(day, os.DirFS(testDay)); err != nil {
					t.Fatal(err)
				}
				addProblems(t, day, size, rand.New(rand.NewPCG(uint64(size), 7)), write)
				if code, _, stderr := arenaRun("build", day, "-o", out, "-q"); code != 0 {
					t.Fatalf("build ends with %d:\n%s", code, stderr)
				}
				if code, _, stderr := arenaRun("verify", out); code != 0 {
					t.Errorf("verify ends with %d:\n%s", code, stderr)
				}
			})
		}
	}
}

// TestVerifyKeepsNearMissesAsBuild checks that verify accepts a corpus that kept near misses, and that
// a recipe keeps all its rows.
func TestVerifyKeepsNearMissesAsBuild(t *testing.T) {
	day := filepath.Join(t.TempDir(), "day")
	out := filepath.Join(t.TempDir(), "corpus")
	c := daygen.Config{Seed: 13, Attempts: 200, Problems: 60, Products: 600, Sentences: 2, Pages: 4, Agentic: 1}
	if _, err := daygen.Write(t.Context(), day, c); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"build", day, "-o", out, "--same-only", "-q"}, {"verify", out},
		{"recipe", "sft", "--corpus", out, "-o", filepath.Join(t.TempDir(), "recipe"), "-q"},
	} {
		code, stdout, stderr := arenaRun(args...)
		if code != 0 || strings.Contains(stdout+stderr, "leak") {
			t.Errorf("%v ends with %d:\n%s%s", args, code, stdout, stderr)
		}
	}
}

// addProblems adds problems to those of a day, copies of them with other requests and products,
// until there are size.
func addProblems(t *testing.T, day string, size int, r *rand.Rand, write func(*rand.Rand) string) {
	t.Helper()
	path := filepath.Join(day, "problems.jsonl")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	base := len(lines)
	for i := base; i < size; i++ {
		var problem map[string]any
		if err := json.Unmarshal([]byte(lines[r.IntN(base)]), &problem); err != nil {
			t.Fatal(err)
		}
		problem["problem_id"] = fmt.Sprintf("%08x-0000-4000-9000-000000000000", i)
		problem["query"] = write(r)
		rewards, isList := problem["reward"].([]any)
		if !isList {
			rewards = []any{problem["reward"]}
		}
		for _, reward := range rewards {
			reward.(map[string]any)["product_id"] = fmt.Sprint(1_000_000_000 + r.IntN(1_000_000_000))
			reward.(map[string]any)["title"] = []string{brand(r) + " foldable " + pick(r, goods...) + " " + pick(r, stuffs...)}
		}
		line, err := json.Marshal(problem)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(line))
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

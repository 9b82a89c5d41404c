package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/guard/rows"
	"github.com/trajectory-arena/arena/internal/longtest"
)

// printedBy returns the output of a script of the shared cases, or "" without the script or Python.
func printedBy(t *testing.T, name string) string {
	t.Helper()
	if longtest.SharedFolder() == "" {
		return ""
	}
	path := longtest.Shared(t, "cases/guard/"+name)
	out, err := exec.Command("python3", path).Output()
	if err != nil {
		t.Logf("%s is not run: %v", name, err)
	}
	return string(out)
}

// chain returns forty texts of 300 words, each like the one before, and the first unlike the last.
func chain() string {
	r := rand.New(rand.NewPCG(1, 5))
	word := func() string { return fmt.Sprintf("w%03d", r.IntN(1000)) }
	var words []string
	for range 300 {
		words = append(words, word())
	}
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, "{\"id\":\"%d\",\"text\":%q}\n", i, strings.Join(words, " "))
		for range 3 {
			words[r.IntN(len(words))] = word()
		}
	}
	return b.String()
}

// TestAChainOfCopiesIsOneCluster holds that texts which each resemble the next are one cluster,
// even if the first does not resemble the last.
func TestAChainOfCopiesIsOneCluster(t *testing.T) {
	t.Parallel()
	for name, texts := range map[string]string{"own": chain(), "chain.py": printedBy(t, "chain.py")} {
		if texts == "" {
			continue
		}
		dir := t.TempDir()
		input := filepath.Join(dir, "texts.jsonl")
		out := filepath.Join(dir, "clusters.jsonl")
		put(t, input, []byte(texts))
		if code, _, stderr := arenaRun("dedup", input, "--field", "text", "-o", out, "-q"); code != 0 {
			t.Fatalf("%s: dedup ends with %d: %s", name, code, stderr)
		}
		clusters := map[string]int{}
		err := rows.Each(out, func(r rows.Row) error {
			clusters[gjson.Get(r.JSON, "cluster").Str]++
			return nil
		})
		if err != nil || len(clusters) != 1 {
			t.Errorf("%s: clusters %v, want one of 40 texts: %v", name, clusters, err)
		}
		for _, n := range clusters {
			if n != 40 {
				t.Errorf("%s: a cluster of %d texts, want 40", name, n)
			}
		}
	}
}

// longSecrets returns rows of which each holds a secret of up to 1,100 characters.
func longSecrets() string {
	r := rand.New(rand.NewPCG(6, 5))
	random := func(letters string, n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = letters[r.IntN(len(letters))]
		}
		return string(b)
	}
	var b strings.Builder
	for _, n := range []int{150, 250, 520, 1100} {
		for name, form := range map[string]string{"assigned": "client_secret=%s", "json": `{"api_key": "%s"}`, "password": "password: %s", "goog": "https://storage.example/o?X-Goog-Signature=%s"} {
			letters := "0123456789abcdef"
			if name != "goog" {
				letters += "ABCDEFGHIJKLMNOPQRSTUVWXYZghijklmnopqrstuvwxyz"
			}
			line, err := json.Marshal(object{"id": fmt.Sprint(name, "-", n), "messages": []object{
				{"role": "user", "content": fmt.Sprintf("Please find a red towel %d. Note: "+form+" thanks", n, random(letters, n))},
				{"role": "assistant", "content": "Here is a fine red towel for a day at the beach."},
			}})
			if err != nil {
				panic(err) // strings are always encoded
			}
			b.Write(append(line, '\n'))
		}
	}
	return b.String()
}

// TestNothingOfALongSecretIsImported checks that an imported row holds no character of a removed
// secret next to its placeholder, for secrets of any length.
func TestNothingOfALongSecretIsImported(t *testing.T) {
	t.Parallel()
	for name, lines := range map[string]string{"own": longSecrets(), "long_secrets.py": printedBy(t, "long_secrets.py")} {
		if lines == "" {
			continue
		}
		dir := t.TempDir()
		input := filepath.Join(dir, "rows.jsonl")
		out := filepath.Join(dir, "corpus")
		put(t, input, []byte(lines))
		if code, _, stderr := arenaRun("import", input, "--unguarded", "-o", out, "-q"); code != 0 {
			t.Fatalf("%s: import ends with %d: %s", name, code, stderr)
		}
		files, err := filepath.Glob(filepath.Join(out, "data", "*", "*.parquet"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no rows: %v", name, err)
		}
		n := 0
		for _, file := range files {
			err := rows.Each(file, func(r rows.Row) error {
				n++
				remaining := remainder(lines, r.JSON)
				if remaining != "" || !strings.Contains(r.JSON, "[REDACTED") {
					t.Errorf("%s: %q is left of a secret in %.300s", name, remaining, r.JSON)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if n != strings.Count(lines, "\n") {
			t.Errorf("%s: %d rows, want %d", name, n, strings.Count(lines, "\n"))
		}
	}
}

// remainder returns the first word of a row's messages that has 16 characters or more and occurs in
// lines, or "" if there is none.
func remainder(lines, row string) string {
	const long = 16
	isWord := func(r rune) bool {
		return r < '0' || r > '9' && r < 'A' || r > 'Z' && r < 'a' || r > 'z'
	}
	for _, word := range strings.FieldsFunc(gjson.Get(row, "messages").Raw, isWord) {
		if len(word) >= long && strings.Contains(lines, word) {
			return word
		}
	}
	return ""
}

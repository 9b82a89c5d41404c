package arena_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// prosePages returns the text of README.md, CONTRIBUTING.md, recipes/README.md and all
// pages of docs by path.
func prosePages(t *testing.T) map[string]string {
	t.Helper()
	paths := []string{"README.md", "CONTRIBUTING.md", "recipes/README.md"}
	err := filepath.WalkDir("docs", func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".md") {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	pages := map[string]string{}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		pages[path] = string(b)
	}
	return pages
}

var (
	inlineCode  = regexp.MustCompile("`[^`]*`")
	linkTarget  = regexp.MustCompile(`\]\([^)]*\)`)
	htmlComment = regexp.MustCompile(`(?s)<!--.*?-->`)
	proseWord   = regexp.MustCompile(`[A-Za-z][A-Za-z'-]*`)
	sentenceEnd = regexp.MustCompile(`[.!?:;](\s+|$)`)
)

// TestDocsWords checks the rate of everyday words in the prose of all pages.
func TestDocsWords(t *testing.T) {
	t.Parallel()
	const limit = 500 // per 100,000 words
	words := 0
	counts := map[string]int{}
	for _, page := range prosePages(t) {
		for _, word := range proseWords(page) {
			words++
			if _, ok := dialectWords[word]; ok {
				counts[word]++
			}
		}
	}

	total := 0
	var frequent []string
	for word, n := range counts {
		total += n
		frequent = append(frequent, word)
	}
	slices.SortFunc(frequent, func(a, b string) int { return counts[b] - counts[a] })
	rate := float64(total) / float64(words) * 100_000
	t.Logf("%d of %d words: %.0f per 100,000", total, words, rate)
	if rate <= limit {
		return
	}
	for _, word := range frequent[:min(20, len(frequent))] {
		t.Logf("%4d %s: write %s", counts[word], word, dialectWords[word])
	}
	t.Errorf("%.0f everyday words per 100,000 in docs, at most %d are allowed", rate, limit)
}

// proseWords returns the lower-case words of a page outside code and link targets.
func proseWords(page string) []string {
	var words []string
	code := false
	for line := range strings.Lines(htmlComment.ReplaceAllString(page, "")) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			code = !code
			continue
		}
		if code {
			continue
		}
		line = inlineCode.ReplaceAllString(line, " ")
		line = linkTarget.ReplaceAllString(line, "] ")
		for _, word := range proseWord.FindAllString(line, -1) {
			words = append(words, strings.ToLower(word))
		}
	}
	return words
}

// TestDocsSentences checks that no sentence of eight or more words is on two pages.
func TestDocsSentences(t *testing.T) {
	t.Parallel()
	first := map[string]string{}
	pages := prosePages(t)
	paths := make([]string, 0, len(pages))
	for path := range pages {
		paths = append(paths, path)
	}
	slices.Sort(paths)

	for _, path := range paths {
		for _, paragraph := range paragraphs(htmlComment.ReplaceAllString(pages[path], "")) {
			for _, sentence := range sentenceEnd.Split(paragraph, -1) {
				words := strings.Fields(linkTarget.ReplaceAllString(sentence, "]"))
				if len(words) < 8 {
					continue
				}
				text := strings.ToLower(strings.Join(words, " "))
				other, ok := first[text]
				if ok && other != path {
					t.Errorf("%s and %s have one sentence: %.100q", other, path, text)
				}
				first[text] = path
			}
		}
	}
}

// TestDocsHaveNoMarksOfAMerge finds conflict markers of a merge in a page.
func TestDocsHaveNoMarksOfAMerge(t *testing.T) {
	t.Parallel()
	for path, page := range prosePages(t) {
		if strings.Contains(page, "<<<<<<< ") || strings.Contains(page, ">>>>>>> ") {
			t.Errorf("%s has the marks of a merge", path)
		}
	}
}

// TestDocsLength checks the words of all explanations and how-tos: README,
// CONTRIBUTING and docs without decisions, measurements and generated pages.
func TestDocsLength(t *testing.T) {
	t.Parallel()
	const limit = 25_000
	words := 0
	for path, page := range prosePages(t) {
		lookedUp := strings.HasPrefix(path, "docs/decisions/") || strings.HasPrefix(path, "docs/measured/")
		if lookedUp || generated[path] {
			continue
		}
		words += len(strings.Fields(page))
	}
	t.Logf("%d words", words)
	if words > limit {
		t.Errorf("%d words of explanations and how-tos, at most %d are allowed", words, limit)
	}
}

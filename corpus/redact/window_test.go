package redact

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// around computes the window of one hit from the definition, independently of other hits.
func around(text string, h span) span {
	start, end := max(0, h.start-reachBack), min(len(text), h.end+reachOn)
	for floor := max(0, start-longest); start > floor && !separator(text[start-1]); {
		start--
	}
	for ceiling := min(len(text), end+longest); end < ceiling && !separator(text[end]); {
		end++
	}
	for start > 0 && !utf8.RuneStart(text[start]) {
		start--
	}
	for end < len(text) && !utf8.RuneStart(text[end]) {
		end++
	}
	return span{start, end}
}

// TestWindowsAreThoseOfEachWord holds windows that are found in one walk over a
// text against windows that are found one by one.
func TestWindowsAreThoseOfEachWord(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		d := rand.New(rand.NewPCG(seed, 0))
		var b strings.Builder
		for range 40 {
			b.WriteString(strings.Repeat([]string{"a", "é", "ab.", "\x80"}[d.IntN(4)], 1<<d.IntN(12)))
			b.WriteString([]string{"", "", " ", "\n"}[d.IntN(4)])
		}
		text := b.String()
		var hits []hit
		for range 60 {
			start := d.IntN(len(text) - 16)
			hits = append(hits, hit{0, span{start, start + 1 + d.IntN(15)}})
		}
		slices.SortFunc(hits, func(a, b hit) int { return a.start - b.start })
		var merged []span
		for i, p := range places(text, hits) {
			w := around(text, hits[i].span)
			if p != (span{hits[i].start, w.end}) {
				t.Fatalf("seed %d, word %d: %v, want an end at %d", seed, i, p, w.end)
			}
			if n := len(merged); n > 0 && w.start <= merged[n-1].end {
				merged[n-1].end = max(merged[n-1].end, w.end)
			} else {
				merged = append(merged, w)
			}
		}
		if got := windows(text, hits); !slices.Equal(got, merged) {
			t.Fatalf("seed %d: %v, want %v", seed, got, merged)
		}
	}
}

// TestManyWordsInOneTokenShareAWalk checks the time for a token of many words. Walking over the
// token for each of them would take minutes.
func TestManyWordsInOneTokenShareAWalk(t *testing.T) {
	t.Parallel()
	const words, size = 1 << 21, 8
	hits := make([]hit, words)
	for i := range hits {
		hits[i].span = span{i * size, i*size + 2}
		if i%2 == 1 { // the preceding word ends after this one
			hits[i-1].end = i*size + 3
		}
	}
	text := strings.Repeat("a", words*size)
	done := make(chan bool)
	go func() {
		spans := windows(text, hits)
		done <- len(places(text, hits)) == words && len(spans) == 1 && spans[0] == span{0, len(text)}
	}()
	select {
	case ok := <-done:
		if !ok {
			t.Error("not every place, or not one window over all")
		}
	case <-time.After(time.Minute):
		t.Error("not done within a minute")
	}
}

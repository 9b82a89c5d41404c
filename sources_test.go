package arena_test

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/traces/formats"
)

const sourcesHead = `# What other tools write, and what of it is kept

This page is written from the readers by ` + "`go test . -run SourcesPage -update`" + `; ` + "`arena list formats`" + ` shows the table as well.
A sample of each format is in traces/testdata/formats.

arena recognises a format by the content of a file. From every format arena keeps messages, calls, tool results and reasoning. An attempt with images
or other parts that are not text becomes no row (` + "`non_text_content`" + `). The words in the table of losses count other
contents of a source. ` + "`arena import`" + ` lists the words of this table under ` + "`lost`" + ` in a row's metadata and on the dataset card.

A coding agent's session is a tree of messages. The branch that ends in the newest line is read as an attempt, and other branches are counted (` + "`other_branches`" + `). If a summary
replaced the conversation, a second attempt begins with the summary; its session id begins with that of the first attempt. Messages that the agent kept after the summary are in both
attempts, and masked in the second. A subagent's conversation is a separate attempt. If the session does not contain the summary's text, the second attempt becomes no row (` + "`hidden_context`" + `).

As a test, one conversation of nine texts was written in 139 variants. arena reads 133 variants completely, one with a
note that bars it from training, and refuses five with messages that name the probable formats (28 November; TestShapesOfOneConversation repeats the test).

ToolACE's rows are read as ` + "`sharegpt`" + `. The reader of these rows follows the keys of the published data set, because the program that wrote the rows is
not published.

| format | written by | kept beside the messages |
|---|---|---|
`

const lostHead = `
| lost | what |
|---|---|
| ` + "`unread:KEY`" + ` | a value at this path of keys that no reader has read, or an evaluator's file that cannot be read; ` + "`unread:…`" + ` stands for more than 20, and for a key that may be a secret |
`

const readHead = `
The next table shows with which files each reader was tested. Units are texts, thoughts, calls and results. Packages and programs without an owner in their name
wrote their records in ` + "`.ci/interop formats vendors programs`" + `, where the units are known. In files of the other repositories
` + "`bench/interop/count_formats.py`" + ` counted the units independently of arena. A unit that arena's output lacks is *named* if a word in the file's list of losses covers it, and otherwise *silent*.

| format | by whom | files | units | named | silent |
|---|---|---|---|---|---|
`

// countedLines returns the lines of the table of read records, a line for each format, from the
// counts that .ci/interop wrote.
func countedLines(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("bench/interop/formats.tsv")
	if err != nil {
		t.Fatal(err)
	}
	makers := map[string][]string{}
	counts := map[string][4]int{}
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) != 6 {
			t.Fatalf("not six columns: %q", line)
		}
		format := fields[0]
		maker, _, _ := strings.Cut(fields[1], ",")
		if !slices.Contains(makers[format], maker) {
			makers[format] = append(makers[format], maker)
		}
		sum := counts[format]
		for i, field := range fields[2:] {
			n, err := strconv.Atoi(field)
			if err != nil {
				t.Fatal(err)
			}
			sum[i] += n
		}
		counts[format] = sum
	}
	var page strings.Builder
	for _, format := range slices.Sorted(maps.Keys(counts)) {
		sum := counts[format]
		if sum[3] > 0 {
			t.Errorf("%s loses %d units without a word", format, sum[3])
		}
		fmt.Fprintf(&page, "| `%s` | %s | %d | %d | %d | %d |\n", format, strings.Join(makers[format], ", "), sum[0], sum[1], sum[2], sum[3])
	}
	return page.String()
}

// TestSourcesPageNamesEveryFormat compares docs/sources.md with the readers of package formats and
// their names of losses.
func TestSourcesPageNamesEveryFormat(t *testing.T) {
	t.Parallel()
	page := sourcesHead
	for _, f := range formats.Detectable {
		page += fmt.Sprintf("| `%s` | %s | %s |\n", f.Name, f.Writers, f.Retained)
	}
	lines := reasonsIn(t, "traces/formats", regexp.MustCompile(`^lost[A-Z]`), func(word, meaning string) string {
		if meaning == "" {
			t.Errorf("%s has no comment: want one that defines it", word)
		}
		return fmt.Sprintf("| `%s` | %s |\n", word, strings.TrimSuffix(meaning, "."))
	})
	slices.Sort(lines)
	page += lostHead + strings.Join(lines, "") + readHead + countedLines(t)
	const path = "docs/sources.md"
	if *update {
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != page {
		t.Errorf("%s differs from the readers (%v): run this test with -update", path, err)
	}
}

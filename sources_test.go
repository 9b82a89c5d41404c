package arena_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/traces/formats"
)

const sourcesHead = `# What other tools write, and what of it is kept

Written from the readers by ` + "`go test . -run SourcesPage -update`" + `; ` + "`arena list formats`" + ` shows the table as well.
A sample of each is in traces/testdata/formats.

Files are told apart by their content. Messages, calls, answers and reasoning are kept of all; images and other parts that
are no text leave an attempt out (` + "`non_text_content`" + `). What else a source holds and no trace has a place for is
counted by the words below: import puts them under lost into a row's metadata and onto the card.

Every reader was held against files that the tool itself wrote, or the types of its package: turns, calls, results and
reasoning came out as they went in. ` + "`.ci/interop formats`" + ` repeats it. Four were held once: tau2-bench's results, verifiers
0.1.14's, the 22 trajectories in SWE-agent's repository (230 turns, 44 calls, 44 results, every text equal), and 80 files that
Claude Code 1.0.24 to 2.1.114 wrote and others published (878 turns, 905 calls, 905 results, 153 thoughts, every text equal; 53
of the files are subagents').

One shape follows published keys alone: ToolACE's rows, which are read as ` + "`sharegpt`" + `. They lie on the Hub, and what made them is
not published.

| format | written by | kept beside the messages |
|---|---|---|
`

const lostHead = `
| lost | what |
|---|---|
| ` + "`unread:KEY`" + ` | text under a key of a message, a row or a document that no reader knows |
`

// TestSourcesPageNamesEveryFormat holds docs/sources.md to the readers of package
// formats and to its words for what is lost.
func TestSourcesPageNamesEveryFormat(t *testing.T) {
	t.Parallel()
	page := sourcesHead
	for _, f := range formats.Detectable {
		page += fmt.Sprintf("| `%s` | %s | %s |\n", f.Name, f.Writers, f.Retained)
	}
	lines := reasonsIn(t, "traces/formats", regexp.MustCompile(`^lost[A-Z]`), func(word, meaning string) string {
		if meaning == "" {
			t.Errorf("%s has no comment: nobody would know what it means", word)
		}
		return fmt.Sprintf("| `%s` | %s |\n", word, strings.TrimSuffix(meaning, "."))
	})
	slices.Sort(lines)
	page += lostHead + strings.Join(lines, "")
	const path = "docs/sources.md"
	if *update {
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != page {
		t.Errorf("%s is not what the readers say (%v): run this test with -update", path, err)
	}
}

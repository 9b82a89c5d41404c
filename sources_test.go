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

The program recognises a format by the content of a file. From every format it keeps messages, calls, tool results and reasoning. An attempt with images
or other parts that are not text becomes no row (` + "`non_text_content`" + `). The words below count what else a source contains and a trace cannot
represent. ` + "`arena import`" + ` lists these words under ` + "`lost`" + ` in a row's metadata and on the dataset card.

Each reader was tested with files that the tool itself wrote, or with the types of its package: all turns, calls, results and
reasoning were equal. ` + "`.ci/interop formats`" + ` repeats most of these tests. The readers of tau2-bench's and verifiers 0.1.14's results,
SWE-agent and Claude Code were tested once. The 22 trajectories in SWE-agent's repository have 230 turns, 44 calls and 44 results. The 80 published files of
Claude Code 1.0.24 to 2.1.114, 53 of them by subagents, have 878 turns, 905 calls, 905 results and 153 thoughts. The two sessions in Pi's
repository have 910 turns, 845 calls, 821 results and 50 thoughts, by a counter that was written apart. The readers of Codex, Gemini CLI, OpenHands,
opencode and of Claude Code's output follow the types that those programs publish, and read no real file but ten events of OpenHands' SDK.

A session is a tree. The branch that ends in the newest line is an attempt. What was taken back is counted. A summary that replaced the conversation
begins another attempt, whose session id begins with that of the first; the messages that the program kept stand in both, masked in the second. A subagent's conversation is an
attempt of its own. If nobody but the provider knows the summary, the attempt after it becomes no row (` + "`hidden_context`" + `).

The reader of ToolACE's rows, which are read as ` + "`sharegpt`" + `, follows the keys of the published data set, because the program that wrote the rows is
not published.

| format | written by | kept beside the messages |
|---|---|---|
`

const lostHead = `
| lost | what |
|---|---|
| ` + "`unread:KEY`" + ` | a value at this path of keys that no reader has read; ` + "`unread:…`" + ` stands for more than 20, and for a key that may be a secret |
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

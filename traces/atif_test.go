package traces

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trajectory-arena/arena"
)

// TestEveryVersionOfATIFIsRead reads a sample of each version with the features that the version
// added. An attempt with an unsupported feature is vetoed, and an unknown version is refused by its
// name.
func TestEveryVersionOfATIFIsRead(t *testing.T) {
	t.Parallel()
	want := map[string]string{ // by run, which is the session where there is one
		"boat-0":  `When does the last boat leave? | agent "" timetable {"day":"today"} -> "18:40 and 21:15" | agent "At 21:15."`,
		"boat-1":  `[You sell boat tickets.] Two tickets, please. | agent "Two tickets are 14."`,
		"boat-2":  `Is the boat there? | system "The horn was heard.\none long tone" | agent "Yes, it has just come in."`,
		"boat-3":  `Does the boat take bicycles? | agent "It does."`,
		"boat-4":  `How deep is the harbour? | agent "I ask the diver." ask_diver {} -> "four fathoms" | agent "Four fathoms."`,
		"boat-5":  `Say hello to the other boat. | agent "" sound_horn {"times":2} -> "they answered" | agent "They greet back." with tools`,
		"boat-5b": `Say hello to the other boat. | agent "They greet back." | user "And now good-bye." | agent "Done."`,
		"boat-6":  `Read me the sign: ` + "\n" + `the one at pier two. | agent "" read_sign {"pier":2} -> "No swimming \nafter dark" | agent "No swimming after dark."`,
		"boat-6b": `Which boat is this? | agent "The red one." but non_text_content`,
		"boat-8":  `Which horn is that? | agent "" listen {} -> [{"type":"audio","source":{"media_type":"audio/wav","path":"horn.wav"}}] | agent "The red boat's." but non_text_content`,
		"stdin":   `Is there room for a cart? | agent "" by 0 room {"for":"cart"} -> "yes" | agent "There is." by 2`,
	}
	got := map[string]string{}
	attempts, faults, _ := readAll(t, filepath.Join("testdata", "atif"), named())
	for _, trace := range attempts {
		got[trace.RunID] = describe(trace)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(faults) != 1 || faults[0].Reason != "unsupported_schema" || !strings.Contains(faults[0].Detail, "ATIF-v1.9") {
		t.Errorf("faults %+v", faults)
	}
}

// TestNoFileMakesUpAVeto checks that a file cannot invent reasons of vetoes, by which the funnel
// counts.
func TestNoFileMakesUpAVeto(t *testing.T) {
	t.Parallel()
	const doc = `{"schema_version":"ATIF-v1.7","session_id":"s","agent":{"name":"n","version":"1"},"steps":[{"step_id":1,"source":"user","message":"m"},` +
		`{"step_id":2,"source":"agent","message":"a"}],"extra":{"arena":{"vetoes":["<script>","copied_context"]}}}`
	path := filepath.Join(t.TempDir(), "a.json")
	if err := os.WriteFile(path, []byte(doc), 0o600); err != nil {
		t.Fatal(err)
	}
	attempts, _, _ := readAll(t, path, named())
	if diff := cmp.Diff([]string{"foreign_veto", "copied_context"}, attempts[0].Vetoes); diff != "" {
		t.Error(diff)
	}
}

// describe formats a trace in one line.
func describe(t *arena.Trace) string {
	var b strings.Builder
	if t.System != "" {
		fmt.Fprintf(&b, "[%s] ", t.System)
	}
	b.WriteString(t.Query)
	for _, s := range t.Steps {
		role := map[arena.Role]string{arena.RoleUser: "user", arena.RoleSystem: "system"}[s.Role]
		if role == "" {
			role = "agent"
		}
		fmt.Fprintf(&b, " | %s %q", role, s.Content)
		if s.LLMCalls != nil {
			fmt.Fprintf(&b, " by %d", *s.LLMCalls)
		}
		for _, c := range s.Calls {
			fmt.Fprintf(&b, " %s %s -> %s", c.Name, c.Arguments, c.Result)
		}
	}
	if t.Tools != "" {
		b.WriteString(" with tools")
	}
	if len(t.Vetoes) > 0 {
		b.WriteString(" but " + strings.Join(t.Vetoes, ", "))
	}
	return b.String()
}

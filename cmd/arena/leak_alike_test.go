package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/corpus/export"
)

// The protected request of TestLeakAnswersAlikeInEveryFormat, and a rewording of it in two halves.
const (
	protectedLamp = "Looking for a brass desk lamp with a green glass shade, dimmable, priced from 240 to 515 PHP."
	lampStart     = "I would like a dimmable lamp of brass for my desk."
	lampEnd       = "Its shade is green glass, and it costs between 240 and 515 PHP."
	rewordedLamp  = lampStart + " " + lampEnd
)

// conversations are those of a customer, %s, by where they have the protected request or parts of it.
var conversations = map[string]string{
	"nowhere":  `{"role":"user","content":%s},{"role":"assistant","content":"It is done."}`,
	"turn":     `{"role":"user","content":%s},{"role":"assistant","content":"Anything else?"},{"role":"user","content":"REWORDED"},{"role":"assistant","content":"No."}`,
	"turns":    `{"role":"user","content":%s},{"role":"assistant","content":"Anything else?"},{"role":"user","content":"START"},{"role":"assistant","content":"And?"},{"role":"user","content":"END"},{"role":"assistant","content":"No."}`,
	"system":   `{"role":"system","content":"REWORDED"},{"role":"user","content":%s},{"role":"assistant","content":"It is done."}`,
	"thought":  `{"role":"user","content":%s},{"role":"assistant","reasoning_content":"REWORDED","content":"It is done."}`,
	"words":    `{"role":"user","content":%s},{"role":"assistant","content":"REWORDED"}`,
	"half":     `{"role":"user","content":%s},{"role":"assistant","content":"END"}`,
	"json":     `{"role":"user","content":%s},{"role":"assistant","content":"[{\"answer\": \"START\"}, {\"answer\": \"END\"}]"}`,
	"argument": `{"role":"user","content":%s},{"role":"assistant","content":"","tool_calls":[{"id":"c","type":"function","function":{"name":"search_files","arguments":"{\"q\": \"REWORDED\"}"}}]},{"role":"tool","tool_call_id":"c","content":"none"},{"role":"assistant","content":"No."}`,
	"calls": `{"role":"user","content":%s},{"role":"assistant","content":"","tool_calls":[{"id":"c","type":"function","function":{"name":"search_files","arguments":"{\"q\": \"START\"}"}},{"id":"d","type":"function","function":{"name":"search_files","arguments":"{\"q\": \"END\"}"}}]},` +
		`{"role":"tool","tool_call_id":"c","content":"none"},{"role":"tool","tool_call_id":"d","content":"none"},{"role":"assistant","content":"No."}`,
	"result": `{"role":"user","content":%s},{"role":"assistant","content":"","tool_calls":[{"id":"c","type":"function","function":{"name":"search_files","arguments":"{\"q\": \"notes\"}"}}]},{"role":"tool","tool_call_id":"c","content":"a note:\nPROTECTED"},{"role":"assistant","content":"No."}`,
	"results": `{"role":"user","content":%s},{"role":"assistant","content":"","tool_calls":[{"id":"c","type":"function","function":{"name":"search_files","arguments":"{\"q\": \"notes\"}"}},{"id":"d","type":"function","function":{"name":"search_files","arguments":"{\"q\": \"more\"}"}}]},` +
		`{"role":"tool","tool_call_id":"c","content":"[\"a note\\nPROTECTED\", \"another\"]"},{"role":"tool","tool_call_id":"d","content":"{\"found\": 0}"},{"role":"assistant","content":"No."}`,
	"answered": `{"role":"user","content":%s},{"role":"assistant","content":"","tool_calls":[{"id":"b","type":"function","function":{"name":"search_files","arguments":"{\"q\": \"notes\"}"}}]},{"role":"tool","tool_call_id":"b","content":"[{\"product_id\": \"3755560126\"}]"},{"role":"assistant","content":"","tool_calls":[{"id":"c","type":"function","function":{"name":"recommend_product","arguments":"{\"product_ids\": \"3755560126\"}"}}]},{"role":"tool","tool_call_id":"c","content":"ok"},{"role":"assistant","content":"No."}`,
}

// harmless are harmless harmless of the conversations, one for each place.
var harmless = []string{
	"Rename the three invoices of March, please.", "Which of my trains leaves after noon on Sunday?", "Translate this poem about winter into Finnish.",
	"How many students passed the chemistry exam?", "Cancel the dentist, I have a fever.", "Sort the photographs by the city where I took them.",
	"Write a polite reply to the landlord about the heating.", "What does error 502 of the gateway mean?", "Count the words of chapter seven.",
	"Book a table for two at the harbour tonight.", "Summarise the minutes of the board.", "Add oat milk and onions to the grocery list.",
	"Who chaired the committee on fisheries in 1998?",
}

// writeConversations writes to a file two runs for each of conversations, a solved one and a failed one, and
// returns the conversations by their task.
func writeConversations(t *testing.T, file string) map[string]string {
	t.Helper()
	tasks := map[string]string{}
	var lines strings.Builder
	fill := strings.NewReplacer("REWORDED", rewordedLamp, "START", lampStart, "END", lampEnd, "PROTECTED", protectedLamp)
	for i, place := range slices.Sorted(maps.Keys(conversations)) {
		task := fmt.Sprint("task-", i)
		tasks[task] = place
		request, err := json.Marshal(harmless[i])
		if err != nil {
			t.Fatal(err)
		}
		for reward := range 2 {
			messages := fmt.Sprintf(fill.Replace(conversations[place]), request)
			if !strings.Contains(messages, `"system"`) { // profile sharegpt asks for one
				messages = `{"role":"system","content":"Be brief."},` + messages
			}
			end := "You are welcome."
			if reward == 0 {
				end = "I am sorry."
			}
			messages += fmt.Sprintf(`,{"role":"user","content":"Thank you."},{"role":"assistant","content":%q}`, end)
			fmt.Fprintf(&lines, `{"task_id":%q,"trial":%d,"reward":%d,"messages":[%s]}`+"\n", task, reward, reward, messages)
		}
	}
	if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return tasks
}

// verdict is what `arena leak` says of the rows of one conversation: the strongest of its lines.
type verdict struct {
	Drop, Same     bool
	Score          float64
	Tier, Evidence string
}

// strength returns a number by which a verdict that drops is above all others.
func (v verdict) strength() float64 {
	if v.Drop {
		return 1 + v.Score
	}
	return v.Score
}

// verdicts returns what `arena leak` says of the rows of a folder, by the problem. A line of a session
// trace without an id is of the session above it.
func verdicts(t *testing.T, heldOut, folder string) map[string]verdict {
	t.Helper()
	out := filepath.Join(t.TempDir(), "leaks.jsonl")
	must(t, cli.ExitOK, "leak", "--held-out", heldOut, folder, "-o", out, "-q")
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]verdict{}
	problem := ""
	for line := range strings.Lines(string(text)) {
		id := gjson.Get(line, "id").String()
		if filepath.Base(folder) != "sts" || strings.Contains(id, "/") {
			problem = path.Base(id)
		}
		var v verdict
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
		known, ok := found[problem]
		if !ok || v.strength() > known.strength() {
			found[problem] = v
		}
	}
	return found
}

// folderOf returns the folder of an export that has the rows of a profile, "" if it has none.
func folderOf(exported, profile string) string {
	for _, dir := range []string{"data", "jsonl", ""} {
		folder := filepath.Join(exported, dir, profile)
		if _, err := os.Stat(folder); err == nil {
			return folder
		}
	}
	return ""
}

// beforeTheModel are the profiles whose rows have only what stands before the first turn of the model.
var beforeTheModel = []string{"prompts", "verl-rl", "env"}

// compareProfiles exports a corpus in every profile, and compares what `arena leak` says of each
// conversation with what it says of its row in hf-json. It returns the number of compared verdicts of
// each profile. skip reports whether the profile lacks the part of the conversation that decides.
func compareProfiles(t *testing.T, built, heldOut string, skip func(profile, problem string) bool) map[string]int {
	t.Helper()
	exported := built + ".exported"
	must(t, cli.ExitOK, "export", built, "--profile", "all", "-o", exported, "-q")
	want := verdicts(t, heldOut, folderOf(exported, "hf-json"))
	compared := map[string]int{}
	for _, p := range export.All() {
		folder := folderOf(exported, p.Name)
		if folder == "" {
			continue
		}
		for problem, got := range verdicts(t, heldOut, folder) {
			known, ok := want[problem]
			if !ok || skip(p.Name, problem) {
				continue
			}
			compared[p.Name]++
			if got != known {
				t.Errorf("%s, problem %s: %v, in hf-json %v", p.Name, problem, got, known)
			}
		}
	}
	return compared
}

// TestLeakAnswersAlikeInEveryFormat builds a corpus of conversations that have a protected request in
// different places, exports it in every profile, and asks that `arena leak` says the same of a
// conversation in each of them.
func TestLeakAnswersAlikeInEveryFormat(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	runs := filepath.Join(dir, "runs.jsonl")
	place := writeConversations(t, runs)
	tent := `{"id":"tent","text":"I need a tent for four persons, waterproof to 3000 mm, with cash on delivery."}` + "\n"
	lamp := fmt.Sprintf(`{"id":"lamp","text":%q,"product_id":"3755560126"}`+"\n", protectedLamp)
	other := filepath.Join(dir, "tent.jsonl")
	heldOut := filepath.Join(dir, "held.jsonl")
	for path, bank := range map[string]string{other: tent, heldOut: lamp + tent} {
		if err := os.WriteFile(path, []byte(bank), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	built := filepath.Join(dir, "built")
	must(t, cli.ExitOK, "build", runs, "-o", built, "-q", "--held-out", other, "--set", "guard.shares.eval=0", "--set", "guard.shares.never_touch=0")

	compared := compareProfiles(t, built, heldOut, func(profile, problem string) bool {
		return slices.Contains(beforeTheModel, profile) && !slices.Contains([]string{"system", "nowhere"}, place[problem])
	})
	for profile, n := range compared {
		if want := len(conversations); n < want && !slices.Contains(beforeTheModel, profile) {
			t.Errorf("%s: %d of %d conversations were compared", profile, n, want)
		}
	}
	if len(compared) < 12 {
		t.Errorf("only these profiles have rows: %v", compared)
	}
}

// TestLeakAnswersAlikeOnADay compares all profiles of a corpus of the sample day, whose rows of config
// rl have the requests of problems, with every third problem held out without its first words.
func TestLeakAnswersAlikeOnADay(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(wholeDay, "problems.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var bank strings.Builder
	n := 0
	for line := range strings.Lines(string(text)) {
		if n++; n%3 != 0 {
			continue
		}
		words := strings.Fields(gjson.Get(line, "query").String())
		fmt.Fprintf(&bank, `{"id":"cut-%d","text":%q}`+"\n", n, strings.Join(words[len(words)/3:], " "))
	}
	dir := t.TempDir()
	heldOut := filepath.Join(dir, "held.jsonl")
	if err := os.WriteFile(heldOut, []byte(bank.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	built := filepath.Join(dir, "built")
	must(t, cli.ExitOK, "build", wholeDay, "-o", built, "-q")
	compared := compareProfiles(t, built, heldOut, func(string, string) bool { return false })
	for _, p := range export.All() {
		if compared[p.Name] == 0 {
			t.Errorf("%s: nothing was compared", p.Name)
		}
	}
}

// Package survey reads the traces of agents. It proposes a domain for them, and measures which
// instruments work on the attempts of a domain.
package survey

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/guard/lexical"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/text"
	"github.com/trajectory-arena/arena/judges/grounding"
)

// Survey is a count of the properties of traces, from which a domain is proposed.
type Survey struct {
	attempts int
	// named is the number of attempts with the ID of their task, logged that of attempts with the
	// log of a gateway.
	named, logged int
	formats       map[string]int
	tools         map[string]*tool
	// rewards counts attempts by the reward that they declare, errors by the type of the error with
	// which they ended.
	rewards map[float64]int
	errors  map[string]int
	// evidence counts attempts by the kinds of data that their thinking cites from results,
	// currencies by those that their requests name.
	evidence   map[string]int
	currencies map[string]int
}

// tool is what the traces show of one tool: the attempts that call it, the names of the arguments
// that contain words, and the names of those that contain IDs.
type tool struct {
	// attempts counts the attempts that call the tool, endings those whose last call is one of the tool
	// without a result.
	attempts   int
	endings    int
	words, ids map[string]bool
}

// New returns a survey without attempts.
func New() *Survey {
	return &Survey{
		formats: map[string]int{},
		tools:   map[string]*tool{},
		rewards: map[float64]int{},
		errors:  map[string]int{},

		evidence:   map[string]int{},
		currencies: map[string]int{},
	}
}

// Attempts returns the number of attempts that were added.
func (s *Survey) Attempts() int { return s.attempts }

// Add adds an attempt to the survey.
func (s *Survey) Add(t *arena.Trace, d *arena.Dialogue) {
	s.attempts++
	s.formats[string(t.Source.Shape)]++
	if t.ProblemID != "" {
		s.named++
	}
	if t.Source.HasProxyLog {
		s.logged++
	}
	if t.Declared != nil {
		s.rewards[*t.Declared]++
	}
	if t.Error != nil {
		s.errors[cmp.Or(text.Line(t.Error.Type), "error")]++
	}
	for _, kind := range grounding.Kinds(t, d) {
		s.evidence[string(kind)]++
	}
	for _, code := range lexical.Currencies(t.Query) {
		s.currencies[code]++
	}
	called := map[string]bool{}
	var last *arena.Call
	for i := range d.Turns {
		for j := range d.Turns[i].Calls {
			last = &d.Turns[i].Calls[j]
			s.addCall(last, called)
		}
	}
	if last != nil && last.Result.Kind() == arena.Absent && s.tools[last.Name] != nil {
		s.tools[last.Name].endings++
	}
}

// maxTools is the maximum number of tools that are counted, maxArguments that of arguments of
// one tool.
const (
	maxTools     = 256
	maxArguments = 32
)

// addCall counts a tool call of an attempt and the names of its arguments. called has the tools
// that the attempt called before, to which addCall adds this one.
func (s *Survey) addCall(c *arena.Call, called map[string]bool) {
	t := s.tools[c.Name]
	if t == nil {
		if len(s.tools) == maxTools {
			return
		}
		t = &tool{words: map[string]bool{}, ids: map[string]bool{}}
		s.tools[c.Name] = t
	}
	if !called[c.Name] {
		called[c.Name] = true
		t.attempts++
	}
	for key, value := range gjson.Parse(string(c.Arguments)).ForEach {
		name := key.Str
		switch {
		case len(t.words)+len(t.ids) >= maxArguments:
		case isID(name):
			t.ids[name] = true
		case value.Type == gjson.String:
			t.words[name] = true
		}
	}
}

// isID reports whether an argument contains IDs, judged by its name: id, ids, or a name that ends
// in _id or _ids, in any case.
func isID(name string) bool {
	singular := strings.TrimSuffix(strings.ToLower(name), "s")
	return singular == "id" || strings.HasSuffix(singular, "_id")
}

// The first words of tool names that change the world, those of tools that search, and the names of
// tools that end an attempt.
var (
	actingVerbs = strings.Fields(`
		add book buy cancel change create delete edit exchange insert make modify move order pay place
		refund remove renew replace return run send set submit update waive write
	`)
	searchingVerbs = strings.Fields("browse find list look lookup query search")
	endingNames    = []string{"done", "end", "exit", "finish", "submit", "terminate", "transfer_to_human", "transfer_to_human_agents"}
)

// role returns what the tool with this name probably does, judged by its results, name and
// arguments: end an attempt, as in most attempts that call it its last call has no result, change
// something, search, or else ask for something, which says the least. It never returns RoleOpen
// (shows one item), because the filter would count IDs opened by such a tool as invented unless
// results have one certain form.
func (t *tool) role(name string) domain.Role {
	verb, _, _ := strings.Cut(strings.ToLower(name), "_")
	switch {
	case 2*t.endings > t.attempts || slices.Contains(endingNames, strings.ToLower(name)):
		return domain.RoleEnd
	case slices.Contains(actingVerbs, verb):
		return domain.RoleAct
	case len(t.words) > 0 && slices.Contains(searchingVerbs, verb):
		return domain.RoleSearch
	}
	return domain.RoleAsk
}

// maxRecognised is the maximum number of tools by whose names a proposed domain (kind of task)
// recognises its attempts: those called in the most attempts.
const maxRecognised = 24

// roles are the comments of a proposed domain file on the keys of tools.
const roles = `# role: search finds things by words, search_within among those of one owner, open shows one thing, match compares one
# with the request, total computes a figure, act changes the world, commit gives the answer or makes the change that
# counts, end ends the attempt, ask is any other. words and ids: the arguments with words of a search, and with ids.
`

// Propose returns a proposed domain file as YAML. Comments in it state the counts behind each
// proposal.
func (s *Survey) Propose(name string) []byte {
	var b strings.Builder
	title := strings.ToUpper(name[:1]) + name[1:]
	fmt.Fprintf(&b, "# Proposed from %d attempts; correct what is wrong. docs/domains.md explains the keys.\n", s.attempts)
	fmt.Fprintf(&b, "name: %s\ntitle: %s agent trajectories\n", name, title)
	fmt.Fprintf(&b, "# formats: %s; %d attempts have the id of their task, %d the log of a gateway\n", counted(s.formats), s.named, s.logged)
	tools := slices.SortedFunc(maps.Keys(s.tools), func(x, y string) int {
		return cmp.Or(cmp.Compare(s.tools[y].attempts, s.tools[x].attempts), strings.Compare(x, y))
	})
	tools = slices.DeleteFunc(tools, func(name string) bool { return !isPlain(name) })
	if len(tools) > 0 {
		named := tools[:min(len(tools), maxRecognised)]
		fmt.Fprintf(&b, "recognise:\n  tools: [%s] # %d of %d tools, those of most attempts\n%stools:\n", strings.Join(named, ", "), len(named), len(tools), roles)
	}
	for _, name := range tools {
		t := s.tools[name]
		fmt.Fprintf(&b, "  %s: {role: %s%s%s} # in %d attempts\n", name, t.role(name), list("words", t.words), list("ids", t.ids), t.attempts)
	}
	b.WriteString(s.outcome())
	b.WriteString("unlogged: keep\n")
	if len(s.evidence) > 0 {
		fmt.Fprintf(&b, "# thinking cites from results: %s\nevidence: [%s]\n", counted(s.evidence), strings.Join(slicesx.SortedKeys(s.evidence), ", "))
	}
	if len(s.currencies) > 0 {
		fmt.Fprintf(&b, "# currencies in requests: %s; lexicon.currencies needs rates if amounts in several are to be compared\n", counted(s.currencies))
	}
	return []byte(b.String())
}

// outcome returns, for a proposed domain file (the description of a kind of task), the YAML lines
// of the key "outcome", which says how attempts are scored. Comments in them state how many rewards
// and errors the traces have.
func (s *Survey) outcome() string {
	var b strings.Builder
	stated := 0
	rewards := slicesx.SortedKeys(s.rewards)
	for _, n := range s.rewards {
		stated += n
	}
	fmt.Fprintf(&b, "# rewards: stated by %d of %d attempts", stated, s.attempts)
	const shown = 8
	if len(rewards) <= shown {
		for _, r := range rewards {
			fmt.Fprintf(&b, ", %g in %d", r, s.rewards[r])
		}
	} else {
		fmt.Fprintf(&b, ", from %g to %g", rewards[0], rewards[len(rewards)-1])
	}
	if len(s.errors) > 0 {
		fmt.Fprintf(&b, "\n# errors: %s; list in agent_errors those that are the agent's own", counted(s.errors))
	}
	fmt.Fprintf(&b, "\noutcome:\n  from: declared\n  pass: %g\n  agent_errors: []\n", s.pass())
	return b.String()
}

// pass returns the reward that a proposed domain calls solved: the highest one, or 1 if none is above 0.
func (s *Survey) pass() float64 {
	highest := 0.0
	for reward := range s.rewards {
		highest = max(highest, reward)
	}
	return cmp.Or(highest, 1)
}

// Warning returns what to correct in the outcome of a proposed domain, "" if nothing seems wrong.
func (s *Survey) Warning() string {
	rewards := slicesx.SortedKeys(s.rewards)
	switch {
	case len(rewards) == 0:
		return "no attempt states a reward that is read, so that nothing says which are solved: give each its `reward`, a number (docs/how-to/my-agents.md)"
	case rewards[0] < 0 && rewards[len(rewards)-1] <= 0:
		return fmt.Sprintf("outcome.pass is %g, and no reward that was seen is above 0: set it to the lowest reward that means solved", s.pass())
	case s.pass() != 1:
		return fmt.Sprintf("outcome.pass is %g, the highest reward that was seen: correct it if a lower one means solved", s.pass())
	}
	return ""
}

// isPlain reports whether the name of a tool or argument can be a YAML key without quotes.
func isPlain(name string) bool {
	isOther := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_'
	}
	return name != "" && (name[0] < '0' || name[0] > '9') && !strings.ContainsFunc(name, isOther)
}

// list returns the YAML text ", key: [names]" with those names that need no quotes, sorted. It
// returns "" if there are none.
func list(key string, names map[string]bool) string {
	plain := slices.DeleteFunc(slicesx.SortedKeys(names), func(name string) bool { return !isPlain(name) })
	if len(plain) == 0 {
		return ""
	}
	return ", " + key + ": [" + strings.Join(plain, ", ") + "]"
}

// counted returns the keys of a map with their counts as text, the largest count first.
func counted(counts map[string]int) string {
	keys := slices.SortedFunc(maps.Keys(counts), func(x, y string) int {
		return cmp.Or(cmp.Compare(counts[y], counts[x]), strings.Compare(x, y))
	})
	return strings.Join(slicesx.Map(keys, func(k string) string {
		return fmt.Sprintf("%s %d", k, counts[k])
	}), ", ")
}

package pipeline

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/traces"
)

// withRuling prepares an attempt whose outcome a verifier or its source decided to be made a
// training row. It sets facts.Harness to the system prompt and tools of the trace, and
// facts.Metadata to what is known of the source and of the verifier's decision. It returns rec or, if
// a verifier scored the attempt, a copy in which user messages are merged into tool results.
func withRuling(rec *arena.Record, facts *rows.Facts, d *runDomain) *arena.Record {
	r := rec.Trace.Ruling
	if r == nil {
		return rec
	}
	if r.Declared {
		facts.Harness, facts.Metadata = finish.SourceFacts(rec, d.Domain)
		return rec
	}
	out := *rec
	out.Dialogue.Turns = mergeUserTurns(rec.Dialogue.Turns)
	facts.Harness, facts.Metadata = finish.SourceFacts(&out, d.Domain)
	maps.Copy(facts.Metadata, map[string]any{
		"contract":      rec.Trace.Source.Shape,
		"pack":          rec.Trace.Agent.Suite,
		"category":      r.Category,
		"ending":        r.Ending,
		"checks_passed": r.Passed,
		"checks_failed": r.Failed,
		"flags":         r.Flags,
	})
	return &out
}

// mergeUserTurns moves each user message that directly follows a call with a result into that
// result, where the original session had it. A training row cannot have a user message in this
// position, because no chat template does.
func mergeUserTurns(turns []arena.Turn) []arena.Turn {
	out := make([]arena.Turn, 0, len(turns))
	for _, t := range turns {
		merged := t.User != "" && len(out) > 0 && addToResult(&out[len(out)-1], t.User)
		if !merged {
			out = append(out, t)
		}
	}
	return out
}

// addToResult replaces the result of a turn's last call by a JSON object with the result and a
// user's message. It returns false and changes nothing if the turn has no call, if the last call
// has no result, or if the result is invalid JSON.
func addToResult(t *arena.Turn, message string) bool {
	n := len(t.Calls) - 1
	if n < 0 || t.Calls[n].Result.Kind() == arena.Absent {
		return false
	}
	result, err := chat.Marshal(map[string]any{
		"observation":  json.RawMessage(t.Calls[n].Result),
		"user_message": message,
	})
	if err != nil {
		return false
	}
	t.Calls = slices.Clone(t.Calls)
	t.Calls[n].Result = arena.Raw(result)
	return true
}

// task is a problem as the traces of its attempts record it. Query is the request, Family its
// category.
type task struct {
	ID     string `json:"problem_id"`
	Query  string `json:"query"`
	Family string `json:"category"`
	// domain is the name of the domain (kind of task, such as coding) of its attempts.
	domain string
	// isDeclared reports whether the source of its attempts, and no verifier, states their
	// outcomes.
	isDeclared bool
}

// errNoRuling ends the reading of a file at an attempt whose outcome neither a verifier nor its
// source decided. The problems of such attempts cannot be derived from their traces.
var errNoRuling = errors.New("no attempt with an outcome of its own")

// deriveProblems adds the problems of those input folders (days) that have no problems file. It
// takes them from the attempts, if a verifier or the source decided their outcome: such traces
// record the problem's ID, request and category. It adds them to d.Files as one file, since stored
// results depend on them. It does nothing if the user named problems files.
func (d *Day) deriveProblems(ctx context.Context, src Sources) error {
	if len(src.Problems) > 0 {
		return nil
	}
	tasks := tasks{}
	for _, day := range src.Days {
		if day == traces.Stdin || len(traces.SideFiles(day, traces.TablePattern("problems"))) > 0 {
			continue
		}
		unread, err := tasks.read(ctx, day, src.Domains, src.Limits)
		if err != nil {
			return err
		}
		if d.unread == nil {
			d.unread = unread
		}
	}
	if len(tasks) == 0 {
		return nil
	}
	names := tasks.divide()
	tasks.removeTemplates()
	var text bytes.Buffer
	keys := tasks.keys()
	for _, key := range keys {
		if err := json.NewEncoder(&text).Encode(tasks[key]); err != nil {
			return fmt.Errorf("write problem %q: %w", key.id, err)
		}
	}
	d.derived = len(tasks)
	d.Files = append(d.Files, File{Input: corpus.Input{
		Kind:    kindProblems,
		SHA256:  digest.SHA256(text.Bytes()),
		Bytes:   int64(text.Len()),
		Records: int64(len(tasks)),
	}})
	problems, err := arena.ReadProblems(&text, maxProblem)
	if err != nil {
		return fmt.Errorf("read problems of attempts: %w", err)
	}
	for i, key := range keys {
		problems[i].Domain = tasks[key].domain
	}
	d.Problems.names = names
	return d.Problems.add("the attempts", problems)
}

// tasks are the problems that were found in the traces of attempts.
type tasks map[taskKey]*task

// taskKey distinguishes the tasks of attempts. An ID alone is not enough, since the tasks of two
// benchmarks, or of two parts of one, may have the same one. text is therefore a text that all
// attempts at a task have in common, empty if none is known. isWorded is set if the text is a request
// that each program may put in words of its own.
type taskKey struct {
	id, text string
	isWorded bool
}

// newTaskKey returns the key of the task of an attempt whose outcome a verifier or its source
// decided. The text is the request of an episode, and otherwise the instruction to the simulated
// customer. Without an instruction it is the request, unless a customer writes more: simulated
// customers word each request anew. An ID of digits only counts the tasks of one benchmark, so that
// the text then has the system prompt, too.
func newTaskKey(t *arena.Trace, d *arena.Dialogue) taskKey {
	hasCustomer := slices.ContainsFunc(d.Turns, func(turn arena.Turn) bool { return turn.User != "" })
	key := taskKey{id: t.ProblemID}
	if t.ProblemID == "" || !t.Ruling.Declared {
		key.text = t.Query
		return key
	}
	if key.text = t.Task; key.text != "" {
		return key
	}
	isNumber := strings.Trim(key.id, "0123456789") == ""
	if isNumber {
		key.text = t.System
	}
	if !hasCustomer {
		key.text += t.Query
		key.isWorded = !isNumber
	}
	return key
}

// name returns the ID of a task that shares its ID with others: the ID with a hash of its text.
func (k taskKey) name() string {
	if k.text == "" {
		return k.id
	}
	return k.id + "~" + digest.SHA256([]byte(k.text))[:8]
}

func compareTaskKeys(a, b taskKey) int {
	return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.text, b.text))
}

// keys returns the keys in order.
func (s tasks) keys() []taskKey { return slices.SortedFunc(maps.Keys(s), compareTaskKeys) }

// divide finds the IDs that several tasks share, and adds to each of these tasks a hash of its text.
// It returns the new ID of the task of each key.
func (s tasks) divide() map[taskKey]string {
	names := map[taskKey]string{}
	byID := map[string][]taskKey{}
	for _, key := range s.keys() {
		byID[key.id] = append(byID[key.id], key)
	}
	delete(byID, "")
	for _, keys := range byID {
		groups := groupKeys(keys)
		for _, group := range groups {
			first := s[group[0]]
			if len(groups) > 1 {
				first.ID = group[0].name()
			}
			for _, key := range group {
				names[key] = first.ID
				if key != group[0] {
					first.addFamily(s[key].Family)
					delete(s, key)
				}
			}
		}
	}
	return names
}

// groupKeys returns keys of one ID in groups, those of one task in a group. Attempts without a text
// are at the only task that has one. If only one of the texts is not worded by programs, attempts
// with other texts are at its task, too.
func groupKeys(keys []taskKey) [][]taskKey {
	var empty []taskKey // at most one, the first
	if keys[0].text == "" {
		empty, keys = keys[:1], keys[1:]
	}
	if len(keys) == 0 {
		return [][]taskKey{empty}
	}
	groups := alike(keys)
	isFixed := func(k taskKey) bool { return !k.isWorded }
	i := slices.IndexFunc(keys, isFixed)
	if i >= 0 && !slices.ContainsFunc(keys[i+1:], isFixed) {
		others := slices.Delete(slices.Clone(keys), i, i+1)
		groups = [][]taskKey{append([]taskKey{keys[i]}, others...)}
	}
	switch {
	case len(empty) == 0:
	case len(groups) == 1:
		groups[0] = append(groups[0], empty...)
	default:
		groups = append(groups, empty)
	}
	return groups
}

// minAlike is the share of the different words of the shorter text of two, 0 to 1, that the longer
// one must have if both are texts of one task. Requests of one coding task in the words of different
// programs share at least .95 (927 pairs, 45 of them of two programs); of 1,177 pairs of requests of
// other tasks with one ID in a public set of 215, one shares more than .8.
const minAlike = 0.8

// maxTexts is the maximum number of texts of one ID that are compared. More of them are taken as
// tasks of their own.
const maxTexts = 1000

// alike returns keys of one ID in groups, those of one task in a group: their texts are alike, or
// equal unless they are worded by programs.
func alike(keys []taskKey) [][]taskKey {
	var groups [][]taskKey
	var words []map[string]bool // of the first text of each group
	for _, key := range keys {
		own := map[string]bool{}
		for w := range strings.FieldsFuncSeq(strings.ToLower(key.text), isNoWord) {
			own[w] = true
		}
		i := -1
		if key.isWorded && len(keys) <= maxTexts {
			i = slices.IndexFunc(words, func(o map[string]bool) bool { return areAlike(own, o) })
		}
		if i < 0 {
			groups = append(groups, nil)
			words = append(words, own)
			i = len(groups) - 1
		}
		groups[i] = append(groups[i], key)
	}
	return groups
}

func isNoWord(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsNumber(c) }

// areAlike reports whether the larger of two sets of words has the share minAlike of the other one.
func areAlike(a, b map[string]bool) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	shared := 0
	for w := range a {
		if b[w] {
			shared++
		}
	}
	return float64(shared) >= minAlike*float64(len(a))
}

// read reads the traces in an input folder (day) and adds the problem of each attempt. In each file
// it stops at the first attempt without an outcome. If the folder has no readable attempt, unread
// is an ErrNoAttempt that names the first fault.
func (s tasks) read(
	ctx context.Context,
	day string,
	domains *domain.Set,
	limits traces.Limits,
) (unread, err error) {
	inputs, err := traces.Discover(day)
	if err != nil {
		return nil, err
	}
	options := traces.Options{Limits: limits}
	attempts := 0
	for i := range inputs {
		_, err := traces.Read(ctx, inputs[i], options, func(item traces.Item) error {
			if f := item.Fault; f != nil && unread == nil {
				unread = fmt.Errorf("%w: %s, line %d: %s: %s", ErrNoAttempt, inputs[i].Title(), f.Line, f.Reason, f.Detail)
			}
			if item.Trace == nil {
				return nil
			}
			attempts++
			dialogue := filters.Normalise(item.Trace)
			d := domains.Recognise(item.Trace, &dialogue, domain.Base)
			t := d.Ruled(item.Trace)
			if t.Ruling == nil {
				return errNoRuling
			}
			if slices.Contains(t.Vetoes, domain.VetoSeveral) {
				return nil
			}
			s.add(t, &dialogue, d)
			return nil
		})
		if err != nil && !errors.Is(err, errNoRuling) {
			return nil, err
		}
	}
	if attempts > 0 {
		return nil, nil
	}
	return unread, nil
}

// minTemplated is the minimum number of tasks of a domain at which lines that most of them share
// count as a template. Two or three tasks may share a line of their own.
const minTemplated = 4

// removeTemplates removes from the requests the lines that more than half of the tasks of a domain
// (kind of task) have in common. Such lines are the template in which a test program wraps each
// task, and would look like protected text in every attempt. It changes only tasks that have an ID
// and a declared outcome, in domains with at least minTemplated of them, and no request that
// consists of such lines alone.
func (s tasks) removeTemplates() {
	byDomain := map[string][]*task{}
	for _, t := range s {
		if t.isDeclared && t.ID != "" {
			byDomain[t.domain] = append(byDomain[t.domain], t)
		}
	}
	for _, all := range byDomain {
		counts := map[string]int{}
		for _, t := range all {
			lines := slices.Sorted(strings.Lines(t.Query))
			for _, line := range slices.Compact(lines) {
				counts[line]++
			}
		}
		for _, t := range all {
			own := slices.DeleteFunc(slices.Collect(strings.Lines(t.Query)), func(line string) bool {
				return 2*counts[line] > len(all)
			})
			remaining := strings.TrimSpace(strings.Join(own, ""))
			if len(all) >= minTemplated && remaining != "" {
				t.Query = remaining
			}
		}
	}
}

// add adds the task of an attempt whose outcome a verifier or its source decided, unless the task
// is unknown. Its text is the instruction to the simulated customer if there is one. Otherwise it
// is the request; of different ones, as simulated customers write them, the first in bytewise order.
func (s tasks) add(t *arena.Trace, dialogue *arena.Dialogue, d *domain.Domain) {
	isDeclared := t.Ruling.Declared
	isUnknown := t.ProblemID == "" && (t.Query == "" || !isDeclared)
	if isUnknown {
		return
	}
	key := newTaskKey(t, dialogue)
	query := cmp.Or(t.Task, t.Query)
	q, ok := s[key]
	if !ok {
		q = &task{
			ID:     t.ProblemID,
			Query:  query,
			Family: d.Family(t),
			domain: d.Name,

			isDeclared: isDeclared,
		}
		s[key] = q
	}
	precedes := q.Query == "" || query < q.Query
	if query != "" && precedes {
		q.Query = query
	}
	if !isDeclared {
		q.addFamily(d.Family(t))
	}
}

// addFamily sets the category of an episode's problem, unless an attempt stated it already.
func (t *task) addFamily(family string) {
	if t.Family == domain.EpisodeFamily {
		t.Family = family
	}
}

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

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/pipeline/halves"
	"github.com/trajectory-arena/arena/pipeline/taskid"
	"github.com/trajectory-arena/arena/traces"
)

// task is a problem as the traces of its attempts record it. Query is the request, Family its
// category.
type task struct {
	ID     string `json:"problem_id"`
	Query  string `json:"query"`
	Family string `json:"category"`
	// domain is the name of the domain (kind of task, such as coding) of its attempts.
	domain string
	// isDeclared reports whether no verifier states the outcomes of its attempts.
	isDeclared bool
}

// errNoRuling ends the reading of a file at an attempt whose outcome neither a verifier nor its
// source decided. The problems of such attempts cannot be derived from their traces.
var errNoRuling = errors.New("no attempt with an outcome of its own")

// deriveProblems adds the problems of those input folders (days) that have no problems file. It
// takes them from the attempts, if a verifier or the source decided their outcome: such traces
// record the problem's ID, request and category. It adds them to d.Files as one file, since stored
// results depend on them. It does nothing if the user named problems files. For attempts as they were
// recorded, it takes the problems of all attempts, with or without an outcome.
func (d *Day) deriveProblems(ctx context.Context, src Sources) error {
	if len(src.Problems) > 0 && !src.recorded {
		return nil
	}
	r := taskReader{src: src, halves: d.halves, tasks: tasks{}}
	var all []traces.Input
	for _, day := range src.Days {
		hasFile := day != traces.Stdin && len(traces.SideFiles(day, traces.TablePattern("problems"))) > 0
		if hasFile && !src.recorded {
			continue
		}
		inputs, err := d.inputsOf(day)
		if err != nil {
			return err
		}
		unread, err := r.read(ctx, inputs)
		if err != nil {
			return err
		}
		if d.unread == nil {
			d.unread = unread
		}
		all = append(all, inputs...)
	}
	if err := r.readAnswers(ctx, all); err != nil {
		return err
	}
	return d.addTasks(r.tasks)
}

// addTasks adds the problems of attempts.
func (d *Day) addTasks(tasks tasks) error {
	if len(tasks) == 0 {
		return nil
	}
	names := tasks.divide()
	tasks.removeTemplates()
	var text bytes.Buffer
	keys := tasks.keys()
	for _, key := range keys {
		if err := json.NewEncoder(&text).Encode(tasks[key]); err != nil {
			return fmt.Errorf("write problem %q: %w", key.ID, err)
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

// inputsOf returns the files of an input folder (day), or the copy of standard input.
func (d *Day) inputsOf(day string) ([]traces.Input, error) {
	if day != traces.Stdin {
		return traces.Discover(day)
	}
	i := slices.IndexFunc(d.Inputs, func(in traces.Input) bool { return in.Name == traces.Stdin })
	return d.Inputs[i : i+1], nil
}

// tasks are the problems that were found in the traces of attempts.
type tasks map[taskid.Key]*task

// keys returns the keys in order.
func (s tasks) keys() []taskid.Key { return slices.SortedFunc(maps.Keys(s), taskid.Compare) }

// divide joins the tasks that are one, and gives tasks that share an ID one of their own. It returns
// the new IDs by the keys of the attempts.
func (s tasks) divide() map[taskid.Key]string {
	names := map[taskid.Key]string{}
	for _, t := range taskid.Divide(slices.Collect(maps.Keys(s))) {
		first := s[t.Keys[0]]
		first.ID = t.ID
		for _, key := range t.Keys {
			if t.ID != key.ID {
				names[key] = t.ID
			}
			if key != t.Keys[0] {
				first.addFamily(s[key].Family)
				delete(s, key)
			}
		}
	}
	return names
}

// taskReader reads problems from the traces of attempts.
type taskReader struct {
	src    Sources
	halves *halves.Halves
	tasks  tasks
}

// read reads the traces of a day and adds the problem of each attempt, and prompts and answers in
// records of their own to the halves. In each file it stops at the first attempt without an outcome,
// unless attempts are taken as they were recorded. If no attempt is readable, unread is an
// ErrNoAttempt that names the first fault.
func (r *taskReader) read(ctx context.Context, inputs []traces.Input) (unread, err error) {
	attempts := 0
	err = r.eachItem(ctx, inputs, func(in *traces.Input, item traces.Item) error {
		if f := item.Fault; f != nil && unread == nil {
			place := in.Title()
			if f.Line > 0 {
				place = fmt.Sprintf("%s, line %d", place, f.Line)
			}
			unread = fmt.Errorf("%w: %s: %s: %s", ErrNoAttempt, place, f.Reason, f.Detail)
		}
		if item.Trace == nil {
			return nil
		}
		attempts++
		r.halves.Add(item.Trace)
		if halves.IsAnswer(item.Trace) {
			return nil
		}
		return r.add(item.Trace)
	})
	if err != nil || attempts > 0 {
		return nil, err
	}
	return unread, nil
}

// readAnswers reads the traces again, if prompts and answers are in records of their own, and adds
// the problems of the answers.
func (r *taskReader) readAnswers(ctx context.Context, inputs []traces.Input) error {
	if !r.halves.HasPairs() {
		return nil
	}
	return r.eachItem(ctx, inputs, func(_ *traces.Input, item traces.Item) error {
		if item.Trace == nil || !halves.IsAnswer(item.Trace) {
			return nil
		}
		return r.add(r.halves.Join(item.Trace))
	})
}

// eachItem calls visit for the records of the inputs. If visit returns errNoRuling, the next input
// follows.
func (r *taskReader) eachItem(ctx context.Context, inputs []traces.Input, visit func(*traces.Input, traces.Item) error) error {
	options := traces.Options{Limits: r.src.Limits}
	for i := range inputs {
		_, err := traces.Read(ctx, inputs[i], options, func(item traces.Item) error {
			return visit(&inputs[i], item)
		})
		if err != nil && !errors.Is(err, errNoRuling) {
			return err
		}
	}
	return nil
}

// add adds the problem of an attempt. It returns errNoRuling if the attempt has no outcome, unless
// attempts are taken as they were recorded.
func (r *taskReader) add(t *arena.Trace) error {
	dialogue := filters.Normalise(t)
	d := r.src.Domains.Recognise(t, &dialogue, domain.Base)
	t = d.Ruled(t)
	if t.Ruling == nil && !r.src.recorded {
		return errNoRuling
	}
	if r.src.recorded && t.Task == "" {
		t = asRequest(t)
	}
	if !slices.Contains(t.Vetoes, domain.VetoSeveral) {
		r.tasks.add(t, &dialogue, d)
	}
	return nil
}

// asRequest returns a copy of an attempt whose problem is its request, whatever ID it states. In some
// data sets the ID does not identify a task.
func asRequest(t *arena.Trace) *arena.Trace {
	out := *t
	out.ProblemID = ""
	out.Ruling = nil
	return &out
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

// add adds the task of an attempt, unless the task is unknown. Its text is the instruction to the
// simulated customer if there is one. Otherwise it is the request; of different ones, as simulated
// customers write them, the first in bytewise order.
func (s tasks) add(t *arena.Trace, dialogue *arena.Dialogue, d *domain.Domain) {
	isDeclared := t.Ruling == nil || t.Ruling.Declared
	isUnknown := t.ProblemID == "" && (t.Query == "" || !isDeclared)
	if isUnknown {
		return
	}
	key := taskid.KeyOf(t, dialogue)
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
	// the order of the files must not decide
	q.domain = min(q.domain, d.Name)
	if isDeclared {
		q.Family = min(q.Family, d.Family(t))
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

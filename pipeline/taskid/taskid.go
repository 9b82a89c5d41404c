// Package taskid tells tasks apart that share an ID: two benchmarks, or two parts of one, may number
// their tasks alike.
package taskid

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/digest"
)

// Key is what an attempt states about its task. Attempts with equal keys are at one task.
type Key struct {
	// ID is the ID of the task, "" if the attempt states none.
	ID string
	// system is the system prompt, if the ID has only digits: such an ID counts the tasks of one
	// benchmark.
	system string
	text   string
	kind   kind
}

// kind is what the text of a key is. The order is that in which keys are compared: the first key of a
// task is the one that says the most.
type kind int

// The kinds of texts.
const (
	// fixed is the same text in all attempts: the instruction to a simulated customer, or the request
	// of an episode.
	fixed kind = iota
	// worded is a request that each program may put in words of its own.
	worded
	// spoken is no text: a customer writes more than the request, and words it anew in each attempt.
	spoken
	// absent is no text: the attempt has neither instruction nor request.
	absent
)

// KeyOf returns the key of an attempt.
func KeyOf(t *arena.Trace, d *arena.Dialogue) Key {
	key := Key{ID: t.ProblemID, text: t.Query}
	isEpisode := t.Ruling != nil && !t.Ruling.Declared
	hasCustomer := slices.ContainsFunc(d.Turns, func(turn arena.Turn) bool { return turn.User != "" })
	switch {
	case t.ProblemID == "" || isEpisode:
	case t.Task != "":
		key.text = t.Task
	case hasCustomer:
		key.text = ""
		key.kind = spoken
	default:
		key.kind = worded
	}
	if key.text == "" && key.kind != spoken {
		key.kind = absent
	}
	isNumber := key.ID != "" && strings.Trim(key.ID, "0123456789") == ""
	if isNumber && !isEpisode && t.Task == "" {
		key.system = t.System
	}
	return key
}

// Compare orders keys by ID, system prompt, kind and text.
func Compare(a, b Key) int {
	return cmp.Or(
		cmp.Compare(a.ID, b.ID),
		cmp.Compare(a.system, b.system),
		cmp.Compare(a.kind, b.kind),
		cmp.Compare(a.text, b.text),
	)
}

// name returns the ID of a task that shares its ID with others: the ID with a hash of its texts.
func (k Key) name() string {
	if k.system+k.text == "" {
		return k.ID
	}
	return k.ID + "~" + digest.SHA256([]byte(k.system + k.text))[:16]
}

// Task is a task with the keys of its attempts, in their order.
type Task struct {
	// ID is that of the keys, with a hash if several tasks share it. Tasks without an ID get none.
	ID   string
	Keys []Key
}

// Divide returns the tasks of attempts with these keys, in the order of their IDs. The order of the
// keys does not matter.
func Divide(keys []Key) []Task {
	keys = slices.SortedFunc(slices.Values(keys), Compare)
	var divided []Task
	for len(keys) > 0 {
		n := 1
		for n < len(keys) && keys[n].ID == keys[0].ID {
			n++
		}
		tasks := ofOneID(keys[:n])
		for _, t := range tasks {
			if len(tasks) > 1 && t.ID != "" {
				t.ID = t.Keys[0].name()
			}
			divided = append(divided, t)
		}
		keys = keys[n:]
	}
	return divided
}

// ofOneID returns the tasks of sorted keys with one ID.
func ofOneID(keys []Key) []Task {
	var tasks []Task
	if keys[0].ID == "" {
		for i, k := range keys {
			tasks = append(tasks, Task{Keys: keys[i : i+1], ID: k.ID})
		}
		return tasks
	}
	for len(keys) > 0 {
		n := 1
		for n < len(keys) && keys[n].system == keys[0].system {
			n++
		}
		tasks = append(tasks, ofOneBenchmark(keys[:n])...)
		keys = keys[n:]
	}
	if len(tasks) == 2 && tasks[0].Keys[0].system == "" && tasks[0].Keys[0].kind == absent {
		tasks = []Task{join(tasks[1], tasks[0])}
	}
	return tasks
}

// ofOneBenchmark returns the tasks of sorted keys with one ID and one system prompt. Attempts in which
// a customer speaks are at one task, as are those in which it fell silent early. Attempts without a
// text are at the only task there is, and requests at the only instruction unless they differ.
func ofOneBenchmark(keys []Key) []Task {
	var fixedTasks, wordedTasks []Task
	var unnamed []Key
	hasCustomer := slices.ContainsFunc(keys, func(k Key) bool { return k.kind == spoken })
	for _, k := range keys {
		switch {
		case k.kind == fixed:
			fixedTasks = append(fixedTasks, Task{ID: k.ID, Keys: []Key{k}})
		case k.kind == absent && !hasCustomer:
			unnamed = append(unnamed, k)
		case hasCustomer && len(wordedTasks) > 0:
			wordedTasks[0] = join(wordedTasks[0], Task{Keys: []Key{k}})
		case hasCustomer:
			wordedTasks = []Task{{ID: k.ID, Keys: []Key{k}}}
		}
	}
	if !hasCustomer {
		wordedTasks = alike(slices.DeleteFunc(slices.Clone(keys), func(k Key) bool { return k.kind != worded }))
	}
	if len(fixedTasks) == 1 && len(wordedTasks) == 1 {
		fixedTasks[0] = join(fixedTasks[0], wordedTasks[0])
		wordedTasks = nil
	}
	tasks := slices.Concat(fixedTasks, wordedTasks)
	switch {
	case len(unnamed) == 0:
	case len(tasks) == 1:
		tasks[0] = join(tasks[0], Task{Keys: unnamed})
	default:
		tasks = append(tasks, Task{ID: unnamed[0].ID, Keys: unnamed})
	}
	return tasks
}

func join(a, b Task) Task {
	return Task{ID: a.ID, Keys: slices.Concat(a.Keys, b.Keys)}
}

const (
	// minAlike is the share of the different words of the shorter request of two, 0 to 1, that the
	// longer one must have if both are requests of one task. Requests of one coding task in the words
	// of different programs share at least .95 (927 pairs, 45 of them of two programs); of 1,177 pairs
	// of requests of other tasks with one ID in a public set of 215, one shares more than .8.
	minAlike = 0.8
	// minWords is the number of different words from which on minAlike holds. Shorter requests must
	// have the same words.
	minWords = 8
	// maxTexts is the maximum number of requests of one ID that are compared. More of them are tasks of
	// their own.
	maxTexts = 200
)

// alike returns the tasks of keys with one ID and different requests: a request is at the task of the
// first one that it is like.
func alike(keys []Key) []Task {
	var tasks []Task
	var requests []map[string]bool // the words of the first request of each task
	for _, k := range keys {
		i := -1
		if len(keys) <= maxTexts {
			words := wordsOf(k.text)
			i = slices.IndexFunc(requests, func(first map[string]bool) bool { return areAlike(words, first) })
			if i < 0 {
				requests = append(requests, words)
			}
		}
		if i < 0 {
			tasks = append(tasks, Task{ID: k.ID, Keys: []Key{k}})
			continue
		}
		tasks[i].Keys = append(tasks[i].Keys, k)
	}
	return tasks
}

func wordsOf(text string) map[string]bool {
	words := map[string]bool{}
	for w := range strings.FieldsFuncSeq(strings.ToLower(text), isNoWord) {
		words[w] = true
	}
	return words
}

func isNoWord(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsNumber(c) }

// areAlike reports whether the larger of two sets of words has the share minAlike of the other one, or
// whether both are the same if one of them is small.
func areAlike(a, b map[string]bool) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	mayMiss := int((1 - minAlike) * float64(len(a)))
	if len(a) < minWords {
		mayMiss = 0
		if len(a) != len(b) {
			return false
		}
	}
	for w := range a {
		if b[w] {
			continue
		}
		if mayMiss--; mayMiss < 0 {
			return false
		}
	}
	return true
}

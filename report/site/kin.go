package site

import (
	"cmp"
	"context"
	"hash/maphash"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/tidwall/gjson"
	"golang.org/x/sync/errgroup"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/internal/canonical"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/text"
	"github.com/trajectory-arena/arena/traces"
)

// The kinds of similarity of two agents. All but byPrompts compare the problems that both agents
// tried: by the sequence of tools, by the sequence of calls with arguments, by the sentences of
// thinking and text, by calls and thinking together, and by calls that no third agent makes.
// byPrompts compares the lines that a client sends at several problems, the only part of its
// program that traces show.
const (
	byTools = iota
	byCalls
	byThinking
	byCallsAndThinking
	byRareCalls
	byPrompts
	kinds
)

var kindNames = [kinds]string{"tools", "calls", "thinking", "calls and thinking", "calls of no third agent", "prompts"}

const (
	// minCalls is the minimum number of calls of an attempt whose sequence of calls is compared.
	minCalls = 2
	// minWords is the minimum number of words of a compared sentence that are not in the
	// request.
	minWords = 6
	// minLine is the minimum length in bytes of a line of a prompt for the comparison of agents.
	minLine = 24
	// maxPassage is the maximum length of a quoted passage in bytes.
	maxPassage = 300
)

// kinship collects the work of all agents of a day, to find agents that copy each other. It is safe
// for concurrent use. The result does not depend on the order of attempts.
type kinship struct {
	mu     sync.Mutex
	agents map[string]*author
	// texts has an example of each sentence, and of each prompt line that is sent at several
	// problems: the first in byte order.
	texts map[uint64]string
}

// author is an agent with its work by problem. lines maps the hash of each line of its prompts to
// the hash of the problem for which it sent the line, or to 0 if it sent the line for several
// problems.
type author struct {
	name     string
	work     map[string]*problemWork
	problems []string // the keys of work, sorted
	lines    map[uint64]uint64
	// prompts has the lines that were sent at several problems.
	prompts []uint64
}

// problemWork has the hashes of what an agent did at one problem in all its attempts, by kind:
// sequences of tools, sequences of calls, and sentences.
type problemWork [byCallsAndThinking][]uint64

// seed is the random seed of all hashes. Hashes are compared only within the process.
var seed = maphash.MakeSeed()

func hash(parts ...string) uint64 { return maphash.String(seed, strings.Join(parts, "\x00")) }

// add adds the work of an attempt to that of all agents that submitted the attempt. It does nothing
// if the attempt has no dialogue.
func (k *kinship) add(t *arena.Trace, agents []string) {
	if !t.HasDialogue || len(agents) == 0 {
		return
	}
	d := filters.Normalise(t)
	items, texts := workItems(t, &d)
	lines := promptLines(t)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.agents == nil {
		k.agents = map[string]*author{}
		k.texts = map[uint64]string{}
	}
	for i, h := range items[byThinking] {
		k.keepExample(h, texts[i])
	}
	for _, name := range agents {
		a := k.agents[name]
		if a == nil {
			a = &author{
				name:  name,
				work:  map[string]*problemWork{},
				lines: map[uint64]uint64{},
			}
			k.agents[name] = a
		}
		if a.work[t.ProblemID] == nil {
			a.work[strings.Clone(t.ProblemID)] = &problemWork{}
		}
		for kind, hashes := range items {
			a.work[t.ProblemID][kind] = append(a.work[t.ProblemID][kind], hashes...)
		}
		for h, line := range lines {
			switch before, known := a.lines[h]; {
			case !known:
				a.lines[h] = hash(t.ProblemID)
			case before != hash(t.ProblemID):
				a.lines[h] = 0
				k.keepExample(h, line)
			}
		}
	}
}

func (k *kinship) keepExample(h uint64, s string) {
	s = text.ClipBytes(strings.TrimSpace(s), maxPassage)
	if old, known := k.texts[h]; !known || s < old {
		k.texts[h] = strings.Clone(s)
	}
}

// workItems returns the hashes of what was done in an attempt, by kind: its sequence of tools,
// its sequence of calls, and its sentences. texts are the sentences themselves.
func workItems(t *arena.Trace, d *arena.Dialogue) (items problemWork, texts []string) {
	tools := []string{t.ProblemID}
	calls := []string{t.ProblemID}
	requestWords := slicesx.Set(words(t.Query))
	for i := range d.Turns {
		for _, c := range d.Turns[i].Calls {
			tools = append(tools, c.Name)
			calls = append(calls, c.Name, canonical.Form(string(c.Arguments)))
		}
		for _, s := range sentences(d.Turns[i].Think+"\n"+d.Turns[i].Text, requestWords) {
			items[byThinking] = append(items[byThinking], hash(normaliseSentence(s)))
			texts = append(texts, s)
		}
	}
	if len(tools) > minCalls {
		items[byTools] = []uint64{hash(tools...)}
		items[byCalls] = []uint64{hash(calls...)}
	}
	return items, texts
}

// promptLines returns the lines of the system and user messages that the agent's program sends to
// the model, by the hash of the line. The customer's request and lines shorter than minLine are
// left out.
func promptLines(t *arena.Trace) map[uint64]string {
	out := map[uint64]string{}
	for i := range t.Steps {
		for j := range t.Steps[i].Proxy {
			for _, m := range gjson.Get(string(t.Steps[i].Proxy[j].Body), "messages").ForEach {
				if role := m.Get("role").Str; role == "system" || role == "user" {
					for line := range strings.Lines(m.Get("content").Str) {
						if line = strings.TrimSpace(line); len(line) >= minLine && line != t.Query {
							out[hash(normaliseSentence(line))] = line
						}
					}
				}
			}
		}
	}
	return out
}

// sentenceEnds matches the end of a sentence. The point in a decimal number is not an end.
var sentenceEnds = regexp.MustCompile(`[.!?;](\s|$)|\n`)

// sentences splits thinking into sentences and returns those with at least minWords words that
// are not in the request. Other sentences may be templates that repeat the request.
func sentences(think string, requestWords map[string]bool) []string {
	return slices.DeleteFunc(sentenceEnds.Split(think, -1), func(s string) bool {
		added := slices.DeleteFunc(words(s), func(w string) bool {
			return requestWords[w]
		})
		return len(added) < minWords
	})
}

// words returns the words of a text in lower case. Every character that is not a letter
// separates words, so that numbers are left out.
func words(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r)
	})
}

// normaliseSentence returns a sentence in a form for comparisons: in lower case, with # in place of
// each digit and single spaces.
func normaliseSentence(s string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '#'
		}
		return r
	}, strings.ToLower(s))), " ")
}

// record identifies a record of an attempt by the hash of its input file and the hash of its own
// bytes.
type record [2]string

// agentsByRecord returns the agents of each record. A record can have several agents, since two
// agents may submit the same file.
func (c *Corpus) agentsByRecord() map[record][]string {
	agents := map[record][]string{}
	for _, line := range c.Ledger.Lines {
		a := line.Attempt
		r := record{a.SourceSHA256, a.RecordSHA256}
		name := cmp.Or(a.AgentHotkey, a.AgentVersion, a.RunID)
		agents[r] = slicesx.AppendUnique(agents[r], name)
	}
	return agents
}

func (c *Corpus) collectWork(ctx context.Context) error {
	agents := c.agentsByRecord()
	return c.eachTrace(ctx, func(r record, t *arena.Trace) error {
		c.kin.add(t, agents[r])
		return nil
	})
}

// eachTrace calls f for every trace in the input files of the corpus, from several goroutines.
func (c *Corpus) eachTrace(ctx context.Context, f func(record, *arena.Trace) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(1, c.Workers))
	for _, sha := range slicesx.SortedKeys(c.Days.Inputs) { // independent of paths
		input := c.Days.Inputs[sha]
		g.Go(func() error {
			_, err := traces.Read(ctx, input, traces.Options{Limits: c.Days.Limits}, func(it traces.Item) error {
				if it.Trace == nil {
					return nil
				}
				return f(record{input.SHA256, it.Trace.RecordSHA256}, it.Trace)
			})
			return err
		})
	}
	return g.Wait()
}

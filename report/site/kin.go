package site

import (
	"cmp"
	"context"
	"hash/maphash"
	"maps"
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

// The parts of their work in which two agents may be alike. Of all but prompts each
// problem counts that both tried: the tools in their order, the calls with their
// arguments in their order, the sentences of what the model thinks and says; calls and
// thinking both; calls that nobody else makes. Prompts are the lines that a client sends
// at several problems, all of its program that a trace shows.
const (
	byTools = iota
	byCalls
	byThinking
	byWhole
	byRareCalls
	byPrompts
	kinds
)

var kindNames = [kinds]string{"tools", "calls", "thinking", "calls and thinking", "calls of no third agent", "prompts"}

const (
	// leastCalls are how many calls say something of who chose them.
	leastCalls = 2
	// leastWords and leastLine are how many words of its own a sentence must have, beside
	// those of the request and figures, and how long a prompt's line must be, to say
	// something of who wrote them.
	leastWords = 6
	leastLine  = 24
	maxPassage = 300 // bytes of one
)

// kinship gathers what each agent of a day writes. It may be used by several
// goroutines; the order in which attempts come changes nothing.
type kinship struct {
	mu     sync.Mutex
	agents map[string]*author
	// texts are an example of each sentence, and of each line of a prompt that is sent
	// at several problems, the first in byte order.
	texts map[uint64]string
}

// author is an agent by its work at each problem, and by the lines of its prompts with
// the problem at which each was sent; 0 for several.
type author struct {
	name     string
	at       map[string]*work
	problems []string // those of at in order
	lines    map[uint64]uint64
	// prompts are the lines that it sends at several problems.
	prompts []uint64
}

// work are items of an agent at a problem by their kind, several attempts together.
type work [byWhole][]uint64

// seed is this process's: items are only compared.
var seed = maphash.MakeSeed()

func hash(parts ...string) uint64 { return maphash.String(seed, strings.Join(parts, "\x00")) }

// add takes an attempt for all agents that gave it in.
func (k *kinship) add(t *arena.Trace, agents []string) {
	if !t.HasDialogue || len(agents) == 0 {
		return
	}
	d := filters.Normalise(t)
	items, said := worked(t, &d)
	lines := prompted(t)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.agents == nil {
		k.agents, k.texts = map[string]*author{}, map[uint64]string{}
	}
	for i, h := range items[byThinking] {
		k.keep(h, said[i])
	}
	for _, name := range agents {
		a := k.agents[name]
		if a == nil {
			a = &author{name: name, at: map[string]*work{}, lines: map[uint64]uint64{}}
			k.agents[name] = a
		}
		if a.at[t.ProblemID] == nil {
			a.at[strings.Clone(t.ProblemID)] = &work{}
		}
		for kind, all := range items {
			a.at[t.ProblemID][kind] = append(a.at[t.ProblemID][kind], all...)
		}
		for h, line := range lines {
			switch before, known := a.lines[h]; {
			case !known:
				a.lines[h] = hash(t.ProblemID)
			case before != hash(t.ProblemID):
				a.lines[h] = 0
				k.keep(h, line)
			}
		}
	}
}

func (k *kinship) keep(h uint64, s string) {
	s = text.ClipBytes(strings.TrimSpace(s), maxPassage)
	if old, known := k.texts[h]; !known || s < old {
		k.texts[h] = strings.Clone(s)
	}
}

func worked(t *arena.Trace, d *arena.Dialogue) (items work, said []string) {
	tools, calls := []string{t.ProblemID}, []string{t.ProblemID}
	asked := map[string]bool{}
	for _, w := range words(t.Query) {
		asked[w] = true
	}
	for i := range d.Turns {
		for _, c := range d.Turns[i].Calls {
			tools, calls = append(tools, c.Name), append(calls, c.Name, canonical.Form(string(c.Arguments)))
		}
		for _, s := range sentences(d.Turns[i].Think+"\n"+d.Turns[i].Text, asked) {
			items[byThinking], said = append(items[byThinking], hash(framed(s))), append(said, s)
		}
	}
	if len(tools) > leastCalls {
		items[byTools], items[byCalls] = []uint64{hash(tools...)}, []uint64{hash(calls...)}
	}
	return items, said
}

// prompted are the lines of what the client itself writes into its requests.
func prompted(t *arena.Trace) map[uint64]string {
	out := map[uint64]string{}
	for i := range t.Steps {
		for j := range t.Steps[i].Proxy {
			for _, m := range gjson.Get(string(t.Steps[i].Proxy[j].Body), "messages").ForEach {
				if role := m.Get("role").Str; role == "system" || role == "user" {
					for line := range strings.Lines(m.Get("content").Str) {
						if line = strings.TrimSpace(line); len(line) >= leastLine && line != t.Query {
							out[hash(framed(line))] = line
						}
					}
				}
			}
		}
	}
	return out
}

// ends are where sentences do: a point within a figure ends none.
var ends = regexp.MustCompile(`[.!?;](\s|$)|\n`)

// sentences are those that have enough words which the request does not hold: what
// only fills it in is nobody's own.
func sentences(think string, asked map[string]bool) []string {
	return slices.DeleteFunc(ends.Split(think, -1), func(s string) bool {
		own := slices.DeleteFunc(words(s), func(w string) bool { return asked[w] })
		return len(own) < leastWords
	})
}

// words are those of a text that are no figures, in lower case.
func words(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) })
}

// framed is a sentence without its figures and without case and blanks.
func framed(s string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '#'
		}
		return r
	}, strings.ToLower(s))), " ")
}

// record names what was read: the hashes of its input and of itself.
type record [2]string

// agentsOf are the agents of each record that the ledger shows: two may hand in the
// same file.
func (c *Corpus) agentsOf() map[record][]string {
	all := map[record][]string{}
	for _, line := range c.Ledger.Lines {
		a := line.Attempt
		at, name := record{a.SourceSHA256, a.RecordSHA256}, cmp.Or(a.AgentHotkey, a.AgentVersion, a.RunID)
		all[at] = slicesx.AppendUnique(all[at], name)
	}
	return all
}

func (c *Corpus) meet(ctx context.Context) error {
	agents := c.agentsOf()
	return c.each(ctx, func(is record, t *arena.Trace) error {
		c.kin.add(t, agents[is])
		return nil
	})
}

// each gives every trace of the days to see, which several goroutines call.
func (c *Corpus) each(ctx context.Context, see func(record, *arena.Trace) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(1, c.Workers))
	for _, sha := range slices.Sorted(maps.Keys(c.Days)) { // an order that no path decides
		in := c.Days[sha]
		g.Go(func() error {
			_, err := traces.Read(ctx, in, traces.Defaults(), func(it traces.Item) error {
				if it.Trace == nil {
					return nil
				}
				return see(record{in.SHA256, it.Trace.RecordSHA256}, it.Trace)
			})
			return err
		})
	}
	return g.Wait()
}

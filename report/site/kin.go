package site

import (
	"cmp"
	"context"
	"hash/maphash"
	"math"
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
	"github.com/trajectory-arena/arena/internal/text"
	"github.com/trajectory-arena/arena/traces"
)

// The kinds of what two agents may share. Tools and arguments count at one problem:
// the course of tools of an attempt, a search with its words. Frames are sentences
// of thinking without their figures; code is lines of the prompts that a client
// sends, all of its program that a trace shows.
const (
	byTools = iota
	byArguments
	byFrames
	byCode
	kinds
)

var kindNames = [kinds]string{"tools", "arguments", "frames", "code"}

// A pair is copied where four fifths of what two agents write in one of the kinds but tools
// is the same, counted by its rarity over the day, and this is leastShared items or
// more: models of one make think alike now and then.
const (
	copied      = 0.8
	leastShared = 8
)

// leastWords and leastLine are how many words of its own a sentence must have, beside
// those of the request and figures, and how long a prompt's line must be, to say
// something of who wrote them.
const (
	leastWords = 6
	leastLine  = 24
	// showPassages are shown of each pair.
	showPassages = 5
	maxPassage   = 300
)

// kinship gathers what each agent of a day writes. It may be used by several
// goroutines; the order in which attempts come changes nothing.
type kinship struct {
	mu     sync.Mutex
	agents map[string]*[kinds]map[uint64]bool
	// texts are an example of each item of frames, the first in byte order.
	texts map[uint64]string
}

// seed is this process's: items are only compared.
var seed = maphash.MakeSeed()

func hash(parts ...string) uint64 { return maphash.String(seed, strings.Join(parts, "\x00")) }

// items are those of one attempt, with the sentences of its frames.
type items struct {
	by        [kinds][]uint64
	sentences []string
}

// add takes an attempt for all agents that gave it in.
func (k *kinship) add(t *arena.Trace, agents []string) {
	if !t.HasDialogue || len(agents) == 0 {
		return
	}
	d := filters.Normalise(t)
	found := &items{}
	found.dialogue(t, &d)
	found.prompts(t)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.agents == nil {
		k.agents, k.texts = map[string]*[kinds]map[uint64]bool{}, map[uint64]string{}
	}
	for _, name := range agents {
		if k.agents[name] == nil {
			k.agents[name] = &[kinds]map[uint64]bool{{}, {}, {}, {}}
		}
		for kind, all := range found.by {
			for _, h := range all {
				k.agents[name][kind][h] = true
			}
		}
	}
	for i, h := range found.by[byFrames] {
		s := text.ClipBytes(found.sentences[i], maxPassage)
		if old, known := k.texts[h]; !known || s < old {
			k.texts[h] = strings.Clone(s)
		}
	}
}

func (f *items) dialogue(t *arena.Trace, d *arena.Dialogue) {
	var tools []string
	asked := map[string]bool{}
	for _, w := range words(t.Query) {
		asked[w] = true
	}
	for i := range d.Turns {
		for _, c := range d.Turns[i].Calls {
			tools = append(tools, c.Name)
			f.by[byArguments] = append(f.by[byArguments], hash(t.ProblemID, c.Name, formed(c.Arguments)))
		}
		for _, s := range sentences(d.Turns[i].Think, asked) {
			f.by[byFrames], f.sentences = append(f.by[byFrames], hash(framed(s))), append(f.sentences, s)
		}
	}
	f.by[byTools] = append(f.by[byTools], hash(t.ProblemID, strings.Join(tools, " ")))
}

// prompts takes the lines of what the client itself writes into its requests.
func (f *items) prompts(t *arena.Trace) {
	for i := range t.Steps {
		for j := range t.Steps[i].Proxy {
			gjson.Get(string(t.Steps[i].Proxy[j].Body), "messages").ForEach(func(_, m gjson.Result) bool {
				if role := m.Get("role").Str; role == "system" || role == "user" {
					for line := range strings.Lines(m.Get("content").Str) {
						if line = strings.TrimSpace(line); len(line) >= leastLine && line != t.Query {
							f.by[byCode] = append(f.by[byCode], hash(framed(line)))
						}
					}
				}
				return true
			})
		}
	}
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

// formed is a call's arguments whatever their blanks and the order of their names.
func formed(arguments arena.Raw) string {
	form, err := canonical.Digest(string(arguments))
	if err != nil {
		return string(arguments)
	}
	return form
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

// pair is two agents that share something.
type pair struct {
	A  string     `json:"a"`
	B  string     `json:"b"`
	By [kinds]any `json:"by"`
	// Shared counts the items of each kind that both have and few others do.
	Shared [kinds]int `json:"shared"`
	// Copied reports whether the pair is taken for copies.
	Copied   bool     `json:"copied"`
	Passages []string `json:"passages"`
}

// agents compares the agents of a day. The whole day is read for it, once.
func (c *Corpus) agents(ctx context.Context, key string) ([]byte, error) {
	if c.all {
		if err := c.meet(ctx); err != nil {
			return nil, err
		}
	}
	pairs := c.kin.pairs()
	for i := range pairs {
		pairs[i].Passages = slices.DeleteFunc(pairs[i].Passages, func(s string) bool { return c.Secret != nil && c.Secret(s) != "" })
	}
	return script(key, map[string]any{"kinds": kindNames, "pairs": pairs, "copied": copied, "shared": leastShared}, c.Clean)
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
		if !slices.Contains(all[at], name) {
			all[at] = append(all[at], name)
		}
	}
	return all
}

// meet reads all inputs for kin, several at once.
func (c *Corpus) meet(ctx context.Context) error {
	agents := c.agentsOf()
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(1, c.Workers))
	for _, in := range c.inputs() {
		g.Go(func() error {
			_, err := traces.Read(ctx, in, traces.Defaults(), func(it traces.Item) error {
				if it.Trace != nil {
					c.kin.add(it.Trace, agents[record{in.SHA256, it.Trace.RecordSHA256}])
				}
				return nil
			})
			return err
		})
	}
	return g.Wait()
}

// pairs are all pairs of agents that share anything that few others have.
func (k *kinship) pairs() []pair {
	names := make([]string, 0, len(k.agents))
	have := [kinds]map[uint64]int{{}, {}, {}, {}}
	for name, items := range k.agents {
		names = append(names, name)
		for kind := range kinds {
			for h := range items[kind] {
				have[kind][h]++
			}
		}
	}
	slices.Sort(names)
	out := []pair{}
	for i, a := range names {
		for _, b := range names[i+1:] {
			if p := k.pair(a, b, &have); p != nil {
				out = append(out, *p)
			}
		}
	}
	return out
}

// least is from where on a likeness is worth showing.
const least = 0.02

func (k *kinship) pair(a, b string, have *[kinds]map[uint64]int) *pair {
	p := &pair{A: a, B: b, Passages: []string{}}
	shown := false
	for kind := range kinds {
		x, shared := alike(k.agents[a][kind], k.agents[b][kind], have[kind], len(k.agents))
		if math.IsNaN(x) {
			continue // one of them shows nothing of the kind
		}
		p.By[kind], p.Shared[kind] = math.Round(x*1e4)/1e4, shared
		shown = shown || x >= least
		p.Copied = p.Copied || x >= copied && shared >= leastShared && kind != byTools
	}
	if !shown {
		return nil
	}
	p.Passages = k.passages(a, b, have[byFrames])
	return p
}

// alike is the Dice similarity of two sets in which an item counts the less the more
// other agents have it, and nothing where half of them do: what all write is no copy.
// shared is how many items count that both have.
func alike(a, b map[uint64]bool, have map[uint64]int, agents int) (x float64, shared int) {
	if len(a) == 0 || len(b) == 0 {
		return math.NaN(), 0
	}
	weight := func(h uint64, pair int) float64 { return max(0, 1-2*float64(have[h]-pair)/float64(agents)) }
	both, all := 0.0, 0.0
	for h := range a {
		if !b[h] {
			all += weight(h, 1)
		} else if w := weight(h, 2); w > 0 {
			both, shared = both+w, shared+1
		}
	}
	for h := range b {
		if !a[h] {
			all += weight(h, 1)
		}
	}
	return 2 * both / max(all+2*both, 1), shared
}

// passages are sentences that both think and fewest others do.
func (k *kinship) passages(a, b string, have map[uint64]int) []string {
	var shared []uint64
	for h := range k.agents[a][byFrames] {
		if k.agents[b][byFrames][h] {
			shared = append(shared, h)
		}
	}
	slices.SortFunc(shared, func(x, y uint64) int {
		return cmp.Or(cmp.Compare(have[x], have[y]), cmp.Compare(len(k.texts[y]), len(k.texts[x])), cmp.Compare(k.texts[x], k.texts[y]))
	})
	out := []string{}
	for _, h := range shared[:min(showPassages, len(shared))] {
		out = append(out, strings.TrimSpace(k.texts[h]))
	}
	return out
}

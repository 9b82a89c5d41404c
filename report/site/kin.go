package site

import (
	"cmp"
	"context"
	"hash/maphash"
	"maps"
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
			f.by[byArguments] = append(f.by[byArguments], hash(t.ProblemID, c.Name, canonical.Form(string(c.Arguments))))
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

// author is an agent with its items of each kind in ascending order, and how much they
// count together for what nobody else may have.
type author struct {
	name  string
	by    [kinds][]uint64
	alone [kinds]float64
}

// kin weighs what the agents of a day share.
type kin struct {
	authors []author
	// have is how many agents have an item.
	have [kinds]map[uint64]int
}

// weight is how much an item counts for so many agents that are compared: the less the
// more others have it, and nothing where half of all do, since what all write is no copy.
func (k *kin) weight(kind int, h uint64, compared int) float64 {
	return max(0, 1-2*float64(k.have[kind][h]-compared)/float64(len(k.authors)))
}

func (k *kinship) weighed() *kin {
	w := &kin{authors: make([]author, len(k.agents))}
	for i, name := range slices.Sorted(maps.Keys(k.agents)) {
		w.authors[i].name = name
		for kind := range kinds {
			w.authors[i].by[kind] = slices.Sorted(maps.Keys(k.agents[name][kind]))
		}
	}
	for kind := range kinds {
		w.have[kind] = map[uint64]int{}
		for i := range w.authors {
			for _, h := range w.authors[i].by[kind] {
				w.have[kind][h]++
			}
		}
		for i := range w.authors {
			for _, h := range w.authors[i].by[kind] {
				w.authors[i].alone[kind] += w.weight(kind, h, 1)
			}
		}
	}
	return w
}

// pairs are all pairs of agents that share anything that few others have.
func (k *kinship) pairs() []pair {
	out, w := []pair{}, k.weighed()
	for i := range w.authors {
		for j := i + 1; j < len(w.authors); j++ {
			if p := w.pair(&w.authors[i], &w.authors[j]); p != nil {
				p.Passages = k.passages(p.A, p.B, w.have[byFrames])
				out = append(out, *p)
			}
		}
	}
	return out
}

// least is from where on a likeness is worth showing.
const least = 0.02

func (k *kin) pair(a, b *author) *pair {
	p := &pair{A: a.name, B: b.name}
	shown := false
	for kind := range kinds {
		if len(a.by[kind]) == 0 || len(b.by[kind]) == 0 {
			continue // one of them shows nothing of the kind
		}
		x, shared := k.alike(a, b, kind)
		p.By[kind], p.Shared[kind] = math.Round(x*1e4)/1e4, shared
		shown = shown || x >= least
		p.Copied = p.Copied || x >= copied && shared >= leastShared && kind != byTools
	}
	if !shown {
		return nil
	}
	return p
}

// alike is the Dice similarity of what two agents wrote of a kind, each item by its
// weight; shared is how many items count that both have.
func (k *kin) alike(a, b *author, kind int) (x float64, shared int) {
	both, all := 0.0, a.alone[kind]+b.alone[kind]
	for s, t := a.by[kind], b.by[kind]; len(s) > 0 && len(t) > 0; {
		switch cmp.Compare(s[0], t[0]) {
		case -1:
			s = s[1:]
		case 1:
			t = t[1:]
		default:
			all -= 2 * k.weight(kind, s[0], 1)
			if w := k.weight(kind, s[0], 2); w > 0 {
				both, shared = both+w, shared+1
			}
			s, t = s[1:], t[1:]
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

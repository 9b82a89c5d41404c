package arena_test

import "strings"

// dialectNames are everyday words that other Go trees do not use as names, each with what
// to write instead.
var dialectNames = wordList(`
	whole: total, full or the noun
	rest: remaining, suffix or tail
	left: remaining, or what remains of what
	most: limit, maximum or maxNOUN
	least: minimum or minNOUN
	said told heard says tell hear: text, mention, report
	found: match, ok, index or the noun
	held kept: stored, retained, cached
	made: built, result or the noun
	given taken: arg, value, configured or the noun
	at: index, pos, offset or i
	of: f, parent or the noun
	in: r, input or src
	by: key or byNOUN
	to: dst, end or target
	from: src, start or source
	all: items or the plural of the noun
	own ours mine theirs: self, local or the noun
	same so: equal, match
	within: children or nested
	behind: end or next
	beside apart: split, separate or the noun
	whence: source
	dealings: exchanges
	desk room house road: staging, package, path
	shown asked wanted begun began drawn spent paid gone been: a noun or isX
	meant lent owed sent: a noun or isX
	alone alike anew: a predicate: isX
	kindred twins strange: related, duplicates, unknown
	such further: the noun
	what why who whose: the noun
	there here then: a noun or ok
	ahead: pending or next
	bare fresh: a predicate: isX
	fates fate: decision
	spoken: text
`)

// dialectWords are words that make comments and pages hard to read, since the field has a
// term or the sentence no subject.
var dialectWords = wordList(`
	stands stand stood lies lie lay: is, or the verb
	beside besides: next to, in addition to
	behind: after
	apart: separately
	told tells tell said says say heard hears hear speaks speak spoken: reports, returns, contains
	gives gave: returns
	puts: writes, adds, sets
	goes went gone: is removed, becomes, is sent
	came come comes: results from
	became become becomes: is
	nobody somebody whoever anybody: the noun
	whence whereof thereof therein: from which
	whatever: any
	anew: again
	alike: equal, similar
	nowhere: not
	dealings: exchanges
	desk house room door road: the term
	drawn draws: sampled
	likewise: the reason again
	wants want: needs, requires
	lends borrow: returns
	kindred strange: related, unknown
	suffers forgives spares: the verb
`)

// docVerbs are verbs that open comments of functions in Go's own sources (1.26), tests left out.
var docVerbs = strings.Fields(`
	aborts absorbs accepts accesses acquires acts adds adjusts advances allocates allows announces appends applies
	arranges assembles asserts assigns associates atomically attaches attempts authenticates binds blends blocks breaks
	builds calculates calls cancels causes changes checks chooses classifies cleans clears closes collects combines
	commits compares compiles compresses computes concatenates configures connects constructs consumes converts copies
	counts creates decides decodes decrements decrypts defines deletes derives describes detects determines disables
	discards divides does downloads draws drops dumps duplicates eliminates emits empties emulates enables encodes
	encrypts ends ensures escapes establishes evaluates examines executes exits expands expects exports extends extracts
	fetches fills finalizes finds finishes flushes forces formats frees generates gets groups grows guarantees handles
	hashes helps hides identifies implements imports increases increments indexes indicates initializes inserts installs
	instantiates interprets interrupts invalidates invokes iterates joins jumps listens lists loads locates locks logs
	looks maps marks marshals matches merges modifies moves multiplies negates normalizes notifies obtains opens orders
	overwrites packs panics parses partitions passes performs picks pins places pops populates prepares prints processes
	produces provides publishes pushes queues reads receives recomputes records recursively reduces registers releases
	removes renames renders reorders repeatedly replaces replies reports reserves resets resolves responds restores
	retries retrieves returns reverses rewrites rotates rounds runs samples saves scans schedules searches seeds selects
	sends serializes serves sets shortens shuts signals signs simulates skips slices sorts specifies splits starts stops
	stores strips subtracts sums swaps switches takes terminates tests traces transfers transforms translates traverses
	treats tries triggers trims truncates turns undoes unlocks unmarshals unpacks updates uses validates verifies visits
	waits wakes walks wraps writes yields zeroes
`)

// wordList reads lines of "WORD…: what to write instead".
func wordList(text string) map[string]string {
	list := map[string]string{}
	for line := range strings.Lines(text) {
		words, hint, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok {
			continue
		}
		for _, word := range strings.Fields(words) {
			list[word] = strings.TrimSpace(hint)
		}
	}
	return list
}

package guard

import (
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/trajectory-arena/arena/internal/stats"
	"github.com/trajectory-arena/arena/internal/wrong"
)

// InjectionReport is the measured recall of the guard: the share of protected requests that it
// detects in changed forms.
type InjectionReport struct {
	Seed  uint64            `json:"seed"`
	Kinds []InjectionRecall `json:"kinds"`
}

// InjectionRecall is the recall for one kind of change.
type InjectionRecall struct {
	Kind    string  `json:"kind"`
	Planted int     `json:"planted"`
	Found   int     `json:"found"`
	Recall  float64 `json:"recall"`
	// Low and High are the 95 % Wilson interval.
	Low  float64 `json:"wilson95_low"`
	High float64 `json:"wilson95_high"`
	// Floor is the lowest recall with which a corpus may be built.
	Floor float64 `json:"floor"`
	// Missed holds the ids of up to three requests that were not detected.
	Missed []string `json:"missed,omitempty"`
}

// plant is one way to change a protected request, for a self-test of the guard (which drops
// training rows that repeat protected requests): the guard's recall is the share of changed
// requests that it still detects. A request that the change leaves as it is does not count, except
// for the kind verbatim. split, if it is not nil, distributes the changed text over several
// messages. floor is the minimum recall, 0 to 1.
type plant struct {
	kind   string
	change func(text string) string
	split  func(text string) []string
	floor  float64
	// rewords reports whether only the detector of reworded requests can find the change, so that
	// literal requests are not planted.
	rewords bool
}

// candidate returns a training row to check with the guard. The row consists of the changed request
// text only: as one text or, if p.split is set, as a conversation of several messages.
func (p *plant) candidate(text string) Candidate {
	if p.split == nil {
		return Candidate{Text: text}
	}
	parts := p.split(text)
	return Candidate{
		Text:         parts[0],
		Context:      parts[1:],
		Conversation: parts,
	}
}

// The minimum recalls. Normalisation must detect every request of its kinds. Rewordings are
// detected by a score with a measured recall of 100 % on banks of hundreds, so that a recall below
// 0.9 means a broken tier and not chance. The recall on translations depends on their numbers, so
// that it is only reported.
const (
	floorCertain = 1.0
	floorScored  = 0.9
	floorNone    = 0.0
)

const verbatim = "verbatim"

func plants() []plant {
	return []plant{
		{kind: verbatim, change: func(t string) string { return t }, floor: floorCertain},
		{kind: "white_space", change: widenSpace, floor: floorCertain},
		{kind: "reordered", change: reorder, floor: floorScored, rewords: true},
		{kind: "rewrapped", change: rewrap, floor: floorScored, rewords: true},
		{kind: "units", change: changeUnits, floor: floorScored, rewords: true},
		{kind: "synonyms", change: replaceSynonyms, floor: floorScored, rewords: true},
		{kind: "translated", change: translate, floor: floorNone, rewords: true},
		{kind: "percent_encoded", change: percentEncode, floor: floorCertain},
		{kind: "split_in_two", change: markSplit, split: splitInto(2), floor: floorCertain},
		{kind: "split_in_three", change: markSplit, split: splitInto(3), floor: floorCertain},
		{kind: "split_in_five", change: markSplit, split: splitInto(5), floor: floorCertain},
	}
}

// maxPlanted is the maximum number of protected requests that are changed in each way and
// searched for, to measure how many the guard finds. With 200 requests, the 95 % interval is 5
// points wide at a recall of 97 %.
const maxPlanted = 200

// Injection computes the recall of the guard by kind of change. It checks requests of the bank,
// sampled by a hash of seed, in changed forms. A request is detected if the guard drops its changed
// form.
func (g *Guard) Injection(seed uint64) InjectionReport {
	return g.inject(seed, slices.Concat(plants(), formPlants()))
}

func (g *Guard) inject(seed uint64, kinds []plant) InjectionReport {
	r := InjectionReport{Seed: seed, Kinds: make([]InjectionRecall, len(kinds))}
	sample := g.sample(seed, maxPlanted)
	var running sync.WaitGroup
	for i, p := range kinds {
		running.Go(func() { r.Kinds[i] = g.injectKind(&p, sample) })
	}
	running.Wait()
	return r
}

func (g *Guard) injectKind(p *plant, sample []int) InjectionRecall {
	k := InjectionRecall{Kind: p.kind, Floor: p.floor}
	for _, i := range sample {
		e := &g.bank[i]
		if p.rewords && e.Literal {
			continue
		}
		if text := p.change(e.Text); text != e.Text || p.kind == verbatim {
			k.count(e.ID, g.Check(p.candidate(text)).Drop)
		}
	}
	if k.Planted > 0 {
		k.Recall = float64(k.Found) / float64(k.Planted)
		interval := stats.Wilson(k.Found, k.Planted)
		k.Low = interval.Low
		k.High = interval.High
	}
	return k
}

func (k *InjectionRecall) count(id string, detected bool) {
	const maxMissed = 3
	k.Planted++
	if detected {
		k.Found++
	} else if len(k.Missed) < maxMissed {
		k.Missed = append(k.Missed, id)
	}
}

// Reworded returns how many requests were planted in a reworded form that the detector of reworded
// requests should find, and how many of them were found.
func (r InjectionReport) Reworded() (found, planted int) {
	for i, p := range plants() {
		if p.rewords && p.floor > 0 && i < len(r.Kinds) {
			found += r.Kinds[i].Found
			planted += r.Kinds[i].Planted
		}
	}
	return found, planted
}

// ErrRecall is returned if the guard detects fewer planted requests than its
// floor.
var ErrRecall = errors.New("the guard finds too few planted requests")

// Validate returns an error that lists every kind below its floor. A kind of
// which nothing was planted is valid: the entries of a bank may have no text.
func (r InjectionReport) Validate() error {
	var bad wrong.List
	for _, k := range r.Kinds {
		bad.Unless(k.Planted == 0 || k.Recall >= k.Floor, "%w: %s: %d of %d, floor %g (missed %s)",
			ErrRecall, k.Kind, k.Found, k.Planted, k.Floor, strings.Join(k.Missed, ", "))
	}
	return bad.Err()
}

// markSplit appends a space to a request. The guard's recall is measured only with requests that
// were changed. A request that is only split over several texts would count as unchanged without
// this.
func markSplit(text string) string { return text + " " }

// splitInto returns a function that splits a text into the given number of parts with about equally
// many words, as a customer writes several messages, a message has several parts, or a row several
// fields.
func splitInto(parts int) func(text string) []string {
	return func(text string) []string {
		words := strings.Fields(text)
		var out []string
		for i := range parts {
			part := words[i*len(words)/parts : (i+1)*len(words)/parts]
			out = append(out, strings.Join(part, " "))
		}
		return out
	}
}

// percentEncode returns a request in the percent-encoding of URLs.
func percentEncode(text string) string { return url.PathEscape(text) }

// widenSpace writes every space of a request twice and adds white space before and after the
// request.
func widenSpace(text string) string {
	return "\n " + strings.ReplaceAll(text, " ", "  ") + "\t"
}

var clauseEnd = regexp.MustCompile(`(?:[,;] |\. |\n+)`)

// reorder moves the last clause of a request to its start, one of the changes with which the
// guard's recall is measured. It returns a request of one clause unchanged.
func reorder(text string) string {
	ends := clauseEnd.FindAllStringIndex(text, -1)
	if len(ends) == 0 {
		return text
	}
	last := ends[len(ends)-1]
	return strings.TrimRight(text[last[1]:], ".") + ", " + text[:last[0]] + "."
}

// The changes that need words are read from files: the prompt around a request, other words of the
// same meaning, and other usual forms of an amount.
var (
	// wrappedText is a prompt with {request} at the place where a request is inserted.
	//
	//go:embed changes/wrapped.txt
	wrappedText string
	// synonymLines has a line for each word with other words of the same meaning, separated by "|".
	//
	//go:embed changes/synonyms.txt
	synonymLines string
	// unitLines has a line for each unit of amounts, with fields separated by "|": the unit, a factor,
	// and the format of the multiplied amount in another usual form.
	//
	//go:embed changes/units.txt
	unitLines string
)

// rewrap returns a prompt in which other sentences surround the request, one of the changes with
// which the guard's recall is measured.
func rewrap(text string) string {
	return strings.Replace(strings.TrimSuffix(wrappedText, "\n"), "{request}", text, 1)
}

// changeLines returns the fields of each line of an embedded file of text changes, such as
// synonyms. Fields are separated by "|". Lines that begin with # are comments and left out.
func changeLines(content string) [][]string {
	var lines [][]string
	for line := range strings.Lines(content) {
		line = strings.TrimSuffix(line, "\n")
		if !strings.HasPrefix(line, "#") {
			lines = append(lines, strings.Split(line, "|"))
		}
	}
	return lines
}

// amountForm is another usual form of an amount in a unit: 2 kg as "2 kilograms", 5 mm as "0.5 cm".
// The amount is multiplied by factor and formatted with format.
type amountForm struct {
	factor float64
	format string
}

// amountForms returns the other form of each unit, and an expression that matches an amount in one
// of these units.
var amountForms = sync.OnceValues(func() (map[string]amountForm, *regexp.Regexp) {
	forms := map[string]amountForm{}
	var units []string
	for _, fields := range changeLines(unitLines) {
		factor, err := strconv.ParseFloat(fields[1], 64)
		if err != nil {
			panic(fmt.Sprintf("read changes/units.txt: %v", err)) // it is fixed at build time
		}
		units = append(units, fields[0])
		forms[fields[0]] = amountForm{factor, fields[2]}
	}
	return forms, regexp.MustCompile(`(?i)(\d+(?:\.\d+)?) ?(` + strings.Join(units, "|") + `)\b`)
})

// changeUnits writes each amount of a request in another usual form, such as 2 kg as "2 kilograms".
func changeUnits(text string) string {
	forms, amounts := amountForms()
	return amounts.ReplaceAllStringFunc(text, func(m string) string {
		parts := amounts.FindStringSubmatch(m)
		v, err := strconv.ParseFloat(parts[1], 64)
		if err != nil {
			return m
		}
		form := forms[strings.ToLower(parts[2])]
		return fmt.Sprintf(form.format, v*form.factor)
	})
}

// replaceSynonyms replaces words of a request by others of the same meaning, so that every
// constraint is unchanged.
func replaceSynonyms(text string) string { return synonyms().Replace(text) }

var synonyms = sync.OnceValue(func() *strings.Replacer {
	return strings.NewReplacer(slices.Concat(changeLines(synonymLines)...)...)
})

// translate replaces the letters of a request by those of a script (Ethiopic) that the guard's word
// lists do not cover. It simulates a translation, of which the guard recognises only the numbers.
func translate(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return 'ሀ' + unicode.ToLower(r)%256
		}
		return r
	}, text)
}

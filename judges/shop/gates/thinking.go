package gates

import (
	"cmp"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/shopcalls"
)

// thinkingGates returns the results of gates 2 to 4, the tests of an attempt's thinking (a remark
// on results, a datum from them, a reasoned choice), up to the first gate that failed.
func thinkingGates(t *arena.Trace, d *arena.Dialogue) []finding {
	x := indexPool.Get().(*factIndex)
	defer x.release()
	passages, e := x.load(t, d)
	if len(passages) == 0 {
		return []finding{missed("no step after the first result records any thinking")}
	}
	for i := range passages {
		e.evaluate(&passages[i])
	}
	return e.findings()
}

// load reads the thinking of an attempt into passages, one for each turn, and records in x which of
// their words and figures the request and the tool results contain. The returned evaluator applies
// the gates to the passages; it is nil if no step after the first result has any thinking.
func (x *factIndex) load(t *arena.Trace, d *arena.Dialogue) ([]passage, *evaluator) {
	passages := readPassages(t, d, x)
	if len(passages) == 0 {
		return nil, nil
	}
	// Thinking that repeats the customer's words and figures does not analyse results.
	mentioned := len(x.words)
	x.addRequest(t.Query)
	for i := range d.Turns {
		x.addRequest(d.Turns[i].User)
	}
	for slot := range x.words[:mentioned] {
		if x.words[slot].inRequest {
			x.watch(int32(slot))
		}
	}
	readResults(d, x, passages[len(passages)-1].step)
	e := &evaluator{
		index: x, chosen: shopcalls.LastAnswer(d.Turns), request: t.Query, brands: x.unspacedBrands(),
	}
	return passages, e
}

// addRequest records a message of the customer as part of the request: its words, its numbers, and
// the product values that it names in any spelling, such as colours and materials.
func (x *factIndex) addRequest(text string) {
	if text == "" {
		return
	}
	request := passage{text: text[:min(len(text), maxPassage)]}
	request.scan(x)
	for _, t := range request.tokens {
		for _, slot := range [...]int32{t.word, t.measure} {
			if slot >= 0 {
				x.words[slot].inRequest = true
			}
		}
		for _, cents := range t.number.readings[:t.number.count] {
			x.amounts[x.addAmount(cents)].inRequest = true
		}
	}
	for _, m := range request.marks {
		if m.concept != 0 {
			x.words[x.addWord(words().values[m.concept])].inRequest = true
		}
	}
}

// inRequest reports whether a word, in lower case, is in the request, exactly or in another form:
// without its ending s, es or en, or with an s at its end.
func (x *factIndex) inRequest(word string) bool {
	if x.isRequestWord(word) {
		return true
	}
	for _, ending := range [...]string{"s", "es", "en"} {
		if stem, ok := strings.CutSuffix(word, ending); ok && x.isRequestWord(stem) {
			return true
		}
	}
	return x.isRequestWord(word + "s")
}

func (x *factIndex) isRequestWord(word string) bool {
	slot, ok := x.slots[word]
	return ok && x.words[slot].inRequest
}

// evaluator reads the passages of an attempt's thinking in order and stores the first evidence for
// each of gates 2, 3 and 4 (a remark on results, a datum from them, a reasoned choice).
type evaluator struct {
	index *factIndex
	// chosen are the ids of the products recommended last.
	chosen []string
	// request is the customer's own text.
	request string
	// brands are the brands of the results that are in scripts without blanks.
	brands []unspacedBrand
	// remark, datum and choice are the evidence for gates 2, 3 and 4; nil if none was found yet.
	remark, datum, choice *finding
	// invented is added to the detail of a failed gate 3. It quotes an id or price that is in no
	// result, and is empty if there is none.
	invented string
	progress progress
	// revisions are choices that later thinking may reverse.
	revisions []revision
}

func (e *evaluator) evaluate(p *passage) {
	if e.choice != nil {
		return
	}
	r := e.newReading(p)
	for _, label := range [...]string{"A:", "A)", "A =", "A="} {
		r.lettered = r.lettered || strings.Contains(p.text, label)
	}
	for i := range p.sentences {
		e.evaluateSentence(&r, i)
	}
	e.findRevision(&r)
	if e.choice == nil {
		e.findChoice(&r)
	}
}

// newReading returns a passage with its cites (the mentions of returned data in it). It reuses
// memory: the cites of the previous reading are overwritten.
func (e *evaluator) newReading(p *passage) reading {
	r := reading{
		evaluator: e,
		passage:   p,
		cites:     e.index.cites[:0],
		starts:    e.index.starts[:0],
	}
	r.findCites()
	e.index.cites = r.cites
	e.index.starts = r.starts
	return r
}

// evaluateSentence looks in sentence i for a remark on results (gate 2) and for returned data (gate
// 3), and stores the first evidence of each.
func (e *evaluator) evaluateSentence(r *reading, i int) {
	s := &r.sentences[i]
	datum, weak := r.findDatum(i)
	if e.datum == nil && datum != nil {
		e.datum = r.datumEvidence(s, datum)
	}
	if r.addressesGrader(i) {
		return
	}
	remark := r.isRemark(i)
	describes := remark || r.isNote(i)
	if e.datum == nil && weak != nil && describes {
		e.datum = r.datumEvidence(s, weak)
	}
	if e.remark == nil && remark {
		e.remark = r.evidence(s.span, s.span, "speaks of what the tools returned")
	}
}

func (r *reading) datumEvidence(s *sentence, datum *cite) *finding {
	return r.evidence(s.span, datum.span, "names "+datum.kind.String()+" that an earlier result holds")
}

// evidence returns the finding of a gate (test) that passed, with a quotation of the byte range
// text. A range longer than a quotation may be is quoted from shortly before core, the byte range
// that passes the gate.
func (r *reading) evidence(text, core span, detail string) *finding {
	return &finding{
		passed: true,
		step:   r.number,
		quote:  quote(r.text, text, core),
		detail: detail,
	}
}

// findings returns the results of gates 2 to 4 (a remark on results, a datum from them, a reasoned
// choice) up to the first that failed. Evidence for gate 3 also passes gate 2, and evidence for
// gate 4 passes both.
func (e *evaluator) findings() []finding {
	datum := cmp.Or(e.datum, e.choice)
	remark := cmp.Or(e.remark, datum)
	switch {
	case remark == nil:
		return []finding{missed("no thinking after the first result says anything about what came back")}
	case datum == nil:
		const detail = "no thinking names an id, price, brand, attribute value or shop that an earlier result holds and the request does not"
		return []finding{*remark, missed(detail + e.invented)}
	case e.choice == nil:
		return []finding{
			*remark,
			*datum,
			missed(e.progress.String()),
		}
	default:
		return []finding{*remark, *datum, *e.choice}
	}
}

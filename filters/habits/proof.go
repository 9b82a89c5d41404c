package habits

// Proof is one thing of an agent's day that no model can have done: the words, the
// answer or the calls are from elsewhere. One without odds is a doubt: it makes an
// agentic attempt unknown.
type Proof struct {
	// Check is the versioned name, Reason the stable word that it gives.
	Check, Reason string
	// Doc says in one sentence what it finds, Why what it adds to the log-odds.
	Doc, Why string
	Odds     float64

	holds func(s *Sample, a *Agent) bool
}

// Proofs are all of them, in the order of their files.
var Proofs []Proof

//nolint:unparam // a declaration at the top of a file needs a value
func proof(p Proof) bool {
	Proofs = append(Proofs, p)
	return true
}

// Holds reports whether the proof speaks against an attempt.
func (p *Proof) Holds(s *Sample, a *Agent) bool { return p.holds(s, a) }

// grounds is the least number of cases that a grounding speaks from.
const grounds = 20

// speaks reports whether a day is long enough, and the attempt can be told at all.
func speaks(s *Sample, a *Agent) bool { return s.Evidence && a.Known }

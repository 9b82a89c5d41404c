package distil

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/trajectory-arena/arena/contest"
)

// Report is the result of replaying rounds.
type Report struct {
	Network string   `json:"network,omitempty"`
	Rounds  []Replay `json:"rounds"`
	// Known counts the rounds whose published king is known. Agreed is the share of these rounds
	// in which the rule gives the same king. Explained is the number of rounds in which it gives
	// another king and the files explain why.
	Known     int            `json:"decisions_known"`
	Agreed    contest.Figure `json:"agreed"`
	Explained int            `json:"explained"`
	Flags     []Flag         `json:"flags"`
	// Means counts the students with a finite published mean. MeansEqual counts those whose
	// published mean is equal to the mean of their prompts.
	Means      int `json:"published_means"`
	MeansEqual int `json:"published_means_equal"`
	// Stops counts the students that the validator stopped early. StopsEqual counts those that
	// the published rule stops at the same prompt.
	Stops      int `json:"stops"`
	StopsEqual int `json:"stops_equal"`
	// Benchmarks are the rank correlations of KL with benchmark scores, nil without scores.
	Benchmarks []Correlation `json:"benchmarks,omitempty"`
}

// Replay is the recomputed decision of one round.
type Replay struct {
	ID    string `json:"round"`
	Block int64  `json:"block,omitempty"`
	Rule  string `json:"rule,omitempty"`
	// RuleFrom tells how the rule is known: "said" in the rounds file, or by its "date".
	RuleFrom string `json:"rule_from,omitempty"`
	Prompts  int    `json:"prompts"`
	Students int    `json:"students"`
	// King is the model of the king before the round. Winner is the model that the rule makes
	// king after it, empty if no rule is known, or if a rule by KL lacks the king's KL.
	King   string         `json:"king"`
	KingKL contest.Number `json:"king_kl"`
	Winner string         `json:"winner,omitempty"`
	// WinnerUID is empty if the rounds file does not have it.
	WinnerUID string `json:"winner_uid,omitempty"`
	Crowned   bool   `json:"crowned"`
	// Stability is the share of bootstrap samples of the prompts in which the rule has
	// the same winner.
	Stability contest.Figure `json:"holds"`
	// Published is the uid of the king after the round, inferred from later files. Evidence
	// tells how it was inferred: named, rescored, among (one of several), or none.
	Published string `json:"published,omitempty"`
	Evidence  string `json:"evidence"`
	// Outcome compares the published king with the rule's: agrees, explained, unexplained or
	// unknown, such as without WinnerUID.
	Outcome string `json:"outcome"`
	// Why lists what in the files explains another published king: a stale score, a polluted
	// file, a forged vector or a copy.
	Why []string `json:"why,omitempty"`
	// Refused lists the challengers whose score or KL is good enough but which the rule refuses,
	// each with the reason: one of its axes, or the number of axes.
	Refused []string `json:"refused,omitempty"`
	// Unchecked lists what cannot be checked since the file lacks the data: limits, or unknownKL.
	Unchecked []string  `json:"unchecked,omitempty"`
	Verdicts  []Verdict `json:"verdicts,omitempty"`
}

// resamples is the number of bootstrap samples of one round. It determines the stability of the
// round's decision to about 3 percentage points.
const resamples = 1000

// ReplayAll recomputes the decisions of rounds in order. states are the validator's scores after
// each block. Without them, the published king is known only if the next round names its king.
func ReplayAll(rounds []*Round, states []State) *Report {
	report := &Report{Network: rounds[0].Network}
	seen := map[int64]bool{}
	agreed := 0
	for i, r := range rounds {
		flags := r.Eval.suspects(r.ID)
		report.Flags = append(report.Flags, flags...)
		report.audit(r)
		if len(r.Eval.Students) == 0 {
			continue
		}
		p := r.replay(flags)
		if r.Rule != nil {
			p.addPublished(r, flags, rounds[i+1:], states)
		}
		if p.Outcome != "unknown" && seen[r.Block] {
			p.Outcome = "unknown"
			p.Why = []string{"another file of the same block"}
		}
		if p.Outcome != "unknown" {
			seen[r.Block] = true
			report.Known++
		}
		switch p.Outcome {
		case "agrees":
			agreed++
		case "explained":
			report.Explained++
		}
		report.Rounds = append(report.Rounds, p)
	}
	report.Agreed = contest.Rate(agreed, report.Known)
	return report
}

// audit checks two published values of each student in a round: its mean KL must be the mean of its
// KLs by prompt, and an early stop must be at the prompt at which the rule stops it. It adds to r
// how many were checked and how many are equal.
func (r *Report) audit(round *Round) {
	king := round.king()
	for i := range round.Eval.Students {
		s := &round.Eval.Students[i]
		deviation := math.Abs(s.Mean() - s.Published)
		if deviation < math.Inf(1) {
			r.Means++
			if deviation <= meanRounding {
				r.MeansEqual++
			}
		}
		if s.Stopped {
			r.Stops++
			if stopPrompt(king, s) == len(s.KLs) {
				r.StopsEqual++
			}
		}
	}
}

// meanRounding is the maximum difference between a mean KL that the validator published and the
// mean computed from the KLs by prompt that counts as rounding. Later files round to six decimals.
const meanRounding = 1.1e-6

// unknownKL stands in Replay.Unchecked for a king without a KL, by which a rule decides nothing.
const unknownKL = "king's KL"

func (r *Round) replay(flags []Flag) Replay {
	king := r.king()
	excluded := r.Eval.exclusions(flags)
	p := Replay{
		ID:       r.ID,
		Block:    r.Block,
		Prompts:  len(king.KLs),
		Students: len(r.Eval.Students),
		King:     king.Model,
		KingKL:   contest.Number(king.Mean()),
		Evidence: "none",
		Outcome:  "unknown",
	}
	if r.Rule == nil {
		return p
	}
	if r.Rule.Kind != Composite && math.IsNaN(king.Mean()) {
		p.Rule = r.Rule.String()
		p.RuleFrom = r.RuleFrom
		p.Unchecked = append(p.Unchecked, unknownKL)
		return p
	}
	winner := r.Rule.decide(king, r.Eval.Students, excluded)
	p.Rule = r.Rule.String()
	p.RuleFrom = r.RuleFrom
	p.Winner = winner.Model
	p.WinnerUID = winner.UID
	p.Crowned = winner != king
	for i := range r.Eval.Students {
		if c := &r.Eval.Students[i]; c.Model != king.Model {
			v := r.Rule.verdict(king, c, excluded[c.Model])
			p.Verdicts = append(p.Verdicts, v)
			if v.Refused != "" && v.Excluded == "" {
				p.Refused = append(p.Refused, c.Model+" is refused: "+v.Refused)
			}
		}
	}
	p.Stability = r.stability(king, winner.Model, excluded)
	if king.Parameters == 0 {
		p.Unchecked = append(p.Unchecked, "size")
	}
	if king.Vocabulary == 0 {
		p.Unchecked = append(p.Unchecked, "vocabulary")
	}
	return p
}

// stability returns how much a round's decision depends on which prompts were sampled: the share of
// bootstrap samples of the prompts in which the rule has the same winner as with all prompts. Only
// the KLs are resampled, since the files have the other parts of a composite score as means only.
func (r *Round) stability(
	king *Student,
	winner string,
	excluded map[string]string,
) contest.Figure {
	random := rand.New(rand.NewPCG(1, uint64(len(king.KLs)))) //nolint:forbidigo // seeded: the same numbers every time
	order := make([]int, len(king.KLs))
	sample := make([]Student, 0, len(r.Eval.Students))
	equal := 0
	for range resamples {
		for i := range order {
			order[i] = random.IntN(len(order))
		}
		sampledKing := king.resample(order)
		sample = sample[:0]
		for i := range r.Eval.Students {
			s := &r.Eval.Students[i]
			if excluded[s.Model] == "" && len(s.KLs) == len(king.KLs) {
				sample = append(sample, s.resample(order))
			}
		}
		if r.Rule.decide(&sampledKing, sample, nil).Model == winner {
			equal++
		}
	}
	return contest.Rate(equal, resamples)
}

// resample returns a copy of the student with the KLs of the prompts whose indexes are in order.
// Indexes may repeat.
func (s *Student) resample(order []int) Student {
	c := *s
	c.KLs = make([]float64, len(order))
	c.Positions = nil
	for i, k := range order {
		c.KLs[i] = s.KLs[k]
		if s.Positions != nil {
			c.Positions = append(c.Positions, s.Positions[k])
		}
	}
	return c
}

// addPublished sets p.Published to the king (the model to beat) that the validator published after
// round r, and p.Evidence to how that is known from later files. If the king is not the winner by
// the rule, it also sets p.Why to explanations found in the files. later are the rounds after r,
// and states the validator's scores after each block.
func (p *Replay) addPublished(
	r *Round,
	flags []Flag,
	later []*Round,
	states []State,
) {
	i, ok := slices.BinarySearchFunc(states, r.Block, func(s State, block int64) int {
		return cmp.Compare(s.Block, block)
	})
	var uids []string
	if ok {
		uids, p.Evidence = nextKing(r, later, states[i:])
	} else if len(later) > 0 && r.Block > 0 && states == nil {
		uids = []string{string(later[0].KingUID)}
		p.Evidence = "named"
	}
	if len(uids) == 0 || uids[0] == "" {
		p.Evidence = "none"
		return
	}
	if slices.Contains(uids, p.WinnerUID) {
		p.Outcome = "agrees"
		p.Published = p.WinnerUID
		return
	}
	p.Published = uids[0]
	if len(uids) > 1 {
		p.Published = "one of " + fmt.Sprint(uids)
	}
	if p.WinnerUID == "" {
		return // it may be the published king
	}
	p.Outcome = "unexplained"
	var scores map[string]float64 // nil without states
	if ok {
		scores = states[i].Scores
	}
	p.Why = explain(r, flags, uids, p.WinnerUID, scores)
	if len(p.Why) > 0 {
		p.Outcome = "explained"
	}
}

// nextKing returns which student was king (the model to beat) after round r. states are the
// validator's scores after each block, from the block of r on. If the next later round in states
// names its king, it returns that uid and "named".
//
// Otherwise it uses that each round evaluates the king again: in the next round an old score that
// changes is the king's. It returns the uids whose old scores changed, with "rescored" for a single
// one and "among" for several. Scores that are in the file of round r itself do not count. It
// returns nil and "none" if no state shows a king.
func nextKing(
	r *Round,
	later []*Round,
	states []State,
) (uids []string, evidence string) {
	for i := 1; i < len(states); i++ {
		for _, next := range later {
			if next.Block == states[i].Block && next.KingUID != "" {
				return []string{string(next.KingUID)}, "named"
			}
		}
		for uid, score := range states[i].Scores {
			previous, ok := states[i-1].Scores[uid]
			if ok && previous != score && !r.Eval.hasScore(uid, score) {
				uids = append(uids, uid)
			}
		}
		slices.Sort(uids)
		switch len(uids) {
		case 0:
		case 1:
			return uids, "rescored"
		default:
			return uids, "among"
		}
	}
	return nil, "none"
}

// hasScore reports whether the student with this uid in the file, or one without a uid, has this
// score as its mean KL, up to rounding.
func (e *Eval) hasScore(uid string, score float64) bool {
	for i := range e.Students {
		s := &e.Students[i]
		if (s.UID == uid || s.UID == "") && math.Abs(s.Mean()-score) <= meanRounding {
			return true
		}
	}
	return false
}

// explain returns reasons, found in the result files, why the validator published one of uids as
// king (the model to beat) instead of winner, the uid of the student that the rule selects. The list
// is empty if nothing explains it. scores are the validator's scores after the round, nil if
// unknown. A student without a uid may have any of them.
func explain(
	r *Round,
	flags []Flag,
	uids []string,
	winner string,
	scores map[string]float64,
) []string {
	var reasons []string
	king := r.king()
	evaluated := map[string]bool{}
	added := 0
	for i := range r.Eval.Students {
		s := &r.Eval.Students[i]
		evaluated[s.UID] = true
		_, hasScore := scores[s.UID]
		if !hasScore && s.UID != "" && !s.Stopped && len(s.KLs) > 0 && s.Model != king.Model {
			added++
		}
	}
	for _, uid := range uids {
		if score, ok := scores[uid]; ok && !evaluated[uid] && !evaluated[""] && score < king.Mean() {
			reasons = append(reasons, fmt.Sprintf("stale score: uid %s has %.6g on record from other prompts and was not in this round", uid, score))
		}
	}
	for _, f := range flags {
		if slices.Contains(uids, f.UID) {
			reasons = append(reasons, fmt.Sprintf("%s: uid %s was crowned, and %s", f.Kind, f.UID, f.Why))
		}
	}
	if _, ok := scores[winner]; scores != nil && !ok && added > 0 {
		reasons = append(reasons, fmt.Sprintf("polluted file: %d of its students have no score at this block, uid %s among them; the file was written on by later rounds", added, winner))
	}
	return reasons
}

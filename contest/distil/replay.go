package distil

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/trajectory-arena/arena/contest"
)

// Report is what became of the rounds.
type Report struct {
	Network string   `json:"network,omitempty"`
	Rounds  []Replay `json:"rounds"`
	// Agreed counts the rounds whose published next king is known and the one
	// that the rule gives; Explained those where he is not and the files say why.
	Known     int            `json:"decisions_known"`
	Agreed    contest.Figure `json:"agreed"`
	Explained int            `json:"explained"`
	Flags     []Flag         `json:"flags"`
	// Means counts the students whose published mean is finite; MeansEqual those
	// for which it is that of their prompts.
	Means      int `json:"published_means"`
	MeansEqual int `json:"published_means_equal"`
	// Stops counts the students that the validator stopped early; StopsEqual
	// those that the published rule stops at the same prompt.
	Stops      int `json:"stops"`
	StopsEqual int `json:"stops_equal"`
	// Benchmarks are rank correlations with KL, where scores were given.
	Benchmarks []Correlation `json:"benchmarks,omitempty"`
}

// Replay is one round's decision, again.
type Replay struct {
	ID       string `json:"round"`
	Block    int64  `json:"block,omitempty"`
	Rule     string `json:"rule,omitempty"`
	Prompts  int    `json:"prompts"`
	Students int    `json:"students"`
	// King is who sat there before, Winner who the rule gives the crown.
	King   string         `json:"king"`
	KingKL contest.Number `json:"king_kl"`
	Winner string         `json:"winner,omitempty"`
	// WinnerUID is empty where the rounds file does not say.
	WinnerUID string `json:"winner_uid,omitempty"`
	Crowned   bool   `json:"crowned"`
	// Holds is the share of draws of prompts, with replacement, in which the
	// rule decides the same.
	Holds contest.Figure `json:"holds"`
	// Published is the uid of the king that the next rounds show, and Evidence
	// how: named, rescored, among, or none.
	Published string `json:"published,omitempty"`
	Evidence  string `json:"evidence"`
	// Outcome is agrees, explained, unexplained or unknown.
	Outcome string `json:"outcome"`
	// Why are the causes found in the files: stale score, polluted file, forged
	// vector, copy.
	Why []string `json:"why,omitempty"`
	// Unchecked are the rules that the file says nothing for.
	Unchecked []string  `json:"unchecked,omitempty"`
	Verdicts  []Verdict `json:"verdicts,omitempty"`
}

// draws is how many times prompts are drawn to say how firm a decision is: its
// share is known to 3 points.
const draws = 1000

// ReplayAll replays rounds in their order. states are the validator's scores
// after each block; without them only a next round that names its king says what
// was decided.
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
			p.publish(r, flags, rounds[i+1:], states)
		}
		if p.Outcome != "unknown" && seen[r.Block] {
			p.Outcome, p.Why = "unknown", []string{"another file of the same block"}
		}
		if p.Outcome != "unknown" {
			seen[r.Block], report.Known = true, report.Known+1
		}
		if p.Outcome == "agrees" {
			agreed++
		}
		if p.Outcome == "explained" {
			report.Explained++
		}
		report.Rounds = append(report.Rounds, p)
	}
	report.Agreed = contest.Share(agreed, report.Known)
	return report
}

// audit holds published means and stops against the prompts.
func (r *Report) audit(of *Round) {
	king := of.king()
	for i := range of.Eval.Students {
		s := &of.Eval.Students[i]
		if off := math.Abs(s.Mean() - s.Published); off < math.Inf(1) {
			r.Means++
			if off <= roundedMean {
				r.MeansEqual++
			}
		}
		if s.Stopped {
			r.Stops++
			if stopAt(king, s) == len(s.KLs) {
				r.StopsEqual++
			}
		}
	}
}

// roundedMean is how far a published KL may be from the mean of the prompts, being
// rounded to six decimals in later files.
const roundedMean = 1.1e-6

func (r *Round) replay(flags []Flag) Replay {
	king, out := r.king(), r.Eval.out(flags)
	p := Replay{ID: r.ID, Block: r.Block, Prompts: len(king.KLs), Students: len(r.Eval.Students), King: king.Model,
		KingKL: contest.Number(king.Mean()), Evidence: "none", Outcome: "unknown"}
	if r.Rule == nil {
		return p
	}
	winner := r.Rule.decide(king, r.Eval.Students, out)
	p.Rule, p.Winner, p.WinnerUID, p.Crowned = r.Rule.String(), winner.Model, winner.UID, winner != king
	for i := range r.Eval.Students {
		if c := &r.Eval.Students[i]; c.Model != king.Model {
			p.Verdicts = append(p.Verdicts, r.Rule.judge(king, c, out[c.Model]))
		}
	}
	p.Holds = r.holds(king, winner.Model, out)
	if king.Parameters == 0 {
		p.Unchecked = append(p.Unchecked, "size")
	}
	if king.Vocabulary == 0 {
		p.Unchecked = append(p.Unchecked, "vocabulary")
	}
	return p
}

// holds draws prompts anew and counts how often the rule gives the same king. The
// composite rests on axes, whose items no file has: they stay as they are.
func (r *Round) holds(king *Student, winner string, out map[string]string) contest.Figure {
	random := rand.New(rand.NewPCG(1, uint64(len(king.KLs)))) //nolint:forbidigo // seeded: the same numbers every time
	order, same := make([]int, len(king.KLs)), 0
	drawn := make([]Student, 0, len(r.Eval.Students))
	for range draws {
		for i := range order {
			order[i] = random.IntN(len(order))
		}
		on := king.draw(order)
		drawn = drawn[:0]
		for i := range r.Eval.Students {
			if s := &r.Eval.Students[i]; out[s.Model] == "" && len(s.KLs) == len(king.KLs) {
				drawn = append(drawn, s.draw(order))
			}
		}
		if r.Rule.decide(&on, drawn, nil).Model == winner {
			same++
		}
	}
	return contest.Share(same, draws)
}

func (s *Student) draw(order []int) Student {
	c := *s
	c.KLs, c.Positions = make([]float64, len(order)), nil
	for i, k := range order {
		c.KLs[i] = s.KLs[k]
		if s.Positions != nil {
			c.Positions = append(c.Positions, s.Positions[k])
		}
	}
	return c
}

// publish looks up who was king next, and what explains another than the rule's.
func (p *Replay) publish(r *Round, flags []Flag, later []*Round, states []State) {
	at, known := slices.BinarySearchFunc(states, r.Block, func(s State, block int64) int { return cmp.Compare(s.Block, block) })
	var uids []string
	if known {
		uids, p.Evidence = nextKing(r, later, states[at:])
	} else if len(later) > 0 && r.Block > 0 && states == nil {
		uids, p.Evidence = []string{string(later[0].KingUID)}, "named"
	}
	if len(uids) == 0 || uids[0] == "" {
		p.Evidence = "none"
		return
	}
	p.Outcome = "agrees"
	if slices.Contains(uids, p.WinnerUID) {
		p.Published = p.WinnerUID
		return
	}
	p.Published = uids[0]
	if len(uids) > 1 {
		p.Published = "one of " + fmt.Sprint(uids)
	}
	p.Outcome = "unexplained"
	if p.Why = explain(r, flags, uids, p.WinnerUID, states[at]); len(p.Why) > 0 {
		p.Outcome = "explained"
	}
}

// nextKing says who may have been king after the first of states. The king is
// evaluated in each round, so that the next state in which an old score changes
// has his among the changed. States that only add scores, or take them from this
// round's file, are of rounds that went into the same file.
func nextKing(r *Round, later []*Round, states []State) (uids []string, evidence string) {
	for i := 1; i < len(states); i++ {
		for _, next := range later {
			if next.Block == states[i].Block && next.KingUID != "" {
				return []string{string(next.KingUID)}, "named"
			}
		}
		for uid, score := range states[i].Scores {
			if before, ok := states[i-1].Scores[uid]; ok && before != score && !r.Eval.measured(uid, score) {
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

func (e *Eval) measured(uid string, score float64) bool {
	return slices.ContainsFunc(e.Students, func(s Student) bool { return s.UID == uid && math.Abs(s.Mean()-score) <= roundedMean })
}

// explain finds what made the published king another than the rule's: who is among
// uids.
func explain(r *Round, flags []Flag, uids []string, winner string, state State) (why []string) {
	king, in, added := r.king(), map[string]bool{}, 0
	for i := range r.Eval.Students {
		s := &r.Eval.Students[i]
		in[s.UID] = true
		if _, has := state.Scores[s.UID]; !has && !s.Stopped && len(s.KLs) > 0 && s.Model != king.Model {
			added++
		}
	}
	for _, uid := range uids {
		if score, has := state.Scores[uid]; has && !in[uid] && score < king.Mean() {
			why = append(why, fmt.Sprintf("stale score: uid %s has %.6g on record from other prompts and was not in this round", uid, score))
		}
	}
	for _, f := range flags {
		if slices.Contains(uids, f.UID) {
			why = append(why, fmt.Sprintf("%s: uid %s was crowned, and %s", f.Kind, f.UID, f.Why))
		}
	}
	if _, has := state.Scores[winner]; !has && added > 0 {
		why = append(why, fmt.Sprintf("polluted file: %d of its students have no score at this block, uid %s among them; the file was written on by later rounds", added, cmp.Or(winner, "unknown")))
	}
	return why
}

package race

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// rounds are two rounds of quicknet as drand published them.
var rounds = []struct {
	round                 uint64
	signature, randomness string
}{
	{1000, "b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39", "fe290beca10872ef2fb164d2aa4442de4566183ec51c56ff3cd603d930e54fdd"},
	{123, "b75c69d0b72a5d906e854e808ba7e2accb1542ac355ae486d591aa9d43765482e26cd02df835d3546d23c4b13e0dfc92", "fb8f7bc29bf24db51871ec8c79f3a1e4bd0557bc0dfcee9ed1d924e69d1c60dc"},
}

func TestQuicknetBeaconsVerify(t *testing.T) {
	t.Parallel()
	for i, r := range rounds {
		signature, err := hex.DecodeString(r.signature)
		if err != nil {
			t.Fatal(err)
		}
		if !isSignedBy(quicknetKey, r.round, signature) {
			t.Errorf("round %d does not verify", r.round)
		}
		if isSignedBy(quicknetKey, r.round+1, signature) {
			t.Errorf("the signature of round %d is accepted for round %d", r.round, r.round+1)
		}
		other, _ := hex.DecodeString(rounds[1-i].signature)
		if isSignedBy(quicknetKey, r.round, other) || isSignedBy(quicknetKey, r.round, signature[:47]) || isSignedBy(quicknetKey, r.round, nil) || isSignedBy("00", r.round, signature) {
			t.Errorf("round %d verifies with another signature or key", r.round)
		}
	}
	sum := sha256.Sum256(unhex(t, rounds[0].signature))
	if hex.EncodeToString(sum[:]) != rounds[0].randomness {
		t.Error("the randomness of round 1000 is no sha256 of its signature")
	}
}

func unhex(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

const secretHex = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

// honest returns a race that passes all checks. raw selects whether secret and randomness are
// hashed as the bytes that their hexadecimal form encodes.
func honest(t *testing.T, raw bool) *Document {
	t.Helper()
	bytes := func(word string) []byte {
		if raw {
			return unhex(t, word)
		}
		return []byte(word)
	}
	hash := func(b []byte) string {
		sum := sha256.Sum256(b)
		return hex.EncodeToString(sum[:])
	}
	r := rounds[0]
	doc := map[string]any{
		"detail": map[string]any{
			"race": map[string]any{"race_id": "r", "race_number": 7, "qualifying_closes_at": time.Unix(1692806300, 0).UTC(),
				"race_completed_at": time.Unix(1692810000, 0).UTC(), "winner_agent_version_id": "a", "winner_score": 0.7},
			"qualifiers": []map[string]any{
				qualifier("a", 0.7, 0.70, 0.02, -0.02, 0.03), qualifier("b", 0.6, 0.69, 0.05, 0.01), qualifier("c", 0.3, 0.30, 0.01)},
		},
		"seed_commitment": map[string]any{
			"race_id": "r", "scheme": "s", "secret_sha256": hash(bytes(secretHex)), "drand_chain_hash": quicknet, "drand_offset_seconds": 62, "drand_round": r.round,
			"drand_round_time": time.Unix(1692806364, 0).UTC(), "committed_at": time.Unix(1692800000, 0).UTC(), "revealed": true, "drand_signature": r.signature,
			"drand_randomness": r.randomness, "secret": secretHex, "world_seed": hash(append(bytes(secretHex), bytes(r.randomness)...)),
			"rejected_attempts": []map[string]any{{"attempt": 0, "reason": "too easy"}, {"attempt": 1, "reason": "too hard"}}},
		"validator_variance": map[string]any{"n_pairs": 2, "mean_spread": 0.03, "validators": []map[string]any{{"validator_hotkey": "v", "pairs_evaluated": 2, "mean_delta_vs_peers": 0.01, "std_dev": 0.01}}},
		"runs":               []map[string]any{aRun("a", "v", 0.7), aRun("a", "w", 0.72), aRun("b", "v", 0.6), aRun("b", "w", 0.64), aRun("c", "v", 0.3)},
		"agent_versions":     []map[string]any{aVersion("a", "h1", 1692600000), aVersion("b", "h2", 1692700000), aVersion("c", "h2", 1692743200)},
		"history_total":      2,
		"history":            []map[string]any{{"race_id": "q", "race_number": 6, "race_completed_at": time.Unix(1692720000, 0).UTC(), "winner_agent_version_id": "a"}, {"race_id": "r", "race_number": 7, "race_completed_at": time.Unix(1692810000, 0).UTC()}},
	}
	text, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func qualifier(id string, score, weighted float64, deltas ...float64) map[string]any {
	window := []map[string]any{{"raw_score": nil, "delta": 9, "is_seed": true}}
	for _, d := range deltas {
		window = append(window, map[string]any{"raw_score": 0.5 + d, "delta": d, "is_seed": false})
	}
	kind := "SCORED"
	if id == "a" {
		kind = "INCUMBENT"
	}
	return map[string]any{"agent_version_id": id, "qualification_type": kind, "race_score": score, "weighted_score": weighted, "window": window}
}

// aVersion returns an agent version that was submitted at a time in seconds. Its code is public
// from the Thursday after the race of Wednesday, 23 August 2023.
func aVersion(id, hotkey string, submitted int64) map[string]any {
	return map[string]any{"agent_version_id": id, "miner_hotkey": hotkey, "submitted_at": time.Unix(submitted, 0).UTC(), "code_available_at": "2023-08-24T00:00:00Z"}
}

func aRun(agent, validator string, score float64) map[string]any {
	return map[string]any{"agent_version_id": agent, "eval_run_id": agent + "-" + validator, "validator_hotkey": validator, "race_id": "r", "status": "SUCCESS", "is_included": true, "validator_score": score}
}

func TestVerifyHonestRace(t *testing.T) {
	t.Parallel()
	for raw, form := range map[bool]string{true: "secret as raw bytes and randomness as raw bytes", false: "secret as text and randomness as text"} {
		r := Verify(honest(t, raw))
		named := false
		for _, f := range r.Findings {
			if f.State != OK {
				t.Errorf("%+v", f)
			}
			named = named || strings.Contains(f.Detail, form)
		}
		if !named || r.CountWrong() != 0 {
			t.Errorf("the form is not named: %+v", r.Findings)
		}
	}
}

// TestVerifyDetectsEveryChange changes one word of the race at a time.
func TestVerifyDetectsEveryChange(t *testing.T) {
	t.Parallel()
	for check, plant := range map[string]func(*Document){
		"cooldown":                func(d *Document) { d.Versions[2].Submitted = new(d.Versions[1].Submitted.Add(cooldown - time.Second)) },
		"promotion_day":           func(d *Document) { d.History[0].Completed = new(d.Detail.Race.Completed.Add(-time.Hour)) },
		"promoted":                func(d *Document) { d.History[0].Winner = "b" },
		"embargo":                 func(d *Document) { d.Versions[0].Available = new(d.Detail.Race.Completed.Add(time.Hour)) },
		"secret":                  func(d *Document) { d.Commitment.Secret = strings.Repeat("ab", 32) },
		"beacon":                  func(d *Document) { d.Commitment.Signature = rounds[1].signature },
		"randomness":              func(d *Document) { d.Commitment.Randomness = rounds[1].randomness },
		"round_time":              func(d *Document) { d.Commitment.Round = 1001 },
		"round_by_rule":           func(d *Document) { d.Commitment.Offset = 65 },
		"chain":                   func(d *Document) { d.Commitment.Chain = strings.Repeat("0", 64) },
		"world_seed":              func(d *Document) { d.Commitment.WorldSeed = strings.Repeat("0", 64) },
		"committed_before_beacon": func(d *Document) { d.Commitment.Committed = d.Commitment.RoundTime },
		"rejected_attempts":       func(d *Document) { d.Commitment.Rejected[1].Attempt = 2 },
		"validator_variance":      func(d *Document) { *d.Variance.Mean = 0.02 },
		"winner":                  func(d *Document) { d.Detail.Race.Winner = "b" },
		"same_race":               func(d *Document) { d.Commitment.RaceID = "q" },
	} {
		d := honest(t, true)
		plant(d)
		wrong := false
		for _, f := range Verify(d).Findings {
			wrong = wrong || f.Check == check && f.State == Wrong
		}
		if !wrong {
			t.Errorf("a wrong %s is not found", check)
		}
	}
}

func TestVerifyUnrevealedRace(t *testing.T) {
	t.Parallel()
	d := honest(t, true)
	c := &d.Commitment
	c.Revealed = false
	c.Secret = ""
	c.WorldSeed = ""
	c.Signature = ""
	c.Randomness = ""
	c.Rejected = nil
	r := Verify(d)
	unknown := 0
	for _, f := range r.Findings {
		if f.State == Unknown {
			unknown++
		}
	}
	if r.CountWrong() != 0 || unknown != 4 {
		t.Errorf("%+v", r.Findings)
	}
}

// TestVerifyWithoutCommitment checks that a document without the commitment to a seed, or without one of
// its fields, proves nothing and accuses nobody.
func TestVerifyWithoutCommitment(t *testing.T) {
	t.Parallel()
	d := honest(t, true)
	d.Commitment = Commitment{}
	for _, f := range Verify(d).Findings[:9] {
		if f.State != Unknown {
			t.Errorf("%+v", f)
		}
	}
	for _, remove := range []func(c *Commitment){
		func(c *Commitment) { c.SecretSHA256 = "" }, func(c *Commitment) { c.Chain = "" }, func(c *Commitment) { c.Round = 0 },
		func(c *Commitment) { c.RoundTime = time.Time{} }, func(c *Commitment) { c.Committed = time.Time{} }, func(c *Commitment) { c.Randomness = "" },
	} {
		d = honest(t, true)
		remove(&d.Commitment)
		r := Verify(d)
		if r.CountWrong() > 0 || !slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.State == Unknown }) {
			t.Errorf("%+v", r.Findings)
		}
	}
}

func TestStandingsHaveWinProbability(t *testing.T) {
	t.Parallel()
	s := Verify(honest(t, true)).Standings
	sum := 0.0
	for _, a := range s.Agents {
		sum += *a.Best
		if !(a.Interval.Low < a.Score && a.Score < a.Interval.High) {
			t.Errorf("%+v", a)
		}
	}
	if math.Abs(sum-1) > 1e-6 || s.Basis != "races" || s.Freedom != 3 || !s.Agents[0].Winner || *s.Agents[0].Best < 0.5 || *s.Agents[0].Best > 0.8 || *s.Agents[2].Best > 1e-6 {
		t.Errorf("sum %v, %+v", sum, s)
	}
	d := honest(t, true)
	for i := range d.Detail.Qualifiers {
		d.Detail.Qualifiers[i].Window = d.Detail.Qualifiers[i].Window[:1]
	}
	if s := Verify(d).Standings; s.Basis != "validators" || s.Freedom != 2 || s.Agents[0].Best == nil {
		t.Errorf("without a window: %+v", s)
	}
	d.Runs = nil
	if s := Verify(d).Standings; s.Agents[0].Interval != nil || s.Agents[0].Best != nil {
		t.Errorf("an interval without a spread: %+v", s)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"detail":{"race":{"race_id":"r"},"qualifiers":[{"weighted_score":1e308,"window":[{"raw_score":1,"delta":-1e308},{"raw_score":1}]}]},"seed_commitment":{"drand_round":18446744073709551615,"drand_signature":"zz","world_seed":"0"}}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(_ *testing.T, text []byte) {
		if d, err := Parse(text); err == nil {
			Verify(d)
		}
	})
}

func TestNextWeekday(t *testing.T) {
	t.Parallel()
	for day, want := range map[string]string{"2023-08-23": "2023-08-24", "2023-08-25": "2023-08-28", "2023-08-26": "2023-08-28", "2023-08-27": "2023-08-28"} {
		date, err := time.Parse(time.DateOnly, day)
		if got := nextWeekday(date.Add(23 * time.Hour)).Format(time.DateOnly); err != nil || got != want {
			t.Errorf("the race day after %s is %s, want %s", day, got, want)
		}
	}
}

// TestScheduleUnknown verifies a document without the times of agents and without a history.
func TestScheduleUnknown(t *testing.T) {
	t.Parallel()
	d := honest(t, true)
	d.Versions = nil
	d.History = nil
	d.Detail.Race.Completed = nil
	for _, f := range d.checkSchedule() {
		if f.State != Unknown {
			t.Errorf("%+v", f)
		}
	}
}

// TestPromotionDayNeedsAllRaces removes races from the history: another race of the day may be among
// those that were not read.
func TestPromotionDayNeedsAllRaces(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Document){
		"without a total":      func(d *Document) { d.HistoryTotal = 0 },
		"without another race": func(d *Document) { d.History = d.History[1:] },
		"without this race":    func(d *Document) { d.History, d.HistoryTotal = d.History[:1], 1 },
	} {
		d := honest(t, true)
		change(d)
		if f := d.checkPromotionDay(); f.State != Unknown {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

func TestCheckCorpus(t *testing.T) {
	t.Parallel()
	d := honest(t, true)
	counts := map[string]int{"a-v": 2, "a-w": 1, "b-v": 1, "b-w": 1, "c-v": 1}
	for _, c := range []struct {
		name        string
		change      func(attempts map[string]int)
		solo, total string
	}{
		{"whole", func(map[string]int) {}, OK, OK},
		{"another run", func(a map[string]int) { a["x"] = 1 }, Wrong, OK},
		{"a lost run", func(a map[string]int) { delete(a, "b-w") }, OK, Wrong},
		{"nothing", func(a map[string]int) { clear(a) }, Wrong, Wrong},
	} {
		attempts := maps.Clone(counts)
		c.change(attempts)
		findings := d.CheckCorpus(attempts)
		if findings[0].State != c.solo || findings[1].State != c.total {
			t.Errorf("%s: %+v", c.name, findings)
		}
	}
	d.Runs = nil
	if findings := d.CheckCorpus(counts); findings[0].State != Unknown {
		t.Errorf("%+v", findings)
	}
}

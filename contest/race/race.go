// Package race checks what the subnet publishes about a race: the seed of its worlds, the
// variance between its validators, the times of its agents, and the confidence in its winner.
package race

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Document has the answers of the subnet's public API about one race: the race itself, the
// commitment to its seed, the variance between its validators, and the runs of its agents.
type Document struct {
	Detail     detail     `json:"detail"`
	Commitment Commitment `json:"seed_commitment"`
	Variance   variance   `json:"validator_variance"`
	Runs       []run      `json:"runs"`
	// Versions are the agent versions of the race. History are the past races, and HistoryTotal is
	// their number by the API. All are empty in documents that were saved by older versions of
	// arena, or HistoryTotal alone.
	Versions     []Version `json:"agent_versions"`
	History      []past    `json:"history"`
	HistoryTotal int       `json:"history_total"`
}

// detail is the API's answer about a race (a contest of agents): when it closed and ended, its
// winner, and the scores of the agents that qualified.
type detail struct {
	Race struct {
		ID          string     `json:"race_id"`
		Number      *int       `json:"race_number"`
		Closes      *time.Time `json:"qualifying_closes_at"`
		Completed   *time.Time `json:"race_completed_at"`
		Winner      string     `json:"winner_agent_version_id"`
		WinnerScore *float64   `json:"winner_score"`
	} `json:"race"`
	Qualifiers []struct {
		Agent    string   `json:"agent_version_id"`
		Name     string   `json:"agent_name"`
		Type     string   `json:"qualification_type"`
		Score    *float64 `json:"race_score"`
		Weighted *float64 `json:"weighted_score"`
		Window   []struct {
			Score *float64 `json:"raw_score"`
			Delta float64  `json:"delta"`
			Seed  bool     `json:"is_seed"`
		} `json:"window"`
	} `json:"qualifiers"`
}

// Commitment is the published record of how a race's seed was chosen. Fields that are not
// revealed yet are empty.
type Commitment struct {
	RaceID       string    `json:"race_id"`
	SecretSHA256 string    `json:"secret_sha256"`
	Chain        string    `json:"drand_chain_hash"`
	Offset       int64     `json:"drand_offset_seconds"`
	Round        uint64    `json:"drand_round"`
	RoundTime    time.Time `json:"drand_round_time"`
	Committed    time.Time `json:"committed_at"`
	Revealed     bool      `json:"revealed"`
	Signature    string    `json:"drand_signature"`
	Randomness   string    `json:"drand_randomness"`
	Secret       string    `json:"secret"`
	WorldSeed    string    `json:"world_seed"`
	Rejected     []struct {
		Attempt int    `json:"attempt"`
		Reason  string `json:"reason"`
	} `json:"rejected_attempts"`
}

// variance is the API's answer on how much validators' scores of the same agents differ: the mean
// difference, and figures for each validator.
type variance struct {
	Pairs int      `json:"n_pairs"`
	Mean  *float64 `json:"mean_spread"`
	// Validators are the published figures of each validator.
	Validators []struct {
		Hotkey string  `json:"validator_hotkey"`
		Pairs  int     `json:"pairs_evaluated"`
		Delta  float64 `json:"mean_delta_vs_peers"`
		StdDev float64 `json:"std_dev"`
	} `json:"validators"`
}

// run is one evaluation of an agent by one validator in a race, with its status and score, as the
// API returns it.
type run struct {
	ID        string   `json:"eval_run_id"`
	Agent     string   `json:"agent_version_id"`
	Validator string   `json:"validator_hotkey"`
	RaceID    string   `json:"race_id"`
	Status    string   `json:"status"`
	Included  bool     `json:"is_included"`
	Score     *float64 `json:"validator_score"`
}

// ErrNoRace is returned for JSON that does not describe a race.
var ErrNoRace = errors.New("no race: the file holds detail, seed_commitment, validator_variance and runs")

// Parse parses the JSON of a document.
func Parse(text []byte) (*Document, error) {
	var d Document
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("read race: %w", err)
	}
	if d.Detail.Race.ID == "" {
		return nil, ErrNoRace
	}
	return &d, nil
}

// Finding is the result of one check.
type Finding struct {
	Check string `json:"check"`
	// State is ok, wrong, or unknown. It is unknown if the document lacks what the check needs.
	State  string `json:"state"`
	Detail string `json:"detail,omitempty"`
}

// The states of a finding.
const (
	OK      = "ok"
	Wrong   = "wrong"
	Unknown = "unknown"
)

// newFinding returns the finding of one check of what a subnet published about a race: OK if ok is
// true, otherwise Wrong. detail is a text with the values that were compared.
func newFinding(check string, ok bool, detail string) Finding {
	if ok {
		return Finding{check, OK, detail}
	}
	return Finding{check, Wrong, detail}
}

// ifKnown returns the finding, or one of state Unknown unless isKnown is true.
func (f Finding) ifKnown(isKnown bool) Finding {
	if isKnown {
		return f
	}
	return Finding{f.Check, Unknown, "not recorded"}
}

// Report is the result of all checks of a race.
type Report struct {
	Race      string     `json:"race"`
	Findings  []Finding  `json:"findings"`
	Standings *Standings `json:"standings"`
	// Validators are the validators that scored at least two agents that other validators scored
	// too.
	Validators []Validator `json:"validators,omitempty"`
}

// Verify runs all checks of a document.
func Verify(d *Document) *Report {
	c := &d.Commitment
	r := &Report{
		Race:       d.Detail.Race.ID,
		Standings:  d.standings(),
		Validators: d.biases(),
	}
	r.Findings = append(r.Findings, newFinding("same_race", c.RaceID == r.Race, "").ifKnown(c.RaceID != ""))
	r.Findings = append(r.Findings, c.checkTiming(d.Detail.Race.Closes)...)
	r.Findings = append(r.Findings, c.checkBeacon()...)
	r.Findings = append(
		r.Findings,
		c.checkSecret(),
		c.checkSeed(),
		c.checkAttempts(),
		d.checkVariance(),
		d.checkWinner(),
	)
	r.Findings = append(r.Findings, d.checkSchedule()...)
	return r
}

// CountWrong returns the number of findings with state Wrong.
func (r *Report) CountWrong() int {
	n := 0
	for _, f := range r.Findings {
		if f.State == Wrong {
			n++
		}
	}
	return n
}

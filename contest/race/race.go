// Package race checks what the subnet publishes of a race: the seed that its
// worlds were made from, the spread of its validators, and how sure its winner is.
package race

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Document is what the public API says of a race, in one file: the answers for
// the race, its seed commitment, its validators' variance, and the runs of its agents.
type Document struct {
	Detail     detail     `json:"detail"`
	Commitment Commitment `json:"seed_commitment"`
	Variance   variance   `json:"validator_variance"`
	Runs       []run      `json:"runs"`
}

type detail struct {
	Race struct {
		ID          string     `json:"race_id"`
		Closes      *time.Time `json:"qualifying_closes_at"`
		Winner      string     `json:"winner_agent_version_id"`
		WinnerScore *float64   `json:"winner_score"`
	} `json:"race"`
	Qualifiers []struct {
		Agent    string   `json:"agent_version_id"`
		Name     string   `json:"agent_name"`
		Score    *float64 `json:"race_score"`
		Weighted *float64 `json:"weighted_score"`
		Window   []struct {
			Score *float64 `json:"raw_score"`
			Delta float64  `json:"delta"`
			Seed  bool     `json:"is_seed"`
		} `json:"window"`
	} `json:"qualifiers"`
}

// Commitment is the record of a race's seed. What is not revealed is empty.
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

type variance struct {
	Pairs int      `json:"n_pairs"`
	Mean  *float64 `json:"mean_spread"`
	// Validators are the service's own figures on each.
	Validators []struct {
		Hotkey string  `json:"validator_hotkey"`
		Pairs  int     `json:"pairs_evaluated"`
		Delta  float64 `json:"mean_delta_vs_peers"`
		StdDev float64 `json:"std_dev"`
	} `json:"validators"`
}

type run struct {
	Agent     string   `json:"agent_version_id"`
	Validator string   `json:"validator_hotkey"`
	RaceID    string   `json:"race_id"`
	Status    string   `json:"status"`
	Included  bool     `json:"is_included"`
	Score     *float64 `json:"validator_score"`
}

// ErrNoRace says that a text is no document of a race.
var ErrNoRace = errors.New("no race: the file holds detail, seed_commitment, validator_variance and runs")

// Parse reads a document.
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

// Finding is one thing that was checked.
type Finding struct {
	Check string `json:"check"`
	// State is ok, wrong, or unknown where it cannot be checked.
	State  string `json:"state"`
	Detail string `json:"detail,omitempty"`
}

// The states of a finding.
const (
	OK      = "ok"
	Wrong   = "wrong"
	Unknown = "unknown"
)

func found(check string, holds bool, detail string) Finding {
	if holds {
		return Finding{check, OK, detail}
	}
	return Finding{check, Wrong, detail}
}

// Report is all that was found out about a race.
type Report struct {
	Race      string     `json:"race"`
	Findings  []Finding  `json:"findings"`
	Standings *Standings `json:"standings"`
	// Validators are those that scored two agents or more beside others.
	Validators []Validator `json:"validators,omitempty"`
}

// Verify checks a document.
func Verify(d *Document) *Report {
	c := &d.Commitment
	r := &Report{Race: d.Detail.Race.ID, Standings: d.standings(), Validators: d.biases()}
	r.Findings = slices.Concat([]Finding{found("same_race", c.RaceID == "" || c.RaceID == r.Race, "")}, c.timing(d.Detail.Race.Closes), c.beacon(),
		[]Finding{c.secret(), c.seed(), c.attempts(), d.spread(), d.winner()})
	return r
}

// Wrong counts the findings that do not hold.
func (r *Report) Wrong() (n int) {
	for _, f := range r.Findings {
		if f.State == Wrong {
			n++
		}
	}
	return n
}

package fetch

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

type run struct {
	ID       string  `json:"eval_run_id"`
	Agent    string  `json:"agent_version_id"`
	Suite    int     `json:"suite_id"`
	RaceID   *string `json:"race_id"`
	Phase    string  `json:"phase"`
	Claimed  string  `json:"claimed_at"`
	Hotkey   string  `json:"-"`
	original json.RawMessage
	// found is what the validator found of the run's problems, the older contract's.
	found map[string]finding
}

type finding struct {
	Category   string          `json:"category,omitempty"`
	Score      *float64        `json:"score,omitempty"`
	Reasoning  *float64        `json:"reasoning_score,omitempty"`
	Components json.RawMessage `json:"score_components,omitempty"`
}

// item is one attempt of a run: an episode to ask feedback for, or a problem of the
// older contract.
type item struct {
	ID      string `json:"item_id"`
	Kind    string `json:"item_kind"`
	Episode string `json:"episode_result_id"`
	finding
}

const kindEpisode = "envpack_episode"

func (i *item) name() string {
	if i.Kind == kindEpisode {
		return i.Episode
	}
	return i.ID
}

type detail struct {
	Kind  string `json:"execution_kind"`
	Items *struct {
		Released bool   `json:"detail_released"`
		Items    []item `json:"items"`
	} `json:"items"`
}

// safe is an id that may name a file.
var safe = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$`)

func (c *Client) race(ctx context.Context, id string) (all []run, err error) {
	var answer struct {
		Qualifiers []struct {
			Agent  string `json:"agent_version_id"`
			Hotkey string `json:"miner_hotkey"`
		}
	}
	if err := c.get(ctx, "races/"+url.PathEscape(id), &answer); err != nil {
		return nil, fmt.Errorf("ask for race %s: %w", id, err)
	}
	for _, q := range answer.Qualifiers {
		runs, err := c.runs(ctx, q.Agent, q.Hotkey)
		if err != nil {
			return nil, err
		}
		all = append(all, slices.DeleteFunc(runs, func(r run) bool { return r.RaceID == nil || *r.RaceID != id })...)
	}
	return all, nil
}

func (c *Client) agent(ctx context.Context, id string) ([]run, error) {
	var version struct {
		Hotkey string `json:"miner_hotkey"`
	}
	if err := c.get(ctx, "agent-versions/"+url.PathEscape(id), &version); err != nil {
		return nil, fmt.Errorf("ask for agent version %s: %w", id, err)
	}
	return c.runs(ctx, id, version.Hotkey)
}

func (c *Client) runs(ctx context.Context, agent, hotkey string) ([]run, error) {
	var raw []json.RawMessage
	if err := c.get(ctx, "agent-versions/"+url.PathEscape(agent)+"/runs", &raw); err != nil {
		return nil, fmt.Errorf("ask for the runs of %s: %w", agent, err)
	}
	all := make([]run, len(raw))
	for i, text := range raw {
		if err := json.Unmarshal(text, &all[i]); err != nil {
			return nil, fmt.Errorf("read a run of %s: %w", agent, err)
		}
		all[i].original, all[i].Hotkey = text, hotkey
	}
	return all, nil
}

// since lists the races that ended at or after a moment, by way of all of them: the
// API takes no date and promises no order.
func (c *Client) since(ctx context.Context, from time.Time) (ids []string, err error) {
	const page, mostRaces = 100, 100_000 // whatever total a server tells
	for offset := 0; ; offset += page {
		var answer struct {
			Total int
			Races []struct {
				ID        string    `json:"race_id"`
				Completed time.Time `json:"race_completed_at"`
			}
		}
		if err := c.get(ctx, fmt.Sprintf("races/history?limit=%d&offset=%d", page, offset), &answer); err != nil {
			return nil, fmt.Errorf("ask for past races: %w", err)
		}
		for _, r := range answer.Races {
			if !r.Completed.Before(from) {
				ids = append(ids, r.ID)
			}
		}
		if len(answer.Races) == 0 || offset+page >= min(answer.Total, mostRaces) {
			return ids, nil
		}
	}
}

// items lists the attempts of a run. What the validator found of those of the older
// contract stands in the agent's list of problems, and where the run names none, they too:
// items beside an error are whole but for that.
func (c *Client) items(ctx context.Context, r *run) (d detail, items []item, err error) {
	if err := c.get(ctx, "evaluation-runs/"+url.PathEscape(r.ID), &d); err != nil {
		return d, nil, fmt.Errorf("ask for run %s: %w", r.ID, err)
	}
	if d.Items != nil {
		items = d.Items.Items
		if !slices.ContainsFunc(items, func(i item) bool { return i.Kind != kindEpisode }) {
			return d, items, nil
		}
	}
	var answer struct {
		Problems []struct {
			ID       string `json:"problem_id"`
			Category string
			Results  []struct {
				Run string `json:"eval_run_id"`
				finding
			} `json:"validator_results"`
		}
	}
	if err := c.get(ctx, "agent-versions/"+url.PathEscape(r.Agent)+"/problems", &answer); err != nil {
		return d, items, fmt.Errorf("ask for the problems of %s: %w", r.Agent, err)
	}
	found := map[string]finding{}
	for _, p := range answer.Problems {
		for _, v := range p.Results {
			if v.Run == r.ID {
				v.Category = p.Category
				found[p.ID] = v.finding
			}
		}
	}
	if d.Items == nil {
		for _, id := range slices.Sorted(maps.Keys(found)) {
			items = append(items, item{ID: id, Kind: "legacy_problem"})
		}
	}
	for i := range items {
		if f, has := found[items[i].ID]; has {
			items[i].finding = f
		}
	}
	return d, items, nil
}

// attempt is the text of one attempt: an episode's feedback, or the log of a problem
// from an address that expires, asked for anew once if it has.
func (c *Client) attempt(ctx context.Context, r *run, i item) (text json.RawMessage, err error) {
	if i.Kind == kindEpisode {
		err = c.get(ctx, "episode-results/"+url.PathEscape(i.Episode)+"/feedback", &text)
		return text, err
	}
	ask := asjson.Bytes(map[string]string{"artifact_type": "EVAL_PROBLEM_LOGS", "agent_version_id": r.Agent, "eval_run_id": r.ID, "problem_id": i.ID})
	for range 2 {
		var at struct {
			URL string `json:"download_url"`
		}
		if err = c.call(ctx, http.MethodPost, c.Base+"/v1/public/artifacts/download-url", ask, &at); err != nil {
			return nil, err
		}
		if !strings.HasPrefix(at.URL, "https://") && !strings.HasPrefix(c.Base, "http://") {
			return nil, fmt.Errorf("%w: its address is no https", errDamaged)
		}
		text = nil
		if err = c.call(ctx, http.MethodGet, at.URL, nil, &text); !expired(err) {
			return text, err
		}
	}
	return nil, fmt.Errorf("%w: %w", errExpired, err)
}

func (c *Client) suite(ctx context.Context, id int) (lines []json.RawMessage, err error) {
	var answer struct {
		Problems []struct {
			ID       json.RawMessage            `json:"problem_id"`
			Metadata map[string]json.RawMessage `json:"metadata"`
		}
	}
	if err := c.get(ctx, fmt.Sprintf("suites/%d/problems?include_embeddings=true", id), &answer); err != nil {
		return nil, fmt.Errorf("ask for suite %d: %w", id, err)
	}
	for _, p := range answer.Problems {
		if p.Metadata == nil {
			continue
		}
		p.Metadata["problem_id"] = p.ID
		lines = append(lines, asjson.Bytes(p.Metadata))
	}
	return lines, nil
}

// RaceDocument is what the API says of a race, in one document: detail, seed_commitment,
// validator_variance, and the runs of its agents. It costs four requests and one
// an agent.
func (c *Client) RaceDocument(ctx context.Context, id string) ([]byte, error) {
	doc := map[string]any{}
	for key, path := range map[string]string{"detail": "", "seed_commitment": "/seed-commitment", "validator_variance": "/validator-variance"} {
		var answer json.RawMessage
		if err := c.get(ctx, "races/"+url.PathEscape(id)+path, &answer); err != nil {
			return nil, fmt.Errorf("ask for race %s%s: %w", id, path, err)
		}
		doc[key] = answer
	}
	runs, err := c.race(ctx, id)
	if err != nil {
		return nil, err
	}
	doc["runs"] = append([]json.RawMessage{}, slicesx.Map(runs, func(r run) json.RawMessage { return r.original })...)
	return asjson.Indented(doc, " "), nil
}

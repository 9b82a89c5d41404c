package fetch

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// run is one evaluation of an agent version on a suite of problems.
type run struct {
	ID       string  `json:"eval_run_id"`
	Agent    string  `json:"agent_version_id"`
	Suite    int     `json:"suite_id"`
	RaceID   *string `json:"race_id"`
	Phase    string  `json:"phase"`
	Claimed  string  `json:"claimed_at"`
	Hotkey   string  `json:"-"`
	original json.RawMessage
	// findings are the validator's results by problem id. Only runs of the API's older contract
	// have them.
	findings map[string]finding
}

// finding is the validator's result for one problem of a run: the category and the scores.
type finding struct {
	Category   string          `json:"category,omitempty"`
	Score      *float64        `json:"score,omitempty"`
	Reasoning  *float64        `json:"reasoning_score,omitempty"`
	Components json.RawMessage `json:"score_components,omitempty"`
}

// item is one attempt of a run: an episode, whose feedback can be downloaded, or, in the API's
// older contract, a problem, whose log can be downloaded.
type item struct {
	ID      string `json:"item_id"`
	Kind    string `json:"item_kind"`
	Episode string `json:"episode_result_id"`
	finding
}

const kindEpisode = "envpack_episode"

// fileName returns the id that the attempt's file is named after: the id of the episode's result,
// or of the problem. It returns "" for an episode without a result.
func (i *item) fileName() string {
	if i.Kind == kindEpisode {
		return i.Episode
	}
	return i.ID
}

// detail has the fields of a run that the API does not return in a list of runs, but only for a
// single run.
type detail struct {
	Kind  string `json:"execution_kind"`
	Items *struct {
		Released bool   `json:"detail_released"`
		Items    []item `json:"items"`
	} `json:"items"`
}

// fileID matches an id that is safe as the name of a file or folder.
var fileID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$`)

// raceRuns returns the runs in a race, given by its id, of all agent versions that qualified for
// it.
func (c *Client) raceRuns(ctx context.Context, id string) ([]run, error) {
	var race struct {
		Qualifiers []struct {
			Agent  string `json:"agent_version_id"`
			Hotkey string `json:"miner_hotkey"`
		}
	}
	if err := c.get(ctx, "races/"+url.PathEscape(id), &race); err != nil {
		return nil, fmt.Errorf("ask for race %s: %w", id, err)
	}
	isElsewhere := func(r run) bool {
		return r.RaceID == nil || *r.RaceID != id
	}
	var raceRuns []run
	for _, q := range race.Qualifiers {
		runs, err := c.runs(ctx, q.Agent, q.Hotkey)
		if err != nil {
			return nil, err
		}
		raceRuns = append(raceRuns, slices.DeleteFunc(runs, isElsewhere)...)
	}
	return raceRuns, nil
}

// agentRuns returns all evaluation runs of an agent version, given by its id.
func (c *Client) agentRuns(ctx context.Context, id string) ([]run, error) {
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
	runs := make([]run, len(raw))
	for i, text := range raw {
		r := &runs[i]
		if err := json.Unmarshal(text, r); err != nil {
			return nil, fmt.Errorf("read a run of %s: %w", agent, err)
		}
		r.original = text
		r.Hotkey = hotkey
	}
	return runs, nil
}

const (
	racesPerPage = 100
	// maxPages is the maximum number of pages of races that history requests, whatever total the
	// server reports.
	maxPages = 1000
)

// history returns the API's JSON object on each past race, decoded into a T. A page may have fewer
// races than were requested. It returns an error unless there are as many races as the API says:
// what is missing would be lost without a word.
func history[T any](ctx context.Context, c *Client) (races []T, err error) {
	total := 0
	for range maxPages {
		var page struct {
			Total int
			Races []T
		}
		path := fmt.Sprintf("races/history?limit=%d&offset=%d", racesPerPage, len(races))
		if err := c.get(ctx, path, &page); err != nil {
			return nil, fmt.Errorf("ask for past races: %w", err)
		}
		races = append(races, page.Races...)
		total = page.Total
		if len(page.Races) == 0 || len(races) >= total {
			break
		}
	}
	if len(races) != total {
		return nil, fmt.Errorf("%w: %d past races of %d", errDamaged, len(races), total)
	}
	return races, nil
}

// racesSince returns the ids of the races that ended at or after start. It lists all races,
// because the API neither filters by date nor guarantees an order.
func (c *Client) racesSince(ctx context.Context, start time.Time) ([]string, error) {
	races, err := history[struct {
		ID        string    `json:"race_id"`
		Completed time.Time `json:"race_completed_at"`
	}](ctx, c)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, r := range races {
		if !r.Completed.Before(start) {
			ids = append(ids, r.ID)
		}
	}
	return ids, nil
}

// items returns the attempts of a run and the run's details. In an older version of the API, both
// the attempts and the validator's findings may be only in the agent's list of problems. If just
// that list cannot be read, items returns the attempts that the run itself lists, without findings,
// and an error.
func (c *Client) items(ctx context.Context, r *run) (d detail, items []item, err error) {
	if err = c.get(ctx, "evaluation-runs/"+url.PathEscape(r.ID), &d); err != nil {
		return d, nil, fmt.Errorf("ask for run %s: %w", r.ID, err)
	}
	if d.Items != nil {
		items = d.Items.Items
		isProblem := func(i item) bool { return i.Kind != kindEpisode }
		if !slices.ContainsFunc(items, isProblem) {
			return d, items, nil
		}
	}
	findings, err := c.findings(ctx, r)
	if err != nil {
		return d, items, err
	}
	if d.Items == nil {
		for _, id := range slicesx.SortedKeys(findings) {
			items = append(items, item{ID: id, Kind: "legacy_problem"})
		}
	}
	for i := range items {
		if f, ok := findings[items[i].ID]; ok {
			items[i].finding = f
		}
	}
	return d, items, nil
}

// findings returns the validator's results for a run of the API's older contract, by problem id.
func (c *Client) findings(ctx context.Context, r *run) (map[string]finding, error) {
	var agent struct {
		Problems []struct {
			ID       string `json:"problem_id"`
			Category string
			Results  []struct {
				Run string `json:"eval_run_id"`
				finding
			} `json:"validator_results"`
		}
	}
	if err := c.get(ctx, "agent-versions/"+url.PathEscape(r.Agent)+"/problems", &agent); err != nil {
		return nil, fmt.Errorf("ask for the problems of %s: %w", r.Agent, err)
	}
	findings := map[string]finding{}
	for _, p := range agent.Problems {
		for _, result := range p.Results {
			if result.Run == r.ID {
				result.Category = p.Category
				findings[p.ID] = result.finding
			}
		}
	}
	return findings, nil
}

// attempt downloads the text of one attempt: the feedback on an episode, or the log of a problem.
// The address of a log may expire before the download; then attempt requests a second address. The
// error is errExpired if that expired too.
func (c *Client) attempt(
	ctx context.Context,
	r *run,
	i item,
) (text json.RawMessage, err error) {
	if i.Kind == kindEpisode {
		err = c.get(ctx, "episode-results/"+url.PathEscape(i.Episode)+"/feedback", &text)
		return text, err
	}
	request := asjson.Bytes(map[string]string{
		"artifact_type":    "EVAL_PROBLEM_LOGS",
		"agent_version_id": r.Agent,
		"eval_run_id":      r.ID,
		"problem_id":       i.ID,
	})
	for range 2 {
		var log struct {
			URL string `json:"download_url"`
		}
		err = c.call(ctx, http.MethodPost, c.Base+"/v1/public/artifacts/download-url", request, &log)
		if err != nil {
			return nil, err
		}
		if !strings.HasPrefix(log.URL, "https://") && !strings.HasPrefix(c.Base, "http://") {
			return nil, fmt.Errorf("%w: its address is no https", errDamaged)
		}
		text = nil
		err = c.call(ctx, http.MethodGet, log.URL, nil, &text)
		if !isExpired(err) {
			return text, err
		}
	}
	return nil, fmt.Errorf("%w: %w", errExpired, err)
}

// suiteProblems downloads the problems of a suite. Each result is a JSON object, the metadata of
// a problem with its id as problem_id. Problems without metadata are left out; their number is
// omitted.
func (c *Client) suiteProblems(
	ctx context.Context,
	id int,
) (lines []json.RawMessage, omitted int, err error) {
	var suite struct {
		Problems []struct {
			ID       json.RawMessage            `json:"problem_id"`
			Metadata map[string]json.RawMessage `json:"metadata"`
		}
	}
	if err := c.get(ctx, fmt.Sprintf("suites/%d/problems?include_embeddings=true", id), &suite); err != nil {
		return nil, 0, fmt.Errorf("ask for suite %d: %w", id, err)
	}
	for _, p := range suite.Problems {
		if p.Metadata == nil {
			omitted++
			continue
		}
		p.Metadata["problem_id"] = p.ID
		lines = append(lines, asjson.Bytes(p.Metadata))
	}
	return lines, omitted, nil
}

// RaceDocument downloads all data of the API about a race as one JSON document with the members
// detail, seed_commitment, validator_variance, runs, agent_versions, history and history_total. It
// sends four requests, two for each agent, and one for each page of past races.
func (c *Client) RaceDocument(ctx context.Context, id string) ([]byte, error) {
	doc := map[string]any{}
	paths := map[string]string{
		"detail":             "",
		"seed_commitment":    "/seed-commitment",
		"validator_variance": "/validator-variance",
	}
	for key, path := range paths {
		var answer json.RawMessage
		if err := c.get(ctx, "races/"+url.PathEscape(id)+path, &answer); err != nil {
			return nil, fmt.Errorf("ask for race %s%s: %w", id, path, err)
		}
		doc[key] = answer
	}
	runs, err := c.raceRuns(ctx, id)
	if err != nil {
		return nil, err
	}
	if doc["agent_versions"], err = c.versions(ctx, runs); err != nil {
		return nil, err
	}
	races, err := history[json.RawMessage](ctx, c)
	if err != nil {
		return nil, err
	}
	doc["history"] = races
	doc["history_total"] = len(races)
	originals := slicesx.Map(runs, func(r run) json.RawMessage {
		return r.original
	})
	doc["runs"] = append([]json.RawMessage{}, originals...)
	return asjson.Indented(doc, " "), nil
}

// versions downloads the API's JSON object on each agent version that has one of the runs.
func (c *Client) versions(ctx context.Context, runs []run) ([]json.RawMessage, error) {
	all := []json.RawMessage{}
	seen := map[string]bool{}
	for _, r := range runs {
		if seen[r.Agent] {
			continue
		}
		seen[r.Agent] = true
		var version json.RawMessage
		if err := c.get(ctx, "agent-versions/"+url.PathEscape(r.Agent), &version); err != nil {
			return nil, fmt.Errorf("ask for agent version %s: %w", r.Agent, err)
		}
		all = append(all, version)
	}
	return all, nil
}

package fetch

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/internal/atomicfile"
)

// Query says what to fetch: one race, one agent version, one run of an agent version, or
// all races that ended since a moment.
type Query struct {
	Race, Agent, Run string
	Since            time.Time
}

// Fetch brings what a query asks for into days.
type Fetch struct {
	*Client
	Query
	// Out is the folder of the days: each race is one, qualifying runs are one a suite.
	Out string
	// Network is mainnet, testnet or local; it stands beside each run.
	Network string
	// DryRun stops after the estimate.
	DryRun bool
	// Say is told in words how it goes.
	Say func(format string, a ...any)
}

var (
	errExpired = errors.New("the address expired")
	errDamaged = errors.New("the answer is not what was asked for")
)

func expired(err error) bool {
	r, is := errors.AsType[*Refusal](err)
	return is && (r.Status == http.StatusForbidden || r.Status == http.StatusGone) && r.Code == ""
}

type todo struct {
	run
	detail detail
	items  []item
	day    *day
}

// Run fetches. Whatever happens, each day's manifest then says of every attempt
// what became of it. Killed, it goes on from what is on disk.
func (f *Fetch) Run(ctx context.Context) error {
	runs, err := f.list(ctx)
	if err != nil {
		return err
	}
	f.Say("%d runs, listed in %d requests; their attempts take %d more at most, %s", len(runs), f.Requests, 2*len(runs), f.lasting(2*len(runs)))
	days := map[string]*day{}
	var work []*todo
	for i := range runs {
		t, err := f.look(ctx, &runs[i], days)
		if err != nil {
			return errors.Join(err, f.conclude(days))
		}
		if t != nil {
			work = append(work, t)
		}
	}
	if f.estimate(work, days); f.DryRun {
		return nil
	}
	for _, t := range work {
		if err := f.download(ctx, t); err != nil {
			return errors.Join(err, f.conclude(days))
		}
	}
	return f.conclude(days)
}

func (f *Fetch) list(ctx context.Context) ([]run, error) {
	switch {
	case f.Race != "":
		return f.race(ctx, f.Race)
	case f.Agent != "":
		return f.agent(ctx, f.Agent)
	case f.Query.Run != "":
		return f.only(ctx)
	}
	races, err := f.since(ctx, f.Since)
	var all []run
	for i := 0; i < len(races) && err == nil; i++ {
		var more []run
		more, err = f.race(ctx, races[i])
		all = append(all, more...)
	}
	return all, err
}

// only is the one run that was asked for, as its agent's list has it.
func (f *Fetch) only(ctx context.Context) ([]run, error) {
	var of struct {
		Agent string `json:"agent_version_id"`
	}
	if err := f.get(ctx, "evaluation-runs/"+f.Query.Run, &of); err != nil {
		return nil, fmt.Errorf("ask for run %s: %w", f.Query.Run, err)
	}
	runs, err := f.agent(ctx, of.Agent)
	for i := range runs {
		if runs[i].ID == f.Query.Run {
			return runs[i : i+1], err
		}
	}
	return nil, cmp.Or(err, fmt.Errorf("run %s is not among those of its agent", f.Query.Run))
}

func (f *Fetch) look(ctx context.Context, r *run, days map[string]*day) (*todo, error) {
	name := fmt.Sprintf("qualifying-%d", r.Suite)
	if r.RaceID != nil {
		name = *r.RaceID
	}
	if !safe.MatchString(name) || !safe.MatchString(r.ID) {
		return nil, fmt.Errorf("%w: an id that names no file", errDamaged)
	}
	if days[name] == nil {
		days[name] = &day{Base: f.Base, Network: f.Network, folder: filepath.Join(f.Out, name)}
	}
	t := &todo{run: *r, day: days[name]}
	whole, err := t.day.known(r, f.Network)
	if err != nil || whole {
		return nil, err
	}
	if t.detail, t.items, err = f.items(ctx, r); err != nil {
		if err = t.day.note(r.ID, "", err); err != nil || t.items == nil {
			return nil, err
		}
	}
	t.found = map[string]finding{}
	for _, i := range t.items {
		if i.Kind != kindEpisode {
			t.found[i.ID] = i.finding
		}
	}
	return t, nil
}

func (f *Fetch) estimate(work []*todo, days map[string]*day) {
	asks, attempts := 0, 0
	for _, t := range work {
		for _, i := range t.items {
			if t.day.has(t.ID, i.name()) {
				continue
			}
			attempts++
			if asks++; i.Kind != kindEpisode {
				asks++
			}
		}
	}
	f.Say("%d days, %d attempts to fetch: %d requests (one an episode, two a problem), %s at %d a minute", len(days), attempts, asks, f.lasting(asks), f.PerMinute)
}

func (f *Fetch) lasting(requests int) string {
	return "about " + (time.Duration(requests) * time.Minute / time.Duration(max(1, f.PerMinute))).Round(time.Second).String()
}

// download brings a run's attempts to disk. The run's own file is written first, so
// that no attempt lies there without it, and again when all of them are there.
func (f *Fetch) download(ctx context.Context, t *todo) error {
	if err := t.day.describe(&t.run, t.detail.Kind, f.Network, false); err != nil {
		return err
	}
	whole := t.detail.Items == nil || t.detail.Items.Released
	if !whole {
		t.day.add(t.ID, "", stateUnreleased, "the run's attempts are not all public")
	}
	for _, i := range t.items {
		if i.Kind != kindEpisode {
			if err := f.problems(ctx, t); err != nil {
				return err
			}
		}
		done, err := f.one(ctx, t, i)
		if err != nil {
			return err
		}
		whole = whole && done
	}
	return t.day.describe(&t.run, t.detail.Kind, f.Network, whole)
}

// one fetches an attempt. Only what ends the whole run is an error.
func (f *Fetch) one(ctx context.Context, t *todo, i item) (done bool, err error) {
	name := i.name()
	if name == "" {
		t.day.add(t.ID, i.ID, stateUnreleased, "the episode has no result that can be asked for")
		return false, nil
	}
	if !safe.MatchString(name) {
		t.day.add(t.ID, "", stateDamaged, "an id that names no file")
		return false, nil
	}
	if t.day.has(t.ID, name) {
		t.day.add(t.ID, name, stateOnDisk, "")
		return true, nil
	}
	text, err := f.attempt(ctx, &t.run, i)
	if err == nil && i.Kind == kindEpisode && gjson.GetBytes(text, "episode_result_id").Str != i.Episode {
		err = fmt.Errorf("%w: feedback on another episode", errDamaged)
	}
	if err != nil {
		return false, t.day.note(t.ID, name, err)
	}
	if err := atomicfile.WriteFile(t.day.path(t.ID, name), text); err != nil {
		return false, fmt.Errorf("keep attempt: %w", err)
	}
	t.day.add(t.ID, name, stateFetched, "")
	return true, nil
}

func (f *Fetch) problems(ctx context.Context, t *todo) error {
	path := filepath.Join(t.day.folder, "problems.jsonl")
	if _, err := os.Stat(path); err == nil || t.day.asked {
		return nil
	}
	t.day.asked = true
	lines, err := f.suite(ctx, t.Suite)
	if err != nil {
		return t.day.note(t.ID, "", err)
	}
	var text bytes.Buffer
	for _, line := range lines {
		text.Write(append(line, '\n'))
	}
	return atomicfile.WriteFile(path, text.Bytes())
}

func (f *Fetch) conclude(days map[string]*day) error {
	var errs []error
	for _, d := range days {
		states, err := d.close()
		errs = append(errs, err)
		f.Say("%s: %s", d.folder, strings.Join(states, ", "))
	}
	f.Say("%d requests", f.Requests)
	return errors.Join(errs...)
}

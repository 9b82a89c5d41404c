package fetch

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/internal/atomicfile"
)

// Query selects the runs to fetch: those of one race or agent version, one run, or those of
// all races that ended at or after Since.
type Query struct {
	Race, Agent, Run string
	Since            time.Time
}

// Fetch downloads the attempts of a query into days.
type Fetch struct {
	*Client
	Query
	// Out is the folder of the days: one day for each race, and one for the qualifying runs
	// of each suite.
	Out string
	// Network is mainnet, testnet or local. It is written into each run.json.
	Network string
	// DryRun stops after the estimate.
	DryRun bool
}

var (
	errExpired = errors.New("the address expired")
	errDamaged = errors.New("the answer is not what was asked for")
)

// isExpired reports whether a download failed because its address expired: the status is 403 or
// 410, without an error code of the API.
func isExpired(err error) bool {
	r, ok := errors.AsType[*Refusal](err)
	if !ok || r.Code != "" {
		return false
	}
	return r.Status == http.StatusForbidden || r.Status == http.StatusGone
}

// job is a run of which some attempts are not on disk, with what is needed to download them.
type job struct {
	run
	detail detail
	items  []item
	day    *day
	// lacksFindings is set if the validator's findings on the run could not be read.
	lacksFindings bool
}

// Run fetches the attempts. It writes the manifest of each day also if it fails. A second
// call continues with the attempts that are not on disk.
func (f *Fetch) Run(ctx context.Context) error {
	runs, err := f.list(ctx)
	if err != nil {
		return err
	}
	f.Logf("%d runs, listed in %d requests; their attempts take %d more at most, %s",
		len(runs), f.Requests, 2*len(runs), f.duration(2*len(runs)))
	days := map[string]*day{}
	var jobs []*job
	for i := range runs {
		j, err := f.newJob(ctx, &runs[i], days)
		if err != nil && f.DryRun {
			return err
		}
		if err != nil {
			return errors.Join(err, f.closeDays(days))
		}
		if j != nil {
			jobs = append(jobs, j)
		}
	}
	f.reportEstimate(jobs, days)
	if f.DryRun {
		return nil
	}
	for _, j := range jobs {
		if err := f.download(ctx, j); err != nil {
			return errors.Join(err, f.closeDays(days))
		}
	}
	return f.closeDays(days)
}

// list returns the runs that the query selects.
func (f *Fetch) list(ctx context.Context) ([]run, error) {
	switch {
	case f.Race != "":
		return f.raceRuns(ctx, f.Race)
	case f.Agent != "":
		return f.agentRuns(ctx, f.Agent)
	case f.Query.Run != "":
		return f.queriedRun(ctx)
	}
	races, err := f.racesSince(ctx, f.Since)
	if err != nil {
		return nil, err
	}
	var runs []run
	for _, race := range races {
		raceRuns, err := f.raceRuns(ctx, race)
		if err != nil {
			return nil, err
		}
		runs = append(runs, raceRuns...)
	}
	return runs, nil
}

// queriedRun returns the single run that the query names, as it is in the list of its agent's runs,
// where it has more fields. It returns an error if the run is not in that list.
func (f *Fetch) queriedRun(ctx context.Context) ([]run, error) {
	var result struct {
		Agent string `json:"agent_version_id"`
	}
	if err := f.get(ctx, "evaluation-runs/"+url.PathEscape(f.Query.Run), &result); err != nil {
		return nil, fmt.Errorf("ask for run %s: %w", f.Query.Run, err)
	}
	runs, err := f.agentRuns(ctx, result.Agent)
	for i := range runs {
		if runs[i].ID == f.Query.Run {
			return runs[i : i+1], err
		}
	}
	return nil, cmp.Or(err, fmt.Errorf("run %s is not among those of its agent", f.Query.Run))
}

// newJob returns a job that downloads the attempts of a run, and adds the folder of the run's day
// to days if it is new. It returns nil without an error if all attempts are on disk, or if the
// attempts cannot be listed, which is then recorded in the manifest.
func (f *Fetch) newJob(
	ctx context.Context,
	r *run,
	days map[string]*day,
) (*job, error) {
	name := fmt.Sprintf("qualifying-%d", r.Suite)
	if r.RaceID != nil {
		name = *r.RaceID
	}
	if !fileID.MatchString(name) {
		return nil, fmt.Errorf("%w: an id that names no file", errDamaged)
	}
	if days[name] == nil {
		days[name] = &day{
			Base:    f.Base,
			Network: f.Network,
			folder:  filepath.Join(f.Out, name),
			dryRun:  f.DryRun,
		}
	}
	if !fileID.MatchString(r.ID) {
		days[name].add(r.ID, "", stateDamaged, "an id that names no file")
		return nil, nil
	}
	isComplete, err := days[name].compareStored(r, f.Network)
	if err != nil || isComplete {
		return nil, err
	}
	j := &job{run: *r, day: days[name]}
	j.detail, j.items, err = f.items(ctx, r)
	if err != nil {
		j.lacksFindings = true
		err = j.day.addFailure(r.ID, "", err)
		if err != nil || j.items == nil {
			return nil, err
		}
	}
	j.findings = map[string]finding{}
	for _, i := range j.items {
		if i.Kind != kindEpisode {
			j.findings[i.ID] = i.finding
		}
	}
	if j.lacksFindings { // those on disk stay
		maps.Copy(j.findings, r.findings)
	}
	return j, nil
}

// reportEstimate logs how many attempts of the jobs are not on disk, and the requests and the time
// that their download takes.
func (f *Fetch) reportEstimate(jobs []*job, days map[string]*day) {
	requests := 0
	attempts := 0
	for _, j := range jobs {
		for _, i := range j.items {
			if j.day.has(j.ID, i.fileName()) {
				continue
			}
			attempts++
			requests++
			if i.Kind != kindEpisode {
				requests++
			}
		}
	}
	f.Logf("%d days, %d attempts to fetch: %d requests (one an episode, two a problem), %s at %d a minute",
		len(days), attempts, requests, f.duration(requests), f.PerMinute)
}

// duration returns, as text such as "about 5m0s", how long this number of requests takes at the
// configured rate.
func (f *Fetch) duration(requests int) string {
	d := time.Duration(requests) * time.Minute / time.Duration(max(1, f.PerMinute))
	return "about " + d.Round(time.Second).String()
}

// download writes the attempts of a run to disk. It writes the run.json before them, so that no
// attempt is on disk without it. It writes run.json again after them, with the field that says
// whether all are on disk, and with them the findings and the problems.
func (f *Fetch) download(ctx context.Context, j *job) error {
	if err := j.day.writeRun(&j.run, j.detail.Kind, f.Network, false); err != nil {
		return err
	}
	isComplete := !j.lacksFindings
	if j.detail.Items != nil && !j.detail.Items.Released {
		isComplete = false
		j.day.add(j.ID, "", stateUnreleased, "the run's attempts are not all public")
	}
	for _, i := range j.items {
		if i.Kind != kindEpisode {
			isOnDisk, err := f.downloadProblems(ctx, j)
			if err != nil {
				return err
			}
			isComplete = isComplete && isOnDisk
		}
		isOnDisk, err := f.downloadItem(ctx, j, i)
		if err != nil {
			return err
		}
		isComplete = isComplete && isOnDisk
	}
	return j.day.writeRun(&j.run, j.detail.Kind, f.Network, isComplete)
}

// downloadItem writes one attempt to disk, unless it is there, and adds an entry to the manifest.
// isOnDisk reports whether the attempt is on disk afterwards. It returns an error only if the fetch
// must stop: the server cannot be reached, the context is done, or the disk fails.
func (f *Fetch) downloadItem(
	ctx context.Context,
	j *job,
	i item,
) (isOnDisk bool, err error) {
	name := i.fileName()
	if name == "" {
		j.day.add(j.ID, i.ID, stateUnreleased, "the episode has no result that can be asked for")
		return false, nil
	}
	if !fileID.MatchString(name) {
		j.day.add(j.ID, "", stateDamaged, "an id that names no file")
		return false, nil
	}
	if j.day.has(j.ID, name) {
		j.day.add(j.ID, name, stateOnDisk, "")
		return true, nil
	}

	text, err := f.attempt(ctx, &j.run, i)
	if err == nil && i.Kind == kindEpisode && gjson.GetBytes(text, "episode_result_id").Str != i.Episode {
		err = fmt.Errorf("%w: feedback on another episode", errDamaged)
	}
	if err != nil {
		return false, j.day.addFailure(j.ID, name, err)
	}
	if err := atomicfile.WriteFile(j.day.path(j.ID, name), text); err != nil {
		return false, fmt.Errorf("keep attempt: %w", err)
	}
	j.day.add(j.ID, name, stateFetched, "")
	return true, nil
}

// downloadProblems writes the problems of the run's suite to a file in the day's folder. It does
// nothing if the file exists or the problems were requested before. A refusal by the server becomes
// an entry of the manifest. isOnDisk reports whether the file exists afterwards.
func (f *Fetch) downloadProblems(ctx context.Context, j *job) (isOnDisk bool, err error) {
	path := filepath.Join(j.day.folder, "problems.jsonl")
	if _, statErr := os.Stat(path); statErr == nil || j.day.requestedProblems {
		return statErr == nil, nil
	}
	j.day.requestedProblems = true
	lines, omitted, err := f.suiteProblems(ctx, j.Suite)
	if err != nil {
		return false, j.day.addFailure(j.ID, "", err)
	}
	if omitted > 0 {
		j.day.add(j.ID, "", stateMissing, fmt.Sprintf("%d problems of suite %d have no metadata", omitted, j.Suite))
	}
	var text bytes.Buffer
	for _, line := range lines {
		text.Write(append(line, '\n'))
	}
	return true, atomicfile.WriteFile(path, text.Bytes())
}

// closeDays writes the manifests of all days, and logs how many entries have each state.
func (f *Fetch) closeDays(days map[string]*day) error {
	var errs []error
	for _, d := range days {
		states, err := d.close()
		errs = append(errs, err)
		f.Logf("%s: %s", d.folder, strings.Join(states, ", "))
	}
	f.Logf("%d requests", f.Requests)
	return errors.Join(errs...)
}

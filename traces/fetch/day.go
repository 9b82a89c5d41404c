package fetch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/atomicfile"
	"github.com/trajectory-arena/arena/internal/canonical"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/traces"
)

// ManifestName is the name of the file with the state of each attempt of a day.
const ManifestName = "fetch.json"

// The states of an attempt in the manifest. An entry without an attempt has the state of a run.
const (
	stateFetched    = "fetched"
	stateOnDisk     = "on_disk"
	stateEmbargo    = "embargo"         // the race is in flight
	stateUnreleased = "not_released"    // not public yet
	stateExpired    = "expired_address" // a second address, requested after the first, expired too
	stateMissing    = "not_found"
	stateRefused    = "refused"
	stateDamaged    = "damaged" // the response is no attempt
	stateChanged    = "changed" // fields of the run differ from its run.json
)

// entry is a line of the manifest with the state of one attempt (Item) of a run, or of the run
// itself if Item is empty.
type entry struct {
	Run    string `json:"run"`
	Item   string `json:"item,omitempty"`
	State  string `json:"state"`
	Detail string `json:"detail,omitempty"`
}

// day is the folder with the attempts of one day, and its manifest.
type day struct {
	Base    string         `json:"base"`
	Network string         `json:"network"`
	Counts  map[string]int `json:"counts"`
	Entries []entry        `json:"entries"`
	folder  string
	// dryRun is set if nothing may be written.
	dryRun bool
	// requestedProblems is set once the day's problems were requested from the API.
	requestedProblems bool
}

func (d *day) runFolder(run string) string { return filepath.Join(d.folder, "traces", "run="+run) }

func (d *day) path(run, item string) string { return filepath.Join(d.runFolder(run), item+".json") }

func (d *day) has(run, item string) bool {
	_, err := os.Stat(d.path(run, item))
	return item != "" && err == nil
}

func (d *day) add(run, item, state, detail string) {
	d.Entries = append(d.Entries, entry{run, item, state, detail})
}

// codeStates maps error codes of the server to the states that the manifest (the list of downloads)
// then records for the requested attempts.
var codeStates = map[string]string{
	"RACE_IN_FLIGHT":        stateEmbargo,
	"ARTIFACT_NOT_RELEASED": stateUnreleased,
}

// addFailure adds err to the manifest as the state of an attempt, or of a run if item is empty. It
// returns err instead if the error concerns all attempts: the server cannot be reached, or the
// context is done.
func (d *day) addFailure(run, item string, err error) error {
	state := failureState(err)
	if state == "" {
		return err
	}
	d.add(run, item, state, err.Error())
	return nil
}

// failureState returns the state in the manifest of an attempt that failed with err. It returns
// "" if the error concerns all attempts, because the server cannot be reached or the context is
// done.
func failureState(err error) string {
	refusal, isRefusal := errors.AsType[*Refusal](err)
	switch {
	case errors.Is(err, errExpired):
		return stateExpired
	case isTemporary(err):
		return ""
	case !isRefusal:
		return stateDamaged
	case codeStates[refusal.Code] != "":
		return codeStates[refusal.Code]
	case refusal.Status == http.StatusNotFound:
		return stateMissing
	default:
		return stateRefused
	}
}

// storedFields are the names of the fields of the API's run object that are copied to the run's
// run.json.
var storedFields = strings.Fields(`
	eval_run_id agent_version_id validator_hotkey status is_included race_id race_number phase
	claimed_at completed_at validator_score reasoning_quality reasoning_coefficient
	score_components_summary inference_total inference_failure_count service_versions
	invalidated_at invalidation_reason
`)

// runFields returns the content of a run's run.json: the fields of storedFields that the API has
// for the run, the fields that package traces reads, and in problem_scores the results by problem
// that the subnet's validator published. isComplete (whether all attempts are on disk, with the
// findings and problems) becomes the field whole. It returns an error if the API's answer about the
// run is invalid JSON.
func runFields(
	r *run,
	kind, network string,
	isComplete bool,
) (map[string]json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(r.original, &fields); err != nil {
		return nil, fmt.Errorf("read run %s: %w", r.ID, err)
	}
	maps.DeleteFunc(fields, func(key string, value json.RawMessage) bool {
		return !slices.Contains(storedFields, key) || string(value) == "null"
	})
	for key, value := range map[string]any{
		"miner_hotkey":   r.Hotkey,
		"suite_version":  r.Suite,
		"started_at":     r.Claimed,
		"network":        network,
		"execution_kind": kind,
		"agent_code":     "AGENT_CODE/" + r.Agent,
		"whole":          isComplete,
		"problem_scores": r.findings,
	} {
		fields[key] = asjson.Bytes(value)
	}
	return fields, nil
}

// writeRun writes the run.json of a run. Its field whole gets the value isComplete, as in
// runFields.
func (d *day) writeRun(
	r *run,
	kind, network string,
	isComplete bool,
) error {
	fields, err := runFields(r, kind, network, isComplete)
	if err != nil {
		return err
	}
	return writeJSON(d.runFolder(r.ID), traces.MetaName, fields)
}

func writeJSON(folder, name string, v any) error {
	text, err := json.MarshalIndent(v, "", " ")
	if err == nil {
		err = os.MkdirAll(folder, 0o755)
	}
	if err != nil {
		return fmt.Errorf("keep %s of fetch: %w", name, err)
	}
	return atomicfile.WriteFile(filepath.Join(folder, name), append(text, '\n'))
}

// compareStored reports whether all of a run is on disk, as its run.json records, and sets the run's
// findings to those in it. If fields of the run have changed since run.json was written, it adds an
// entry to the manifest and, except in a dry run, writes run.json again.
func (d *day) compareStored(r *run, network string) (isComplete bool, err error) {
	text, err := os.ReadFile(filepath.Join(d.runFolder(r.ID), traces.MetaName))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	var stored map[string]json.RawMessage
	if err == nil {
		err = json.Unmarshal(text, &stored)
	}
	if err != nil {
		return false, fmt.Errorf("read run %s on disk: %w", r.ID, err)
	}
	var kind string
	_ = json.Unmarshal(stored["execution_kind"], &kind)       // optional
	_ = json.Unmarshal(stored["problem_scores"], &r.findings) // a list of runs lacks them
	isComplete = string(stored["whole"]) == "true"
	current, err := runFields(r, kind, network, isComplete)
	if err != nil {
		return false, err
	}
	changed := slices.Concat(storedFields, []string{"network", "miner_hotkey", "suite_version"})
	changed = slices.DeleteFunc(changed, func(key string) bool {
		return canonical.Form(string(stored[key])) == canonical.Form(string(current[key]))
	})
	if len(changed) > 0 {
		d.add(r.ID, "", stateChanged, strings.Join(changed, ", "))
		if !d.dryRun {
			err = d.writeRun(r, kind, network, isComplete)
		}
	}
	if isComplete {
		d.add(r.ID, "", stateOnDisk, "the whole run")
	}
	return isComplete, err
}

// close counts the entries of the manifest (attempts and runs) by their states, and writes the
// manifest. It returns one text for each state with its count, such as "fetched 12".
func (d *day) close() (counts []string, err error) {
	d.Counts = map[string]int{}
	for _, e := range d.Entries {
		d.Counts[e.State]++
	}
	for _, state := range slicesx.SortedKeys(d.Counts) {
		counts = append(counts, fmt.Sprintf("%s %d", state, d.Counts[state]))
	}
	return counts, writeJSON(d.folder, ManifestName, d)
}

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

// ManifestName is the file of a day that says what became of each attempt.
const ManifestName = "fetch.json"

// The states of an attempt, or of a run where it names no attempt.
const (
	stateFetched    = "fetched"
	stateOnDisk     = "on_disk"
	stateEmbargo    = "embargo"         // the race is in flight
	stateUnreleased = "not_released"    // not public yet
	stateExpired    = "expired_address" // twice, the second asked for anew
	stateMissing    = "not_found"
	stateRefused    = "refused"
	stateDamaged    = "damaged" // the answer is no attempt
	stateChanged    = "changed" // the run says other things than when it was fetched
)

type entry struct {
	Run    string `json:"run"`
	Item   string `json:"item,omitempty"`
	State  string `json:"state"`
	Detail string `json:"detail,omitempty"`
}

// day is a folder under way, and its manifest.
type day struct {
	Base    string         `json:"base"`
	Network string         `json:"network"`
	Counts  map[string]int `json:"counts"`
	Entries []entry        `json:"entries"`
	folder  string
	// asked is set once the day's problems were asked for.
	asked bool
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

// states are the words for what servers call their refusals.
var states = map[string]string{"RACE_IN_FLIGHT": stateEmbargo, "ARTIFACT_NOT_RELEASED": stateUnreleased}

// note files a failure under its state, and gives back what is none of the
// attempt's: the server cannot be reached, the user has enough.
func (d *day) note(run, item string, err error) error {
	var refused *Refusal
	var syntax *json.SyntaxError
	state := ""
	switch {
	case errors.Is(err, errExpired):
		state = stateExpired
	case errors.Is(err, errDamaged), errors.As(err, &syntax):
		state = stateDamaged
	case !errors.As(err, &refused) || refused.Status >= 500 || refused.Status == http.StatusTooManyRequests:
		return err
	case states[refused.Code] != "":
		state = states[refused.Code]
	case refused.Status == http.StatusNotFound:
		state = stateMissing
	default:
		state = stateRefused
	}
	d.add(run, item, state, err.Error())
	return nil
}

// kept are the fields of a run that stand in its run.json.
var kept = []string{"eval_run_id", "agent_version_id", "validator_hotkey", "status", "is_included", "race_id", "race_number", "phase", "claimed_at", "completed_at",
	"validator_score", "reasoning_quality", "reasoning_coefficient", "score_components_summary", "inference_total", "inference_failure_count", "service_versions", "invalidated_at", "invalidation_reason"}

// meta is the run.json of a run: what traces reads, and what the subnet found.
func meta(r *run, kind, network string, whole bool) (map[string]json.RawMessage, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(r.original, &all); err != nil {
		return nil, fmt.Errorf("read run %s: %w", r.ID, err)
	}
	maps.DeleteFunc(all, func(key string, value json.RawMessage) bool {
		return !slices.Contains(kept, key) || string(value) == "null"
	})
	for key, value := range map[string]any{
		"miner_hotkey": r.Hotkey, "suite_version": r.Suite, "started_at": r.Claimed, "network": network, "execution_kind": kind,
		"agent_code": "AGENT_CODE/" + r.Agent, "whole": whole, "problem_scores": r.found,
	} {
		all[key] = asjson.Bytes(value)
	}
	return all, nil
}

func (d *day) describe(r *run, kind, network string, whole bool) error {
	all, err := meta(r, kind, network, whole)
	if err != nil {
		return err
	}
	return keep(d.runFolder(r.ID), traces.MetaName, all)
}

func keep(folder, name string, v any) error {
	text, err := json.MarshalIndent(v, "", " ")
	if err == nil {
		err = os.MkdirAll(folder, 0o755)
	}
	if err != nil {
		return fmt.Errorf("keep %s of fetch: %w", name, err)
	}
	return atomicfile.WriteFile(filepath.Join(folder, name), append(text, '\n'))
}

// known reports whether all of a run is on disk. It names what the run says
// otherwise than when it was fetched, and writes that down.
func (d *day) known(r *run, network string) (whole bool, err error) {
	text, err := os.ReadFile(filepath.Join(d.runFolder(r.ID), traces.MetaName))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	var old map[string]json.RawMessage
	if err == nil {
		err = json.Unmarshal(text, &old)
	}
	if err != nil {
		return false, fmt.Errorf("read run %s on disk: %w", r.ID, err)
	}
	var kind string
	_ = json.Unmarshal(old["execution_kind"], &kind)    // absent, it stays empty
	_ = json.Unmarshal(old["problem_scores"], &r.found) // a list of runs does not say them
	whole = string(old["whole"]) == "true"
	now, err := meta(r, kind, network, whole)
	if err != nil {
		return false, err
	}
	changed := slices.DeleteFunc(slices.Concat(kept, []string{"network", "miner_hotkey", "suite_version"}), func(key string) bool {
		return canonical.Form(string(old[key])) == canonical.Form(string(now[key]))
	})
	if len(changed) > 0 {
		d.add(r.ID, "", stateChanged, strings.Join(changed, ", "))
		err = d.describe(r, kind, network, whole)
	}
	if whole {
		d.add(r.ID, "", stateOnDisk, "the whole run")
	}
	return whole, err
}

// close writes the manifest, and says how many attempts are in which state.
func (d *day) close() (words []string, err error) {
	d.Counts = map[string]int{}
	for _, e := range d.Entries {
		d.Counts[e.State]++
	}
	words = slicesx.Map(slices.Sorted(maps.Keys(d.Counts)), func(state string) string { return fmt.Sprintf("%s %d", state, d.Counts[state]) })
	return words, keep(d.folder, ManifestName, d)
}

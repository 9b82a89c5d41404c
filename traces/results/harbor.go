package results

import (
	"cmp"
	"io/fs"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/traces/formats"
)

// Harbor is the format of an attempt in a trial of Harbor: a trajectory in ATIF, whose outcome is in
// other files.
const Harbor arena.Shape = "harbor"

// The files of a trial of Harbor, and its folder of steps.
const (
	resultName     = "result.json"
	configName     = "config.json"
	trajectoryName = "agent/trajectory.json"
	continuedName  = "trajectory.cont-"
	rewardText     = "verifier/reward.txt"
	rewardJSON     = "verifier/reward.json"
	stepsName      = "steps"
)

// Attempt is an attempt of a trial of Harbor.
type Attempt struct {
	Result
	// File is the slash-separated name of the trajectory, or of another file of the trial if it has
	// no trajectory.
	File          string
	HasTrajectory bool
	// SHA256 is the hash of what the files beside the trajectory say of the attempt.
	SHA256 string
}

// IsJob reports whether a folder is that of a job of Harbor, by its result or its configuration. The
// folders in it are trials, and its files are no traces.
func IsJob(fsys fs.FS, folder string) bool {
	result, _ := readObject(fsys, path.Join(folder, resultName))
	if result.Get("n_total_trials").Exists() {
		return true
	}
	config, _ := readObject(fsys, path.Join(folder, configName))
	return config.Get("job_name").Exists() && config.Get("jobs_dir").Exists()
}

// ReadTrial returns the attempts of the trial in a folder: one, or one for each step of a task that
// has steps, and one for each trajectory in which the agent continued after a summary. It returns
// none if neither the result nor the configuration in the folder is that of a trial.
func ReadTrial(fsys fs.FS, folder string) []Attempt {
	t := trial{fsys: fsys, folder: folder}
	t.result, t.text = readObject(fsys, path.Join(folder, resultName))
	t.config = t.result.Get("config")
	if !t.config.IsObject() {
		t.config, _ = readObject(fsys, path.Join(folder, configName))
	}
	if !t.isTrial() {
		return nil
	}

	var attempts []Attempt
	if a := t.attempt("", t.result); a.HasTrajectory {
		attempts = append(attempts, t.withContinuations(a)...)
	}
	steps, _ := fs.ReadDir(fsys, path.Join(folder, stepsName))
	for _, step := range steps {
		if a := t.attempt(step.Name(), t.step(step.Name())); a.HasTrajectory {
			attempts = append(attempts, t.withContinuations(a)...)
		}
	}
	if len(attempts) == 0 {
		attempts = []Attempt{t.attempt("", t.result)}
	}
	return attempts
}

// trial is the folder of a trial of Harbor.
type trial struct {
	fsys   fs.FS
	folder string
	// result is the JSON of result.json, and text the content of the file. If the trial did not
	// end, result does not exist.
	result gjson.Result
	text   []byte
	config gjson.Result
}

func (t *trial) isTrial() bool {
	isResult := t.result.Get("verifier_result").Exists() || t.result.Get("exception_info").Exists()
	if isResult || t.result.Get("trial_name").Exists() {
		return true
	}
	return t.config.Get("trial_name").Exists() && t.config.Get("task").IsObject()
}

// step returns the recorded result of the step with this name. If there is none, the result does
// not exist.
func (t *trial) step(name string) gjson.Result {
	for _, step := range t.result.Get("step_results").Array() {
		if step.Get("step_name").Str == name {
			return step
		}
	}
	return gjson.Result{}
}

// attempt returns the attempt at one step of the trial; result is the recorded result of the step.
// For a trial without steps, step is empty and result is that of the trial.
func (t *trial) attempt(step string, result gjson.Result) Attempt {
	folder := t.folder
	task := cmp.Or(
		t.result.Get("task_name").Str,
		t.config.Get("task.name").Str,
		baseName(t.config.Get("task.path").Str),
	)
	if step != "" {
		folder = path.Join(folder, stepsName, step)
		task = path.Join(task, step)
	}
	a := Attempt{
		Result: Result{
			RunID:     t.config.Get("job_id").Str,
			Trial:     cmp.Or(t.result.Get("trial_name").Str, t.config.Get("trial_name").Str),
			ProblemID: task,
			Agent:     cmp.Or(formats.AgentVersion(t.result.Get("agent_info.name").Str, t.result.Get("agent_info.version").Str), t.config.Get("agent.name").Str),
			Model:     cmp.Or(t.result.Get("agent_info.model_info.name").Str, t.config.Get("agent.model_name").Str),
		},
		File: path.Join(folder, trajectoryName),
	}
	info, err := fs.Stat(t.fsys, a.File)
	a.HasTrajectory = err == nil && info.Mode().IsRegular()
	if !a.HasTrajectory {
		a.File = t.file()
	}
	if !t.result.Exists() && isFile(t.fsys, path.Join(t.folder, resultName)) {
		a.Lost = append(a.Lost, unread+resultName)
	}
	rewards := a.setOutcome(t.fsys, folder, result)
	a.SHA256 = digest.SHA256(slices.Concat(t.text, []byte(t.config.Raw), rewards))
	return a
}

// withContinuations returns the attempt first and its continuations. There is one for each file
// next to its trajectory in which the agent continued after a summary of the earlier messages.
func (t *trial) withContinuations(first Attempt) []Attempt {
	attempts := []Attempt{first}
	folder := path.Dir(first.File)
	entries, _ := fs.ReadDir(t.fsys, folder)
	for _, entry := range entries {
		number, isContinued := strings.CutPrefix(entry.Name(), continuedName)
		number, isJSON := strings.CutSuffix(number, ".json")
		if !isContinued || !isJSON || !entry.Type().IsRegular() {
			continue
		}
		a := first
		a.File = path.Join(folder, entry.Name())
		a.Trial = first.Trial + "-cont-" + number
		attempts = append(attempts, a)
	}
	return attempts
}

// file returns the name of the file that represents a trial without a trajectory: its result, or
// its configuration if it has no result.
func (t *trial) file() string {
	if t.result.Exists() {
		return path.Join(t.folder, resultName)
	}
	return path.Join(t.folder, configName)
}

// baseName returns the last element of a path, "" for an empty path.
func baseName(name string) string {
	if name == "" {
		return ""
	}
	return path.Base(strings.ReplaceAll(name, `\`, "/"))
}

// setOutcome sets the reward and the error of an attempt from its recorded result. If the result
// has neither, the reward is read from one of the verifier's own files in the folder, whose content
// is returned; otherwise the returned content is nil. A reward that Harbor does not count, because
// of the error, stays nil.
func (r *Result) setOutcome(fsys fs.FS, folder string, result gjson.Result) (file []byte) {
	rewards := result.Get("verifier_result.rewards")
	if e := result.Get("exception_info"); e.IsObject() {
		r.Error = &arena.AttemptError{
			Type:    cmp.Or(e.Get("exception_type").Str, "exception"),
			Message: e.Get("exception_message").Str,
		}
		isCounted := result.Get("reward_valid").Type != gjson.False && e.Get("policy.has_valid_reward").Type != gjson.False
		if isCounted {
			r.setReward(rewards)
		}
		return nil
	}
	if rewards.Exists() && rewards.Type != gjson.Null {
		r.setReward(rewards)
		return nil
	}
	object, file := readObject(fsys, path.Join(folder, rewardJSON))
	if object.Exists() {
		r.setReward(object)
		return file
	}
	if isFile(fsys, path.Join(folder, rewardJSON)) {
		r.Lost = append(r.Lost, unread+rewardJSON)
	}
	if !isFile(fsys, path.Join(folder, rewardText)) {
		return file
	}
	file = readFile(fsys, path.Join(folder, rewardText))
	reward, err := strconv.ParseFloat(strings.TrimSpace(string(file)), 64)
	if err != nil || math.IsInf(reward, 0) || math.IsNaN(reward) {
		r.Lost = append(r.Lost, unread+rewardText)
		return file
	}
	r.Reward = &reward
	return file
}

// setReward sets the reward from an object of named rewards: the one with the name reward, or the
// only one. Several rewards are recorded as a loss, and if none of them is named reward, no reward
// is set.
func (r *Result) setReward(rewards gjson.Result) {
	all := rewards.Map()
	reward := rewards.Get("reward")
	for _, only := range all {
		if len(all) == 1 {
			reward = only
		}
	}
	if len(all) > 1 {
		r.Lost = append(r.Lost, formats.LostScores)
	}
	if reward.Type == gjson.Number && !math.IsInf(reward.Num, 0) {
		r.Reward = &reward.Num
	}
}

package foreign

import (
	"archive/zip"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/internal/stats"
	plaintext "github.com/trajectory-arena/arena/internal/text"
	"github.com/trajectory-arena/arena/internal/wrong"
)

// readInspectZip reads a log of inspect_ai in its format .eval, a zip file with a document for each
// sample.
func readInspectZip(path string) (_ *Evaluation, err error) {
	log, err := zip.OpenReader(path)
	if err != nil {
		return nil, err
	}
	log.RegisterDecompressor(zstd.ZipMethodWinZip, zstd.ZipDecompressor())
	defer wrong.Close(&err, log.Close)
	var header gjson.Result
	for _, f := range log.File {
		if f.Name == "header.json" {
			header, err = readEntry(f)
		}
	}
	if err != nil {
		return nil, err
	}
	if !header.Exists() { // written when the evaluation ends
		return nil, ErrUnfinished
	}
	e, err := newInspect(header)
	if err != nil {
		return nil, err
	}
	for _, f := range log.File {
		if !strings.HasPrefix(f.Name, "samples/") {
			continue
		}
		sample, err := readEntry(f)
		if err != nil {
			return nil, err
		}
		e.addInspectSample(sample)
	}
	return e, nil
}

func readEntry(f *zip.File) (v gjson.Result, err error) {
	var text []byte
	in, err := f.Open()
	if err == nil {
		text, err = plaintext.ReadAll(in, maxSample)
		err = errors.Join(err, in.Close())
	}
	if err == nil {
		v, err = parse(text)
	}
	return v, wrong.Wrap(f.Name, err)
}

// readInspectDocument reads a log of inspect_ai that is one document. damage is the error that it
// was read with: a log that is cut and has not ended is unfinished.
func readInspectDocument(doc gjson.Result, damage error) (*Evaluation, error) {
	e, err := newInspect(doc)
	if err != nil {
		return nil, err
	}
	for _, sample := range members(doc.Get("samples")) {
		e.addInspectSample(sample)
	}
	return e, damage
}

// newInspect returns an evaluation without samples from the header of a log of inspect_ai. The
// error is ErrUnfinished if the log's status is not success.
func newInspect(header gjson.Result) (*Evaluation, error) {
	if status := header.Get("status").String(); status != "success" {
		return nil, fmt.Errorf("%w: its status is %q", ErrUnfinished, status)
	}
	spec := header.Get("eval")
	e := &Evaluation{Harness: "inspect_ai", Task: spec.Get("task").String(), Model: spec.Get("model").String()}
	for _, name := range []string{"task_version", "task_args", "config", "model_args", "model_generate_config"} {
		e.setting(name, spec.Get(name))
	}
	e.setting("dataset", spec.Get("dataset.name"))
	e.setting("steps", header.Get("plan.steps"))
	e.stated = header.Get("results.total_samples").Int() - header.Get("results.early_stopping.early_stops.#").Int()
	return e, nil
}

// addInspectSample adds a sample of an inspect_ai log as a rollout. Its reward is the score that
// has the name of the log's first score; a sample with an error or without a numeric score of that
// name has no reward. All scores that are numbers are kept by name.
func (e *Evaluation) addInspectSample(sample gjson.Result) {
	r := e.newRollout(sample.Get("id").String(), lastRequest(sample.Get("input")), sample.Get("messages"), sample.Get("metadata"))
	r.trial = sample.Get("epoch").Int()
	for model, usage := range members(sample.Get("model_usage")) {
		if model == e.Model {
			r.Tokens.Prompt = new(usage.Get("input_tokens").Int())
			r.Tokens.Completion = new(usage.Get("output_tokens").Int())
		}
	}
	first := ""
	scores := map[string]float64{}
	for name, score := range members(sample.Get("scores")) {
		if first == "" {
			first = name
		}
		if value := inspectValue(score.Get("value")); value != nil {
			scores[name] = *value
		}
	}
	if e.Scorer == "" {
		e.Scorer = first
	}
	reward, isNumber := scores[e.Scorer]
	switch failure := sample.Get("error"); {
	case failure.IsObject():
		r.fail("error", failure.Get("message").String())
	case !isNumber:
		r.fail("no_score", fmt.Sprintf("the score %q is no number and no grade", e.Scorer))
	default:
		r.scored(reward, scores)
		r.Stop = stop("limit", sample.Get("limit.type").String())
	}
	e.Rollouts = append(e.Rollouts, r)
}

// inspectGrades maps the words that inspect_ai's scorers write to their values, like inspect_ai's
// value_to_float.
var inspectGrades = map[string]float64{"C": 1, "P": 0.5, "I": 0, "N": 0, "yes": 1, "true": 1, "no": 0, "false": 0}

// inspectValue returns a score of inspect_ai as a finite number. The score may be a number, a
// number in a string, a boolean (1 or 0), or a word of inspectGrades. It returns nil for any other
// value.
func inspectValue(v gjson.Result) *float64 {
	switch v.Type {
	case gjson.True, gjson.False:
		return new(v.Float())
	case gjson.Number:
		return stats.FiniteOrNil(v.Num)
	case gjson.String:
		if grade, known := inspectGrades[v.Str]; known {
			return &grade
		}
		if number, err := strconv.ParseFloat(v.Str, 64); err == nil {
			return stats.FiniteOrNil(number)
		}
	case gjson.Null, gjson.JSON:
	}
	return nil
}

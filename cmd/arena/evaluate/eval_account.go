package evaluate

import (
	"fmt"
	"io"
	"time"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/internal/evaluation"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/judges/prices"
	"github.com/trajectory-arena/arena/student"
	"github.com/trajectory-arena/arena/student/telemetry"
)

// noJudge is the value of --judge with which no attempt is graded.
const noJudge = "none"

// openJudge opens the run's judge of reasoning and records its name and settings in the run's spec,
// since grades of different judges cannot be compared. done closes the judge. Warnings are written
// to words.
func (f *Flags) openJudge(words io.Writer, run *student.Run) (done func() error, err error) {
	if f.Judge.Name == noJudge {
		run.Spec.Judge = ""
		return func() error { return nil }, nil
	}
	// The flags --endpoint and --model of this command are for the student. Models that
	// judge are configured in the judge's own file.
	judge, err := f.Judge.Open(words)
	if err != nil {
		return nil, err
	}
	run.Judge, run.Spec.Judge = judge.Judge, judge.Is.Name
	const enough = 12
	if judge.Is.Settings != "" {
		run.Spec.Judge += "-" + judge.Is.Settings[:enough]
	}
	f.maxUnjudged = judge.MaxUnscored
	return judge.Close, nil
}

func (f *Flags) unjudged(m *evaluation.Summary) error {
	missing := m.Scored - m.Judged
	if f.Judge.Name == noJudge || float64(missing) <= f.maxUnjudged*float64(m.Scored) {
		return nil
	}
	return cli.Limit(fmt.Errorf("%d of %d rollouts have no answer of the judge", missing, m.Scored),
		"`arena eval --rescore` with the same judge asks for the missing ones alone, or raise max_unscored in --judge-config")
}

// evalAccount is the content of telemetry.json: all that depends on clock, machine and prices, and
// is therefore not in the summary.
type evalAccount struct {
	// The first fields are of the command that finished the run.
	Seconds           float64 `json:"seconds"`
	Rollouts          int     `json:"rollouts"`
	RolloutsPerSecond float64 `json:"rollouts_per_second"`
	Requests          int64   `json:"requests"`
	Retries           int64   `json:"retries"`
	Overloads         int64   `json:"overloads"`
	Limits            []int   `json:"limits"`
	Serve             string  `json:"serve,omitempty"`

	// LeftOut says what a server refused of its own replies, so that it was not sent back.
	LeftOut string `json:"left_out,omitempty"`
	// Fallbacks are the fields of requests that differ from the usual ones, since a server refused
	// those.
	Fallbacks []string `json:"fallbacks,omitempty"`

	Servers   []telemetry.Identity `json:"servers"`
	GPUSource string               `json:"gpu_source,omitempty"`
	GPUs      []telemetry.Device   `json:"gpus,omitempty"`
	// Usage and Cost are of all commands that worked on the run.
	Usage telemetry.Usage `json:"usage"`
	Cost  evaluation.Cost `json:"cost"`
}

func (w *evalWatch) account(s *evaluation.Summary) error {
	usage, err := telemetry.ReadUsage(w.file(student.TelemetrySeries))
	if err != nil {
		return err
	}
	cost := w.flags.cost(s, usage.GPUSeconds)
	c := &w.pool.Counts
	done := w.rollouts()
	seconds := time.Since(w.began).Seconds()
	w.flags.bill = cost.String()
	leftOut := ""
	if returned := model.Returned(w.refused.Load()); returned != model.AsItCame {
		leftOut = returned.String()
	}
	return student.WriteJSON(w.file(student.TelemetryFile), evalAccount{
		LeftOut: leftOut, Fallbacks: w.template().Fallbacks(),
		Seconds: seconds, Rollouts: done, RolloutsPerSecond: float64(done) / seconds, Requests: c.Requests.Load(),
		Retries: c.Retries.Load(), Overloads: c.Overloads.Load(), Limits: w.pool.Limits(), Serve: w.flags.serve,
		Servers: w.servers, GPUSource: w.gpus.Source, GPUs: w.gpus.Devices, Usage: usage, Cost: cost,
	})
}

func (f *Flags) cost(s *evaluation.Summary, gpuSeconds *float64) evaluation.Cost {
	c := evaluation.Cost{
		SolvedProblems: s.SolvedProblems,
		Uncounted:      s.Tokens.Uncounted,
	}
	c.Total.GPUSeconds = gpuSeconds
	if t := s.Tokens; t.Prompt != nil && t.Completion != nil {
		c.Total.PromptTokens = new(float64(*t.Prompt))
		c.Total.CompletionTokens = new(float64(*t.Completion))
		if s.Cached > 0 {
			c.Total.CachedTokens = new(float64(s.Cached))
		}
		c.Total.TokenUSD = f.priceTable.Cost(f.Played.Model, prices.Tokens{
			Prompt:     int(*t.Prompt),
			Cached:     int(s.Cached),
			Completion: int(*t.Completion),
		})
	}
	if f.gpuHourUSD > 0 && gpuSeconds != nil {
		c.Total.GPUUSD = new(*gpuSeconds / time.Hour.Seconds() * f.gpuHourUSD)
	}
	c.SetPerSolved()
	return c
}

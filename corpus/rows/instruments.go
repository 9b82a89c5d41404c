package rows

import "github.com/trajectory-arena/arena"

// VerdictOf is the row of what the structural filter says of an attempt.
func VerdictOf(a *Attempt, s *arena.Structure) *Verdict {
	row := &Verdict{
		TraceID: a.TraceID, RecordSHA256: a.RecordSHA256, Keep: s.Keep, Axis: string(s.Axis),
		Confidence: s.Confidence, Adaptivity: s.Adaptivity, Reasons: s.Reasons, RichnessV1: s.RichnessV1, RichnessV2: s.RichnessV2,
		Checks: make([]CheckVerdict, 0, len(s.Verdicts)), Features: make([]Feature, 0, len(s.Features)),
	}
	for _, v := range s.Verdicts {
		row.Checks = append(row.Checks, CheckVerdict{
			Check: v.Check, Keep: v.Decision == arena.Keep, Reason: v.Reason, Value: v.Value, Limit: v.Limit,
		})
	}
	for _, f := range s.Features {
		if Finite(f.Value) != nil {
			row.Features = append(row.Features, Feature{Name: f.Name, Value: f.Value})
		}
	}
	return row
}

// JudgementOf is the row of a judgement of an attempt with the factor that came of it; nil for none.
func JudgementOf(a *Attempt, j *arena.Judgement, factor *float64) *Judgement {
	row := &Judgement{
		TraceID: a.TraceID, RecordSHA256: a.RecordSHA256, Judge: j.Judge, Outcome: string(j.Outcome), Score: j.Score,
		Multiplier: factor, Gates: j.Gates, Model: j.Model, PromptSHA256: j.PromptSHA256,
		PromptTokens: int64(j.PromptTokens), CompletionTokens: int64(j.CompletionTokens), CostUSD: j.CostUSD, Detail: j.Detail,
	}
	for _, s := range j.Spans {
		row.Spans = append(row.Spans, Span{Gate: int64(s.Gate), Step: int64(s.Step), Quote: s.Quote})
	}
	return row
}

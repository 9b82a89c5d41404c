package rows

import (
	"reflect"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/stats"
)

// Attempt is a row of tables/attempts.parquet: an attempt, or a record that could not be read.
// The table includes attempts that are not in the corpus.
type Attempt struct {
	// TraceID is "run/problem" or, without these, the record's SHA-256. It is empty if the
	// record could not be read.
	TraceID      string `parquet:"trace_id"`
	RunID        string `parquet:"eval_run_id"`
	ProblemID    string `parquet:"problem_id"`
	AgentVersion string `parquet:"agent_version"`
	AgentHotkey  string `parquet:"agent_hotkey"`
	Suite        string `parquet:"suite"`
	// RunDate is in Unix milliseconds.
	RunDate      *int64 `parquet:"run_date,optional,timestamp(millisecond)"`
	SourceSHA256 string `parquet:"source_sha256"`
	// SourceLine is the number of the line, counted from 1. It is 0 if the file is a single
	// attempt.
	SourceLine        int64    `parquet:"source_line"`
	Shape             string   `parquet:"shape"`
	RecordSHA256      string   `parquet:"record_sha256"`
	Bytes             int64    `parquet:"bytes"`
	Status            string   `parquet:"status"`
	HasDialogue       bool     `parquet:"has_dialogue"`
	Seconds           *float64 `parquet:"seconds,optional"`
	InferenceTotal    *int64   `parquet:"inference_total,optional"`
	InferenceFailures *int64   `parquet:"inference_failures,optional"`
	ErrorType         string   `parquet:"error_type"`
	TaskType          string   `parquet:"task_type"`
	NSteps            int64    `parquet:"n_steps"`
	NToolCalls        int64    `parquet:"n_tool_calls"`
	// NTokens is 0, and TokenCounter empty, for an attempt that was not made into text.
	NTokens      int64  `parquet:"n_tokens"`
	TokenCounter string `parquet:"token_counter"`
	// Fate is kept, dropped or failed. Stage is the stage that dropped the attempt or failed,
	// and Reason the code of the reason. Both are empty if the attempt was kept.
	Fate    string `parquet:"fate"`
	Stage   string `parquet:"stage"`
	Reason  string `parquet:"reason"`
	Split   string `parquet:"split"`
	Cluster string `parquet:"dedup_cluster"`
	// Rank is the rank among the kept attempts at the problem, counted from 1. It is null for
	// other attempts.
	Rank *int64 `parquet:"rank,optional"`
	// Model is the model that answered, as the source names it. It is null if the source names none.
	Model *string `parquet:"model,optional"`
}

// ID returns the first column of a row of a ledger table: the id of the attempt or of the
// checked text. row must be a pointer.
func ID(row any) string { return reflect.ValueOf(row).Elem().Field(0).String() }

// The values of Attempt.Fate.
const (
	FateKept    = "kept"
	FateDropped = "dropped"
	FateFailed  = "failed"
)

// Verdict is a row of tables/verdicts.parquet: the verdict of the structural filter on an
// attempt.
type Verdict struct {
	TraceID      string   `parquet:"trace_id"`
	RecordSHA256 string   `parquet:"record_sha256"`
	Keep         bool     `parquet:"keep"`
	Axis         string   `parquet:"axis"`
	Confidence   float64  `parquet:"confidence"`
	Adaptivity   *float64 `parquet:"adaptivity,optional"`
	Reasons      []string `parquet:"reasons,list"`
	RichnessV1   *float64 `parquet:"richness_v1,optional"`
	RichnessV2   *float64 `parquet:"richness_v2,optional"`
	// ThinkingUnsaid is the share of the thinking that is in no logged reply, nil if the log is
	// incomplete. If ThinkingStripped is true, the rows of the attempt have no thinking.
	ThinkingUnsaid   *float64       `parquet:"thinking_unsaid,optional"`
	ThinkingStripped bool           `parquet:"thinking_stripped"`
	Checks           []CheckVerdict `parquet:"checks,list"`
	Features         []Feature      `parquet:"features,list"`
}

// CheckVerdict is the result of one check of a Verdict.
type CheckVerdict struct {
	Check  string  `parquet:"check"`
	Keep   bool    `parquet:"keep"`
	Reason string  `parquet:"reason"`
	Value  float64 `parquet:"value"`
	Limit  float64 `parquet:"limit"`
}

// Feature is a measured value of a Verdict. A Verdict has no Feature for a value that could not
// be measured.
type Feature struct {
	Name  string  `parquet:"name" json:"name"`
	Value float64 `parquet:"value" json:"value"`
}

// Outcome is a row of tables/outcomes.parquet: the subnet's score of an attempt. An axis is null
// if the task does not have it or if it was not scored.
type Outcome struct {
	TraceID      string   `parquet:"trace_id"`
	RecordSHA256 string   `parquet:"record_sha256"`
	Scored       bool     `parquet:"scored"`
	Error        string   `parquet:"error"`
	Success      bool     `parquet:"success"`
	Length       *float64 `parquet:"length,optional"`
	Format       *float64 `parquet:"format,optional"`
	Product      *float64 `parquet:"product,optional"`
	GT           *float64 `parquet:"gt,optional"`
	Rule         *float64 `parquet:"rule,optional"`
	Title        *float64 `parquet:"title,optional"`
	Price        *float64 `parquet:"price,optional"`
	Service      *float64 `parquet:"service,optional"`
	SKUAttrs     *float64 `parquet:"sku_attrs,optional"`
	Shop         *int64   `parquet:"shop,optional"`
	Budget       *int64   `parquet:"budget,optional"`
	// Titles is the source of title vectors: none, vectors or endpoint.
	Titles string `parquet:"titles"`
	// Paid and the following fields are the verdict of the subnet's verifier. They are empty for
	// attempts that are scored by the rules.
	Paid     *float64 `parquet:"paid,optional"`
	Category string   `parquet:"category"`
	Ending   string   `parquet:"ending"`
	Passed   []string `parquet:"passed,list"`
	Failed   []string `parquet:"failed,list"`
	Flags    []string `parquet:"flags,list"`
}

// Judgement is a row of tables/judgements.parquet: a judge's answer about an attempt. It does
// not record whether the answer was cached, so that a resumed run writes the same bytes.
type Judgement struct {
	TraceID          string   `parquet:"trace_id"`
	RecordSHA256     string   `parquet:"record_sha256"`
	Judge            string   `parquet:"judge"`
	Outcome          string   `parquet:"outcome"`
	Score            *float64 `parquet:"score,optional"`
	Multiplier       *float64 `parquet:"multiplier,optional"`
	Gates            []bool   `parquet:"gates,list"`
	Spans            []Span   `parquet:"spans,list"`
	Model            string   `parquet:"model"`
	PromptSHA256     string   `parquet:"prompt_sha256"`
	PromptTokens     int64    `parquet:"prompt_tokens"`
	CompletionTokens int64    `parquet:"completion_tokens"`
	CostUSD          *float64 `parquet:"cost_usd,optional"`
	Detail           string   `parquet:"detail"`
	// OneIn is the number of attempts that the attempt was drawn from for grading, since it cannot
	// become a row: its grade stands for as many. It is nil for all other attempts.
	OneIn *int64 `parquet:"one_in,optional"`
}

// Counts returns the number of attempts that the score stands for.
func (j *Judgement) Counts() float64 {
	if j.OneIn == nil {
		return 1
	}
	return float64(*j.OneIn)
}

// Span is a passage that the judge of a Judgement cites.
type Span struct {
	Gate  int64  `parquet:"gate"`
	Step  int64  `parquet:"step"`
	Quote string `parquet:"quote"`
}

// Leak is a row of tables/leaks.parquet: the comparison of a text with the bank of protected
// problems.
type Leak struct {
	// ID is the id of the trace or problem that contains the text.
	ID         string  `parquet:"id"`
	TextSHA256 string  `parquet:"text_sha256"`
	Match      string  `parquet:"match"`
	Drop       bool    `parquet:"drop"`
	Same       bool    `parquet:"same"`
	Score      float64 `parquet:"score"`
	Tier       string  `parquet:"tier"`
	Evidence   string  `parquet:"evidence"`
}

// Place is a row of tables/places.parquet: the rank of an attempt among all ranked attempts at
// its problem, including those that were not kept.
type Place struct {
	TraceID      string `parquet:"trace_id"`
	RecordSHA256 string `parquet:"record_sha256"`
	// Place is the rank, counted from 1 for the best attempt.
	Place int64 `parquet:"place"`
	// Better is the kept attempt that this one nearly repeats, "" if there is none. Similarity
	// is the estimated Jaccard similarity of the two, from 0 to 1.
	Better     string   `parquet:"better"`
	Similarity *float64 `parquet:"similarity,optional"`
}

// Declared is a row of tables/declared.parquet: what the source of an attempt declares, for
// attempts of other programs.
type Declared struct {
	TraceID      string `parquet:"trace_id"`
	RecordSHA256 string `parquet:"record_sha256"`
	// Domain is the name of the attempt's domain.
	Domain string `parquet:"domain"`
	// Reward is the reward that the source declares, on any scale. It is null if the source
	// declares none.
	Reward *float64 `parquet:"reward,optional"`
}

// Provenance is a row of tables/provenance.parquet: the source of one row of a mixture.
type Provenance struct {
	Config string `parquet:"config"`
	Split  string `parquet:"split"`
	// Row is the number of the row within the split, counted from 0 over all shards in order.
	Row int64 `parquet:"row"`
	// SourceCorpus is the SHA-256 of the source's manifest.json. SourcePath is a shard of the
	// source. SourceRow is the row's number in that shard, counted from 0.
	SourceCorpus string `parquet:"source_corpus"`
	SourcePath   string `parquet:"source_path"`
	SourceRow    int64  `parquet:"source_row"`
}

// NewVerdict returns the table row for the structural filter's verdict on an attempt.
func NewVerdict(a *Attempt, s *arena.Structure) *Verdict {
	return &Verdict{
		TraceID:      a.TraceID,
		RecordSHA256: a.RecordSHA256,
		Keep:         s.Keep,
		Axis:         string(s.Axis),
		Confidence:   s.Confidence,
		Adaptivity:   s.Adaptivity,
		Reasons:      s.Reasons,
		RichnessV1:   s.RichnessV1,
		RichnessV2:   s.RichnessV2,

		ThinkingUnsaid:   s.ThinkingUnsaid,
		ThinkingStripped: s.ThinkingStripped,

		Checks: slicesx.Map(s.Verdicts, func(v arena.Verdict) CheckVerdict {
			return CheckVerdict{
				Check:  v.Check,
				Keep:   v.Decision == arena.Keep,
				Reason: v.Reason,
				Value:  v.Value,
				Limit:  v.Limit,
			}
		}),
		Features: slicesx.FilterMap(s.Features, func(f arena.Feature) (Feature, bool) {
			return Feature{f.Name, f.Value}, stats.FiniteOrNil(f.Value) != nil
		}),
	}
}

// NewJudgement returns the table row for a judgement about an attempt. multiplier is the factor
// that the judgement gives, nil if there is none.
func NewJudgement(a *Attempt, j *arena.Judgement, multiplier *float64) *Judgement {
	return &Judgement{
		TraceID:          a.TraceID,
		RecordSHA256:     a.RecordSHA256,
		Judge:            j.Judge,
		Outcome:          string(j.Outcome),
		Score:            j.Score,
		Multiplier:       multiplier,
		Gates:            j.Gates,
		Model:            j.Model,
		PromptSHA256:     j.PromptSHA256,
		PromptTokens:     int64(j.PromptTokens),
		CompletionTokens: int64(j.CompletionTokens),
		CostUSD:          j.CostUSD,
		Detail:           j.Detail,
		Spans: slicesx.Map(j.Spans, func(s arena.Span) Span {
			return Span{
				Gate:  int64(s.Gate),
				Step:  int64(s.Step),
				Quote: s.Quote,
			}
		}),
	}
}

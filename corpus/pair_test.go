package corpus_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/rows"
)

var fourPairs = rows.PairRule{PerProblem: 4, MinMargin: 0.1}

func candidate(id string, success bool, judge float64, tokens int64) rows.Candidate {
	c := rows.Candidate{SessionID: id, Success: success, Tokens: tokens, Harness: harness().Name}
	c.Prompt, c.Completion = rows.SplitCompletion([]chat.Message{
		{Role: chat.System, Content: "s"}, {Role: chat.User, Content: "q"}, {Role: chat.Assistant, Content: id}}, nil)
	if judge > 0 {
		c.Judge = &judge
	}
	return c
}

func TestPairs(t *testing.T) {
	t.Parallel()
	cs := []rows.Candidate{candidate("good", true, 0.9, 100), candidate("lucky", true, 0.3, 120), candidate("near", false, 0.7, 110),
		candidate("bad", false, 0.1, 900), candidate("unjudged", false, 0, 100)}
	pairs := fourPairs.Pairs(cs, facts(corpus.SplitTrain, 0))
	if len(pairs) != 2 {
		t.Fatalf("%d pairs", len(pairs))
	}
	// the widest margin: solved and graded 0.9 against unsolved without a grade
	if pairs[0].ChosenSession != "good" || pairs[0].RejectedSession != "unjudged" || pairs[0].Reason != rows.PairOutcome || pairs[0].Margin != 0.95 {
		t.Errorf("first pair %+v", pairs[0])
	}
	if pairs[1].ChosenSession != "lucky" || pairs[1].RejectedSession != "bad" || pairs[1].Reason != rows.PairBoth {
		t.Errorf("second pair %+v", pairs[1])
	}
	if p := pairs[0].Prompt; p[len(p)-1].Role != chat.User || pairs[0].Chosen[0].Content != "good" {
		t.Errorf("prompt %v", p)
	}
	slices.Reverse(cs)
	if again := fourPairs.Pairs(cs, facts(corpus.SplitTrain, 0)); again[0].ChosenSession != "good" || again[1].RejectedSession != "bad" {
		t.Errorf("the order of candidates shows: %+v", again)
	}
}

func TestPairsRespectMaxLengthRatio(t *testing.T) {
	t.Parallel()
	rule := fourPairs
	rule.MaxLengthRatio = 1.5
	pairs := rule.Pairs([]rows.Candidate{candidate("good", true, 0.9, 100), candidate("long", false, 0.1, 900), candidate("near", false, 0.3, 110)}, facts(corpus.SplitTrain, 0))
	if len(pairs) != 1 || pairs[0].RejectedSession != "near" {
		t.Fatalf("pairs %+v", pairs)
	}
	var s corpus.PairSummary
	s.Add(&pairs[0])
	if !strings.Contains(s.Section().Body, "difference of -10 tokens") {
		t.Error(s.Section().Body)
	}
}

func TestEqualAttemptsMakeNoPair(t *testing.T) {
	t.Parallel()
	a := candidate("same", true, 0.9, 10)
	b := candidate("same", false, 0.1, 10)
	if pairs := fourPairs.Pairs([]rows.Candidate{a, b}, facts(corpus.SplitTrain, 0)); len(pairs) != 0 {
		t.Errorf("pairs %+v", pairs)
	}
	c := candidate("one grade up", true, 0.9, 10)
	d := candidate("same grade", true, 0.9, 10)
	if pairs := fourPairs.Pairs([]rows.Candidate{c, d}, facts(corpus.SplitTrain, 0)); len(pairs) != 0 {
		t.Errorf("no margin, but pairs %+v", pairs)
	}
}

func TestKTO(t *testing.T) {
	t.Parallel()
	c := candidate("good", true, 0.9, 10)
	row := rows.NewKTO(&c, facts(corpus.SplitEval, 3))
	if !row.Label || row.Reason != rows.LabelSolved || row.ProblemID != "eval-3" || len(row.Completion) != 1 || len(row.Prompt) != 2 {
		t.Errorf("row %+v", row)
	}
}

func TestRL(t *testing.T) {
	t.Parallel()
	p := &arena.Problem{Query: "buy \xff", Category: arena.CategoryVoucher, Voucher: &arena.Voucher{Type: "shop", Budget: 9.5},
		Rewards: []arena.Reward{{Raw: `{"product_id":"1","price":[{"between":[1,null]}]}`}, {Raw: `{"product_id":"2"}`}}}
	for tally, bucket := range map[rows.Tally]string{{}: "unseen", {Attempts: 3}: "unsolved", {Attempts: 3, Successes: 1}: "hard", {Attempts: 3, Successes: 2}: "medium",
		{Attempts: 4, Successes: 3}: "easy", {Attempts: 2, Successes: 2}: "solved"} {
		row := rows.NewRL(p, facts(corpus.SplitTrain, 1), tally, 7)
		if row.Difficulty != bucket || (row.PassRate == nil) != (tally.Attempts == 0) {
			t.Errorf("%+v: %s %v", tally, row.Difficulty, row.PassRate)
		}
		truth := row.RewardModel.Truth
		if truth != row.Extra.Tools.Recommend.Create.Truth || gjson.Get(truth, "reward.#").Int() != 2 || gjson.Get(truth, "voucher.budget").Num != 9.5 || gjson.Get(truth, "voucher.voucher_type").Str != "shop" {
			t.Errorf("truth %s", truth)
		}
		if row.Extra.Index != 7 || !gjson.Valid(row.Tools) || row.Prompt[1].Content != "buy \uFFFD" {
			t.Errorf("row %+v", row)
		}
	}
}

func TestNewSFTFillsScalars(t *testing.T) {
	t.Parallel()
	rec := record(0)
	rec.Judgement.Score = nil
	rec.Outcome.Scores = nil
	f := facts(corpus.SplitTrain, 0)
	f.Metadata = map[string]any{"note": "x"}
	f.IsSecret = func(string) bool { return true }
	row, _, err := rows.NewSFT(rec, f)
	ok(t, err)
	if row.JudgeScore != nil || row.OutcomeScore != nil || row.JudgeMultiplier != nil || row.StopCondition != "terminated" || *row.RunDate != 1780272000000 {
		t.Errorf("row %+v", row)
	}
	if gjson.Get(row.Metadata, "note").Str != "x" || !strings.Contains(fmt.Sprint(row.Messages), `"tool_call_id":"call-1"`) {
		t.Errorf("row %+v", row)
	}
	rec.Trace.Status, rec.Dialogue.Turns = arena.StatusTimedOut, rec.Dialogue.Turns[:1]
	if row, _, err = rows.NewSFT(rec, f); err != nil || row.StopCondition != "timed_out" || !row.IsTruncated {
		t.Errorf("row %+v %v", row, err)
	}
	rec.Trace.Status = arena.StatusSuccess
	if row, _, err = rows.NewSFT(rec, f); err != nil || row.StopCondition != "tool_call" {
		t.Errorf("row %+v %v", row, err)
	}
}

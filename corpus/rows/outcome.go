package rows

import "github.com/trajectory-arena/arena"

// NewOutcome returns the row of the outcome o of an attempt in the table outcomes.
func NewOutcome(a *Attempt, o *arena.Outcome) *Outcome {
	row := &Outcome{
		TraceID:      a.TraceID,
		RecordSHA256: a.RecordSHA256,
		Scored:       o.Scored(),
		Error:        o.Error,
		Success:      o.Success,
		Titles:       string(o.Titles),
	}
	if r := o.Ruling; r != nil {
		row.Paid = r.Score
		row.Category = r.Category
		row.Ending = r.Ending
		row.Passed = r.Passed
		row.Failed = r.Failed
		row.Flags = r.Flags
	}
	if o.Scores == nil {
		return row
	}
	row.Length = &o.Scores.Length
	row.Format = &o.Scores.Format
	if a := o.Scores.Axes; a != nil {
		row.Product = &a.Product
		row.GT = &a.GT
		row.Rule = &a.Rule
		row.Title = &a.Title
		row.Price = &a.Price
		row.Service = &a.Service
		row.SKUAttrs = &a.SKUAttrs
		row.Shop = toInt64(a.Shop)
		row.Budget = toInt64(a.Budget)
	}
	return row
}

func toInt64(v *int) *int64 {
	if v == nil {
		return nil
	}
	return new(int64(*v))
}

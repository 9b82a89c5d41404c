package pipeline

import (
	"fmt"
	"slices"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/traces"
)

// datedInputs returns inputs of a date with these numbers of records.
func datedInputs(date string, counts ...int64) ([]input, [][]int64) {
	inputs := make([]input, len(counts))
	records := make([][]int64, len(counts))
	for i, n := range counts {
		inputs[i].date = date
		records[i] = []int64{n}
	}
	return inputs, records
}

// TestALaterDateChangesAtMostTheLastBatch adds the inputs of dates one by one.
func TestALaterDateChangesAtMostTheLastBatch(t *testing.T) {
	t.Parallel()
	s := &session{Run: &Run{}}
	p := &plan{}
	var before []batch
	for day, counts := range [][]int64{
		{100, 100},              // too few for a batch
		{100, 100, 112},         // enough with the day before
		{600},                   // enough
		{70_000, 5, 40_000, 30}, // more than enough
		{1},
		{700},
	} {
		inputs, records := datedInputs(fmt.Sprintf("2026-06-%02d", day+1), counts...)
		s.inputs = append(s.inputs, inputs...)
		p.Records = append(p.Records, records...)
		after := s.batches(p)
		kept := max(0, len(before)-1)
		if len(after) < kept || !slices.Equal(after[:kept], before[:kept]) {
			t.Errorf("day %d: %v became %v", day, before, after)
		}
		before = after
	}
	want := []batch{{0, 5}, {5, 6}, {6, 7}, {7, 10}, {10, 12}}
	if !slices.Equal(before, want) {
		t.Errorf("batches %v, want %v", before, want)
	}
}

// TestATableHasFewBatches checks that the groups of rows of a table stay below the limit of Parquet
// files, and that every input is in one batch.
func TestATableHasFewBatches(t *testing.T) {
	t.Parallel()
	s := &session{Run: &Run{}}
	p := &plan{}
	for day := range 40_000 {
		inputs, records := datedInputs(fmt.Sprintf("%06d", day), 20_000, 7_000)
		s.inputs = append(s.inputs, inputs...)
		p.Records = append(p.Records, records...)
		p.Read.Records += 27_000
	}
	batches := s.batches(p)
	if len(batches) > maxBatches {
		t.Errorf("%d batches, at most %d", len(batches), maxBatches)
	}
	end := 0
	for _, b := range batches {
		if b.first != end {
			t.Fatalf("a batch begins at %d, the one before ends at %d", b.first, end)
		}
		end = b.end
	}
	if end != len(s.inputs) {
		t.Errorf("the batches have %d of %d inputs", end, len(s.inputs))
	}
}

// TestALaterDateChangesNoBlock adds small files of a later date, which share blocks, to those of
// earlier dates and of none.
func TestALaterDateChangesNoBlock(t *testing.T) {
	t.Parallel()
	files := smallFiles(1_200)
	for i := range files {
		if i >= 200 {
			files[i].Meta.Agent.StartedAt = fmt.Sprintf("2026-06-%02dT23:30:00-01:00", 1+i/200)
		}
	}
	folders := func(inputs []input) []string {
		return slicesx.Map(inputs, func(in input) string { return in.date + " " + in.key.Folder() })
	}
	first := newInputs(files[:1_000])
	all := newInputs(files)
	if !slices.Equal(folders(all[:len(first)]), folders(first)) || len(all) == len(first) {
		t.Errorf("%d blocks of five dates are not the first of %d of six", len(first), len(all))
	}
	if first[0].date != "" || first[len(first)-1].date != "2026-06-06" {
		t.Errorf("dates from %q to %q", first[0].date, first[len(first)-1].date)
	}
	if len(all) > 6*manyBlocks {
		t.Errorf("%d blocks", len(all))
	}
}

// TestInputsAreInTheOrderOfTheirDates has runs whose dates in UTC differ from those in their time zones, and
// dates that are unknown or have not four digits in their year.
func TestInputsAreInTheOrderOfTheirDates(t *testing.T) {
	t.Parallel()
	for started, want := range map[string]string{
		"2026-06-01T23:59:59.999999999Z": "2026-06-01",
		"2026-06-02T00:30:00+02:00":      "2026-06-01",
		"0001-01-01T00:00:00Z":           "0001-01-01",
		"9999-12-31T23:59:59-01:00":      "",
		"0000-01-01T00:00:00+23:59":      "",
		"2026-13-01T00:00:00Z":           "",
		"1780272000000":                  "",
		"":                               "",
	} {
		file := traces.Input{Meta: traces.Meta{Agent: arena.Agent{StartedAt: started}}}
		if got := dateOf(&file); got != want {
			t.Errorf("a run that started %s has the date %q, want %q", started, got, want)
		}
	}
}

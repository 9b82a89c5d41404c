package probe_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trajectory-arena/arena/judges/shop/probe"
)

func TestSummariesAreReadAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	want := []probe.Summary{
		probe.Summarise("padding", []probe.Shift{{Problem: "a", Scored: true, By: 0.2}, {Problem: "b", Scored: true}}),
		probe.Summarise("said_twice", []probe.Shift{{}}),
	}
	var text bytes.Buffer
	for _, s := range want {
		if err := json.NewEncoder(&text).Encode(s); err != nil {
			t.Fatal(err)
		}
	}
	got, err := probe.ReadSummaries(text.Bytes())
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	for _, broken := range []string{"", "\n", "{}", `{"probe":"other"}`, `{"probe":"padding","n":-1}`, `{"probe":"padding","x":1}`, text.String() + "["} {
		if _, err := probe.ReadSummaries([]byte(broken)); err == nil {
			t.Errorf("%q is taken for summaries", broken)
		}
	}
}

func TestSummariesOfTheSameShiftsAreTheSame(t *testing.T) {
	t.Parallel()
	shifts := make([]probe.Shift, 300)
	for i := range shifts {
		shifts[i] = probe.Shift{Problem: fmt.Sprint(i), Scored: true, By: 0.1 / float64(i+1)}
	}
	want := probe.Summarise("padding", shifts)
	for range 50 {
		if diff := cmp.Diff(want, probe.Summarise("padding", shifts)); diff != "" {
			t.Fatal(diff)
		}
	}
}

func TestSamplingDependsOnTheIDAlone(t *testing.T) {
	t.Parallel()
	n := 0
	for i := range 32_000 {
		if probe.IsSampled(string(rune('a'+i%26))+string(rune(0x4E00+i)), 32) {
			n++
		}
	}
	if n < 850 || n > 1150 {
		t.Errorf("%d of 32,000 are sampled as one in 32", n)
	}
	if probe.IsSampled("any", 0) || !probe.IsSampled("any", 1) {
		t.Error("want none sampled at 0 and all at 1")
	}
}

func TestLiftedNamesTheWorstFirst(t *testing.T) {
	t.Parallel()
	summaries := []probe.Summary{
		{Probe: "padding", Judge: "j", N: 100, RaisedWilson95: [2]float64{0, 0.04}},
		{Probe: "template", Judge: "j", N: 100, Raised: 20, RaisedWilson95: [2]float64{0.13, 0.29}},
		{Probe: "flattery", Judge: "j", N: 100, Raised: 90, RaisedWilson95: [2]float64{0.83, 0.94}},
	}
	want := "judge j can be lifted by more than 5 %: flattery raises 90 of 100 attempts (83 % to 94 %); template raises 20 of 100 attempts (13 % to 29 %)"
	if got := probe.LiftWarning(summaries); got != want {
		t.Error(got)
	}
	if got := probe.LiftWarning(summaries[:1]); got != "" {
		t.Error(got)
	}
}

// FuzzSummariesAreReadOrRefused checks that a summary that was read can be written and read again.
func FuzzSummariesAreReadOrRefused(f *testing.F) {
	f.Add([]byte(`{"probe":"padding","n":2,"raised":1}` + "\n" + `{"probe":"said_twice"}`))
	f.Add([]byte(`{"probe":"padding","mean":1e308,"raised_wilson95":[0,1,2]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		summaries, err := probe.ReadSummaries(text)
		if err != nil {
			return
		}
		_ = probe.LiftWarning(summaries)
		for _, s := range summaries {
			written, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			again, err := probe.ReadSummaries(written)
			if diff := cmp.Diff([]probe.Summary{s}, again); err != nil || diff != "" {
				t.Error(err, diff)
			}
		}
	})
}

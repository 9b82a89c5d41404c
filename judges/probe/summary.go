package probe

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// MaxLift is the share of attempts that a probe may raise before the judge is
// told of as one that can be lifted: one in twenty, as surely as 95 % of draws.
const MaxLift = 0.05

// Lifted says which probes raise more than MaxLift of the attempts, the worst
// first; empty where none surely does.
func Lifted(all []Summary) string {
	over := slices.DeleteFunc(slices.Clone(all), func(s Summary) bool { return s.RaisedWilson95[0] <= MaxLift })
	slices.SortStableFunc(over, func(a, b Summary) int { return cmp.Compare(b.RaisedWilson95[0], a.RaisedWilson95[0]) })
	if len(over) == 0 {
		return ""
	}
	found := make([]string, len(over))
	for i, s := range over {
		found[i] = fmt.Sprintf("%s raises %d of %d attempts (%.0f %% to %.0f %%)", s.Probe, s.Raised, s.N, 100*s.RaisedWilson95[0], 100*s.RaisedWilson95[1])
	}
	return fmt.Sprintf("judge %s can be lifted by more than %.0f %%: %s", over[0].Judge, 100*MaxLift, strings.Join(found, "; "))
}

// ReadSummaries reads lines of JSON, one summary each, as they were encoded. A
// line that is no summary of a known probe is an error, and so is no line.
func ReadSummaries(text []byte) ([]Summary, error) {
	var all []Summary
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		var s Summary
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&s); err != nil {
			return nil, fmt.Errorf("line %d: %w", len(all)+1, err)
		}
		if !slices.ContainsFunc(All(), func(p Probe) bool { return p.Name == s.Probe }) || s.N < 0 {
			return nil, fmt.Errorf("line %d: no summary of a probe", len(all)+1)
		}
		all = append(all, s)
	}
	if len(all) == 0 {
		return nil, errors.New("no line")
	}
	return all, nil
}

package probe

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

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

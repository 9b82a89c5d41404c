package distil

import (
	"bytes"
	_ "embed" // for the lines of versions
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// Version is a rule of the subnet's public code, with the date from which it was in force.
type Version struct {
	// Name is the date of the change.
	Name  string    `json:"name"`
	Since time.Time `json:"since"`
	// Changed describes the change from the previous version.
	Changed string `json:"changed"`
	Rule    Rule   `json:"rule"`
}

// versionLines are the versions of the rule of subnet 97 as JSON lines, each with the time from
// which on the rule was in force.
//
//go:embed versions.jsonl
var versionLines []byte

// Versions are the successive rules of subnet 97, from the history of its public code
// (unarbos/distil) until 20 May 2026. In the composite rules before 16 May all axes have equal
// weights here, since the real weights changed from week to week.
var Versions = readVersions()

func readVersions() []Version {
	var versions []Version
	lines := json.NewDecoder(bytes.NewReader(versionLines))
	for lines.More() {
		var v Version
		if err := lines.Decode(&v); err != nil {
			panic(err) // the lines are part of the program
		}
		versions = append(versions, v)
	}
	return versions
}

// ruleAt returns the rule that was in force at a time in seconds since 1970. It returns nil for the
// time 0 and for times before the first version.
func ruleAt(seconds int64) *Rule {
	var r *Rule
	for i := range Versions {
		if seconds >= Versions[i].Since.Unix() {
			r = &Versions[i].Rule
		}
	}
	return r
}

// Named returns the rule of the named version.
func Named(name string) (*Rule, error) {
	i := slices.IndexFunc(Versions, func(v Version) bool {
		return v.Name == name
	})
	if i < 0 {
		names := slicesx.Map(Versions, func(v Version) string {
			return v.Name
		})
		return nil, fmt.Errorf("no rule %q: the versions are %s", name, strings.Join(names, ", "))
	}
	return &Versions[i].Rule, nil
}

// parseRule parses a rule as JSON: the name of a version, or an object with parameters. A
// composite rule has the parameters of the last version, with equal weights, unless the object
// sets them.
func parseRule(text []byte) (*Rule, error) {
	var name string
	if json.Unmarshal(text, &name) == nil {
		return Named(name)
	}
	var r Rule
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, err
	}
	if r.Kind == Composite {
		r = Versions[len(Versions)-1].Rule
		r.Margin = 0
		r.Weights = nil
	}
	err := json.Unmarshal(text, &r)
	return &r, err
}

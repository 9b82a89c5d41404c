package reward

import (
	"embed"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// Weights are a preset: the weight of each part by its name; a part without one
// weighs 0.
type Weights map[string]float64

//go:embed presets/*.yaml
var presets embed.FS

// Presets lists the names of the built-in presets.
func Presets() []string { return []string{"strict", "paper", "dense"} }

// Open reads a preset by its name, or a file of the same form.
func Open(name string) (Weights, error) {
	read := os.ReadFile
	path := name
	if slices.Contains(Presets(), name) {
		read, path = presets.ReadFile, "presets/"+name+".yaml"
	}
	b, err := read(path)
	if err != nil {
		return nil, fmt.Errorf("read reward preset: %w", err)
	}
	return Parse(b)
}

// Parse reads weights: YAML, a number for each part.
func Parse(b []byte) (Weights, error) {
	var w Weights
	if err := yaml.Unmarshal(b, &w); err != nil {
		return nil, fmt.Errorf("read reward preset: %w", err)
	}
	names := make([]string, 0, len(Parts()))
	for _, p := range Parts() {
		names = append(names, p.Name)
	}
	for name, v := range w {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("read reward preset: there is no part %q; the parts are %s", name, strings.Join(names, ", "))
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("read reward preset: the weight of %s is no number", name)
		}
	}
	if len(w) == 0 {
		return nil, fmt.Errorf("read reward preset: it weighs nothing; the parts are %s", strings.Join(names, ", "))
	}
	return w, nil
}

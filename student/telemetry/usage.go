package telemetry

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/trajectory-arena/arena/internal/stats"
)

// Usage is the total of a time series, over all commands that worked on a run.
type Usage struct {
	// Seconds is the observed time. GPUSeconds is the sum of it over all GPUs, busy or idle, since
	// an idle GPU is not free for others; nil if no GPU was seen.
	Seconds    float64  `json:"seconds"`
	GPUSeconds *float64 `json:"gpu_seconds"`
	// GPUUse and GPUPower are means over time and GPUs, from 0 to 1 and in watts; EnergyWh
	// is of all GPUs together; GPUMemory is the largest of any. Nil if no driver reports it.
	GPUUse    *float64 `json:"gpu_use"`
	GPUMemory *float64 `json:"gpu_memory_peak_mib"`
	GPUPower  *float64 `json:"gpu_power_w"`
	EnergyWh  *float64 `json:"energy_wh"`
	// KVCacheUse is the largest share of the server's cache that was in use, PrefixHitRate the
	// share of observed prompt tokens that the cache already had.
	KVCacheUse    *float64 `json:"kv_cache_use_peak"`
	PrefixHitRate *float64 `json:"prefix_hit_rate"`
}

// ReadUsage sums up the series in the file at path. It skips a line that a killed process left
// incomplete. A missing file is an empty series.
func ReadUsage(path string) (Usage, error) {
	a := adding{}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return a.Usage, nil
	}
	if err != nil {
		return a.Usage, fmt.Errorf("read telemetry: %w", err)
	}
	scanner := bufio.NewScanner(f)
	scanner.Buffer(nil, 1<<20) // one sample: maxGPUs of them fit a hundred times over
	for scanner.Scan() {
		var s Sample
		if json.Unmarshal(scanner.Bytes(), &s) == nil {
			a.add(s)
		}
	}
	if err := errors.Join(scanner.Err(), f.Close()); err != nil {
		return a.Usage, fmt.Errorf("read telemetry %s: %w", path, err)
	}
	return a.result(), nil
}

// adding computes a Usage, the totals of a run, from samples, which are measurements at one time. The
// values of a sample count for the time until the next sample.
type adding struct {
	Usage
	last  *Sample
	use   weighted
	power weighted
	// hits and looked are the numbers of prompt tokens that the prefix cache had, and that were
	// searched in it. lastRate is the last hit rate, for a server that does not report counts.
	hits, looked float64
	lastRate     *float64
}

type weighted struct{ sum, weight float64 }

func (w *weighted) add(v *float64, weight float64) {
	if v != nil {
		w.sum += float64(*v * weight)
		w.weight += weight
	}
}

func (w *weighted) mean() *float64 { return stats.FiniteOrNil(w.sum / w.weight) }

func (a *adding) add(s Sample) {
	if a.last != nil && s.Seconds > a.last.Seconds {
		a.span(*a.last, s.Seconds-a.last.Seconds)
		if a.last.Server != nil { // or all that it ever counted would be this command's
			a.hits += max(0, s.Server["prefix_hits"]-a.last.Server["prefix_hits"])
			a.looked += max(0, queries(s.Server)-queries(a.last.Server))
		}
	}
	a.last = &s
	for _, g := range s.GPUs {
		raise(&a.GPUMemory, g.Memory)
	}
	if v, ok := s.Server["kv_cache_use"]; ok {
		raise(&a.KVCacheUse, &v)
	}
	if v, ok := s.Server["prefix_hit_rate"]; ok {
		a.lastRate = &v
	}
}

func (a *adding) span(s Sample, seconds float64) {
	a.Seconds += seconds
	if len(s.GPUs) > 0 {
		if a.GPUSeconds == nil {
			a.GPUSeconds = new(float64)
		}
		*a.GPUSeconds += float64(seconds * float64(len(s.GPUs)))
	}
	for _, g := range s.GPUs {
		a.use.add(g.Use, seconds)
		a.power.add(g.Power, seconds)
	}
}

func raise(dst **float64, v *float64) {
	if v != nil && (*dst == nil || **dst < *v) {
		*dst = v
	}
}

func (a *adding) result() Usage {
	a.GPUUse, a.GPUPower = a.use.mean(), a.power.mean()
	if a.PrefixHitRate = a.lastRate; a.looked > 0 {
		a.PrefixHitRate = new(min(1, a.hits/a.looked))
	}
	if a.power.weight > 0 {
		a.EnergyWh = new(a.power.sum / 3600)
	}
	return a.Usage
}

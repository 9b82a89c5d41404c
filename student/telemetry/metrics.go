package telemetry

import (
	_ "embed"
	"regexp"
	"strings"

	"github.com/trajectory-arena/arena/internal/asjson"
)

// shares are the metrics that are shares from 0 to 1, which are averaged over all servers. All
// other metrics are counts, which are added. Where a server reports counts, the hit rate is
// computed from them instead (see values).
var shares = map[string]bool{"kv_cache_use": true, "prefix_hit_rate": true}

// metrics maps the names of the Prometheus metrics of servers to the names under which this program
// stores them; a metric may be stored under several, separated by spaces. vLLM and SGLang use
// different names in different versions. llama.cpp counts prompt tokens without those from its
// cache, which it counts separately since October 2026.
var metrics = asjson.Parse[map[string]string](metricsFile)

//go:embed metrics.json
var metricsFile []byte

// priority matches the label by which SGLang splits a metric into parts, one for each priority of
// requests. SGLang also reports the sum, so the parts are ignored.
var priority = regexp.MustCompile(`\bpriority="[^"]*"`)

type gathered struct {
	sums   map[string]float64
	counts map[string]float64
}

func newGathered() *gathered {
	return &gathered{
		sums:   map[string]float64{},
		counts: map[string]float64{},
	}
}

func (g *gathered) add(key string, v float64) {
	g.sums[key] += v
	if shares[key] {
		g.counts[key]++
	}
}

// values returns the sums of counts and the means of shares by name, nil if nothing was read. The
// prefix hit rate is computed from counts if a server reports them, since the rate of SGLang covers
// only its last batch.
func (g *gathered) values() map[string]float64 {
	if len(g.sums) == 0 {
		return nil
	}
	out := make(map[string]float64, len(g.sums))
	for key, v := range g.sums {
		if n := g.counts[key]; n > 0 {
			v /= n
		}
		out[key] = v
	}
	if total := queries(out); total > 0 {
		out["prefix_hit_rate"] = out["prefix_hits"] / total
	}
	return out
}

// queries returns the number of prompt tokens that were searched in the prefix cache: the metric
// prefix_queries, or else prompt_tokens. It returns 0 if the number of hits is unknown.
func queries(values map[string]float64) float64 {
	if _, counted := values["prefix_hits"]; !counted {
		return 0
	}
	if n, ok := values["prefix_queries"]; ok {
		return n
	}
	return values["prompt_tokens"]
}

// read adds the known metrics in a server's reply, which has the text format of Prometheus, and
// ignores all other lines.
func (g *gathered) read(text string) {
	for line := range strings.Lines(text) {
		name := line
		suffix := ""
		if i := strings.IndexAny(line, "{ "); i >= 0 {
			name = line[:i]
			suffix = line[i:]
		}
		keys, wanted := metrics[name]
		if part := priority.FindString(suffix); !wanted || part != "" && part != `priority=""` {
			continue // of no use, or a part of what stands under no priority
		}
		fields := strings.Fields(suffix[strings.LastIndexByte(suffix, '}')+1:])
		if len(fields) == 0 {
			continue
		}
		v := cell(fields[0])
		for key := range strings.FieldsSeq(keys) {
			if v != nil {
				g.add(key, *v)
			}
		}
	}
}

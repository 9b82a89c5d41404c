package telemetry

import (
	"context"
	"os/exec"
	"strconv"
	"strings"
)

// GPU is one GPU at one moment.
type GPU struct {
	Index int `json:"index"`
	// Use is the share of time with a kernel running, 0 to 1; Memory is in MiB,
	// Power in watts. Nil is what the driver does not tell.
	Use    *float64 `json:"use"`
	Memory *float64 `json:"memory_mib"`
	Power  *float64 `json:"power_w"`
}

// gpus asks nvidia-smi; nil where there is none.
func gpus(ctx context.Context) []GPU {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, "nvidia-smi",
		"--query-gpu=index,utilization.gpu,memory.used,power.draw", "--format=csv,noheader,nounits").Output()
	if err != nil {
		return nil
	}
	return parseGPUs(string(out))
}

func parseGPUs(text string) []GPU {
	var all []GPU
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.TrimSpace(line), ",")
		if len(cells) != 4 {
			continue
		}
		index, err := strconv.Atoi(strings.TrimSpace(cells[0]))
		if err != nil {
			continue
		}
		g := GPU{Index: index, Use: cell(cells[1]), Memory: cell(cells[2]), Power: cell(cells[3])}
		if g.Use != nil {
			*g.Use /= 100
		}
		all = append(all, g)
	}
	return all
}

func cell(s string) *float64 {
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || v != v {
		return nil
	}
	return &v
}

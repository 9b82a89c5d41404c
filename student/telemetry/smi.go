package telemetry

import (
	"context"
	"os/exec"
	"strconv"
	"strings"
)

// smi asks the program nvidia-smi, where NVML itself cannot be loaded.
type smi struct{ all []Device }

// newSMI is nil where nvidia-smi is not there or finds no GPU.
func newSMI(ctx context.Context) *smi {
	all, _ := parseSMI(askSMI(ctx))
	if len(all) == 0 {
		return nil
	}
	return &smi{all}
}

func askSMI(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, "nvidia-smi",
		"--query-gpu=index,utilization.gpu,memory.used,power.draw,memory.total,uuid,name", "--format=csv,noheader,nounits").Output()
	if err != nil {
		return ""
	}
	return string(out)
}

func (s *smi) devices() []Device { return s.all }

func (s *smi) read(ctx context.Context) []GPU {
	_, now := parseSMI(askSMI(ctx))
	return now
}

func (s *smi) close() {}

// parseSMI reads the lines of askSMI; what is no such line is left out.
func parseSMI(text string) (all []Device, now []GPU) {
	for line := range strings.Lines(text) {
		cells := strings.SplitN(strings.TrimSpace(line), ",", 7)
		if len(cells) != 7 {
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
		now = append(now, g)
		all = append(all, Device{Index: index, UUID: strings.TrimSpace(cells[5]), Name: strings.TrimSpace(cells[6]), Memory: cell(cells[4])})
	}
	return all, now
}

// cell is nil for what is no finite number, such as [N/A].
func cell(s string) *float64 {
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || v-v != 0 {
		return nil
	}
	return &v
}

package telemetry

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
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

// Device is what does not change of a GPU.
type Device struct {
	Index int    `json:"index"`
	UUID  string `json:"uuid,omitempty"`
	Name  string `json:"name,omitempty"`
	// Memory is all of it, in MiB.
	Memory *float64 `json:"memory_mib"`
}

// GPUs are the GPUs that a model server on this machine can use. The zero
// value has none.
type GPUs struct {
	// Source is "nvidia-smi", or empty where it is not there or finds none.
	Source  string
	Devices []Device

	smi *smi
}

// OpenGPUs finds the GPUs and watches them until ctx ends or Close is called.
// visible is the value of CUDA_VISIBLE_DEVICES: the devices that it leaves out
// are not those of the server; empty means all.
func OpenGPUs(ctx context.Context, visible string) *GPUs {
	return openGPUs(ctx, &smi{program: "nvidia-smi", now: time.Now}, visible) //nolint:forbidigo // a measurement is of time
}

func openGPUs(ctx context.Context, s *smi, visible string) *GPUs {
	all := s.devices(ctx)
	if len(all) == 0 {
		return &GPUs{}
	}
	s.watch(ctx)
	return &GPUs{Source: "nvidia-smi", smi: s, Devices: slices.DeleteFunc(all, func(d Device) bool { return !seen(d, visible) })}
}

// seen reads CUDA_VISIBLE_DEVICES: indices or beginnings of UUIDs. The driver
// stops at the first entry that names no device; for telling which GPUs are
// meant it is enough that such an entry names none.
func seen(d Device, visible string) bool {
	if visible == "" {
		return true
	}
	for entry := range strings.SplitSeq(visible, ",") {
		entry = strings.TrimSpace(entry)
		if i, err := strconv.Atoi(entry); err == nil && i == d.Index {
			return true
		}
		if strings.HasPrefix(entry, "GPU-") && strings.HasPrefix(d.UUID, entry) {
			return true
		}
	}
	return false
}

// Read gives the newest moment of each device that the driver still tells of.
func (g *GPUs) Read() []GPU {
	var all []GPU
	for _, d := range g.Devices {
		if now, told := g.smi.newest(d.Index); told {
			all = append(all, now)
		}
	}
	return all
}

// Close ends the watch.
func (g *GPUs) Close() {
	if g.smi != nil {
		g.smi.close()
	}
}

package telemetry

import (
	"context"
	"slices"
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

// Device is what does not change of a GPU.
type Device struct {
	Index int    `json:"index"`
	UUID  string `json:"uuid,omitempty"`
	Name  string `json:"name,omitempty"`
	// Memory is all of it, in MiB.
	Memory *float64 `json:"memory_mib"`
}

// gpuReader reads all GPUs of the machine.
type gpuReader interface {
	devices() []Device
	// read gives the moment of each device, in the order of devices; nil where
	// the driver does not answer any more.
	read(ctx context.Context) []GPU
	close()
}

// GPUs are the GPUs that a model server on this machine can use. The zero
// value has none.
type GPUs struct {
	// Source is "nvml", "nvidia-smi", or empty where there is neither.
	Source  string
	Devices []Device

	reader gpuReader
}

// nvmlLibrary is the name under which the driver installs NVML.
const nvmlLibrary = "libnvidia-ml.so.1"

// OpenGPUs finds the GPUs through NVML, else through nvidia-smi. visible is
// the value of CUDA_VISIBLE_DEVICES: the devices that it leaves out are not
// those of the server; empty means all.
func OpenGPUs(ctx context.Context, visible string) *GPUs {
	if n, err := loadNVML(nvmlLibrary); err == nil {
		return newGPUs("nvml", n, visible)
	}
	if s := newSMI(ctx); s != nil {
		return newGPUs("nvidia-smi", s, visible)
	}
	return &GPUs{}
}

func newGPUs(source string, r gpuReader, visible string) *GPUs {
	g := &GPUs{Source: source, reader: r}
	for _, d := range r.devices() {
		if seen(d, visible) {
			g.Devices = append(g.Devices, d)
		}
	}
	return g
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

// Read is the present moment of each device.
func (g *GPUs) Read(ctx context.Context) []GPU {
	if g.reader == nil || len(g.Devices) == 0 {
		return nil
	}
	return slices.DeleteFunc(g.reader.read(ctx), func(now GPU) bool {
		return !slices.ContainsFunc(g.Devices, func(d Device) bool { return d.Index == now.Index })
	})
}

// Close lets go of the driver.
func (g *GPUs) Close() {
	if g.reader != nil {
		g.reader.close()
	}
}

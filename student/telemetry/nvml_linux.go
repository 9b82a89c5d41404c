//go:build linux && (amd64 || arm64) && !nonvml

package telemetry

import (
	"errors"
	"fmt"

	"github.com/ebitengine/purego"
)

// loadNVML loads the library at run time, so that a program built anywhere
// finds the driver of the machine it runs on, and runs where there is none.
func loadNVML(path string) (*nvml, error) {
	library, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("load NVML: %w", err)
	}
	n := &nvml{}
	if err := n.bind(library); err != nil {
		return nil, errors.Join(err, purego.Dlclose(library))
	}
	if err := n.open(); err != nil {
		return nil, errors.Join(err, purego.Dlclose(library))
	}
	return n, nil
}

// bind finds the functions; the library stays loaded as long as the process.
func (n *nvml) bind(library uintptr) error {
	for _, f := range []struct {
		name string
		to   any
	}{
		{"nvmlInit_v2", &n.Init}, {"nvmlShutdown", &n.Shutdown},
		{"nvmlDeviceGetCount_v2", &n.DeviceGetCount}, {"nvmlDeviceGetHandleByIndex_v2", &n.DeviceGetHandle},
		{"nvmlDeviceGetName", &n.DeviceGetName}, {"nvmlDeviceGetUUID", &n.DeviceGetUUID},
		{"nvmlDeviceGetUtilizationRates", &n.DeviceUtilization}, {"nvmlDeviceGetMemoryInfo", &n.DeviceMemory},
		{"nvmlDeviceGetPowerUsage", &n.DevicePower},
	} {
		symbol, err := purego.Dlsym(library, f.name)
		if err != nil {
			return fmt.Errorf("load NVML: %w", err)
		}
		purego.RegisterFunc(f.to, symbol)
	}
	return nil
}

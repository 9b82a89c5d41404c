//go:build !(linux && (amd64 || arm64))

package telemetry

import "errors"

// loadNVML: elsewhere nvidia-smi is asked, if it is there.
func loadNVML(string) (*nvml, error) { return nil, errors.New("load NVML: not on this system") }

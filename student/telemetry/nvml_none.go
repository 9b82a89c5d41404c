//go:build !(linux && (amd64 || arm64)) || nonvml

package telemetry

import "errors"

// loadNVML: here nvidia-smi is asked, if it is there.
func loadNVML(string) (*nvml, error) { return nil, errors.New("load NVML: not built in") }

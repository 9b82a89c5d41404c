package telemetry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
)

// nvml asks the driver's own library. Its fields are the library's functions;
// each gives 0 for success. Handles are opaque pointers.
type nvml struct {
	Init              func() int32
	Shutdown          func() int32
	DeviceGetCount    func(count *uint32) int32
	DeviceGetHandle   func(index uint32, device *uintptr) int32
	DeviceGetName     func(device uintptr, name *byte, length uint32) int32
	DeviceGetUUID     func(device uintptr, uuid *byte, length uint32) int32
	DeviceUtilization func(device uintptr, rates *nvmlRates) int32
	DeviceMemory      func(device uintptr, memory *nvmlMemory) int32
	DevicePower       func(device uintptr, milliwatts *uint32) int32

	handles []uintptr
	all     []Device
}

// nvmlRates is nvmlUtilization_t: per cent of the last moment in which a kernel
// ran, and in which memory was read or written.
type nvmlRates struct{ GPU, Memory uint32 }

// nvmlMemory is nvmlMemory_t, in bytes.
type nvmlMemory struct{ Total, Free, Used uint64 }

const mebibyte = 1 << 20

// maxGPUs bounds what a broken driver can make us do; a machine has 16 at most.
const maxGPUs = 64

// open starts the library and lists the devices.
func (n *nvml) open() error {
	if code := n.Init(); code != 0 {
		return fmt.Errorf("start NVML: code %d", code)
	}
	var count uint32
	if code := n.DeviceGetCount(&count); code != 0 || count == 0 {
		n.close()
		return fmt.Errorf("count GPUs: %d, code %d", count, code)
	}
	for i := range min(count, maxGPUs) {
		var handle uintptr
		if n.DeviceGetHandle(i, &handle) != 0 {
			continue
		}
		d := Device{Index: int(i), Name: nvmlText(handle, n.DeviceGetName), UUID: nvmlText(handle, n.DeviceGetUUID)}
		var m nvmlMemory
		if n.DeviceMemory(handle, &m) == 0 {
			d.Memory = mib(m.Total)
		}
		n.handles, n.all = append(n.handles, handle), append(n.all, d)
	}
	if len(n.all) == 0 {
		n.close()
		return errors.New("list GPUs: none can be opened")
	}
	return nil
}

func nvmlText(handle uintptr, get func(uintptr, *byte, uint32) int32) string {
	var text [96]byte // NVML_DEVICE_NAME_V2_BUFFER_SIZE, the longest of its texts
	if get(handle, &text[0], uint32(len(text))) != 0 {
		return ""
	}
	name, _, _ := bytes.Cut(text[:], []byte{0})
	return string(name)
}

func mib(b uint64) *float64 {
	v := float64(b) / mebibyte
	return &v
}

func (n *nvml) devices() []Device { return n.all }

func (n *nvml) read(context.Context) []GPU {
	now := make([]GPU, 0, len(n.handles))
	for i, handle := range n.handles {
		g := GPU{Index: n.all[i].Index}
		var rates nvmlRates
		if n.DeviceUtilization(handle, &rates) == 0 {
			share := float64(rates.GPU) / 100
			g.Use = &share
		}
		var memory nvmlMemory
		if n.DeviceMemory(handle, &memory) == 0 {
			g.Memory = mib(memory.Used)
		}
		var milliwatts uint32
		if n.DevicePower(handle, &milliwatts) == 0 {
			watts := float64(milliwatts) / 1000
			g.Power = &watts
		}
		now = append(now, g)
	}
	return now
}

func (n *nvml) close() { n.Shutdown() }

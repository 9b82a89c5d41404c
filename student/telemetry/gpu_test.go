package telemetry

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func amount(x float64) *float64 { return &x }

// fakeDriver is the interface of NVML as the vendor's header gives it, for a
// machine of two GPUs, the second of which tells neither use nor power.
const fakeDriver = `
#include <string.h>
typedef struct { unsigned int gpu, memory; } rates;
typedef struct { unsigned long long total, free, used; } memory;
static int device[2];
int nvmlInit_v2(void) { return 0; }
int nvmlShutdown(void) { return 0; }
int nvmlDeviceGetCount_v2(unsigned int *n) { *n = 2; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned int i, void **d) { *d = &device[i]; return 0; }
int nvmlDeviceGetName(void *d, char *s, unsigned int n) { strncpy(s, "Fake H200", n); return 0; }
int nvmlDeviceGetUUID(void *d, char *s, unsigned int n) { strncpy(s, d == &device[0] ? "GPU-aa" : "GPU-bb", n); return 0; }
int nvmlDeviceGetUtilizationRates(void *d, rates *r) { if (d != &device[0]) return 3; r->gpu = 87; r->memory = 12; return 0; }
int nvmlDeviceGetMemoryInfo(void *d, memory *m) { m->total = 8ull << 30; m->used = 3ull << 30; m->free = 5ull << 30; return 0; }
int nvmlDeviceGetPowerUsage(void *d, unsigned int *mw) { if (d != &device[0]) return 3; *mw = 310520; return 0; }
`

// compiled is the fake driver as a library.
func compiled(t *testing.T, source string) string {
	t.Helper()
	compiler, err := exec.LookPath("cc")
	if err != nil || runtime.GOOS != "linux" {
		t.Skip("needs Linux and a C compiler named cc to make a driver")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, nvmlLibrary)
	if err := os.WriteFile(filepath.Join(dir, "driver.c"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(compiler, "-shared", "-fPIC", "-o", path, filepath.Join(dir, "driver.c")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

func TestNVMLThroughItsLibrary(t *testing.T) {
	t.Parallel()
	n, err := loadNVML(compiled(t, fakeDriver))
	if err != nil {
		t.Fatal(err)
	}
	g := newGPUs("nvml", n, "")
	defer g.Close()
	devices := []Device{{Index: 0, UUID: "GPU-aa", Name: "Fake H200", Memory: amount(8192)}, {Index: 1, UUID: "GPU-bb", Name: "Fake H200", Memory: amount(8192)}}
	if diff := cmp.Diff(devices, g.Devices); diff != "" {
		t.Errorf("devices (-want +got):\n%s", diff)
	}
	want := []GPU{{Index: 0, Use: amount(0.87), Memory: amount(3072), Power: amount(310.52)}, {Index: 1, Memory: amount(3072)}}
	if diff := cmp.Diff(want, g.Read(t.Context())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestALibraryThatIsNoDriver(t *testing.T) {
	t.Parallel()
	if _, err := loadNVML(compiled(t, "int nvmlInit_v2(void) { return 0; }")); err == nil {
		t.Error("a library without the functions was taken")
	}
	if _, err := loadNVML(filepath.Join(t.TempDir(), nvmlLibrary)); err == nil {
		t.Error("a library that is not there was taken")
	}
}

// TestADriverThatFails: with each function failing in turn, what is left is
// told and nothing panics.
func TestADriverThatFails(t *testing.T) {
	t.Parallel()
	ok := func() int32 { return 0 }
	good := nvml{
		Init: ok, Shutdown: ok,
		DeviceGetCount:    func(n *uint32) int32 { *n = 1; return 0 },
		DeviceGetHandle:   func(uint32, *uintptr) int32 { return 0 },
		DeviceGetName:     func(_ uintptr, name *byte, _ uint32) int32 { *name = 'x'; return 0 },
		DeviceGetUUID:     func(uintptr, *byte, uint32) int32 { return 999 },
		DeviceUtilization: func(uintptr, *nvmlRates) int32 { return 999 },
		DeviceMemory:      func(uintptr, *nvmlMemory) int32 { return 999 },
		DevicePower:       func(uintptr, *uint32) int32 { return 999 },
	}
	n := good
	if err := n.open(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]GPU{{}}, n.read(t.Context())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, spoil := range map[string]func(*nvml){
		"init":    func(n *nvml) { n.Init = func() int32 { return 9 } },
		"count":   func(n *nvml) { n.DeviceGetCount = func(*uint32) int32 { return 3 } },
		"no GPU":  func(n *nvml) { n.DeviceGetCount = func(*uint32) int32 { return 0 } },
		"handles": func(n *nvml) { n.DeviceGetHandle = func(uint32, *uintptr) int32 { return 15 } },
	} {
		n := good
		spoil(&n)
		if err := n.open(); err == nil {
			t.Errorf("%s: opened", name)
		}
	}
}

func TestVisibleDevices(t *testing.T) {
	t.Parallel()
	n := &smi{all: []Device{{Index: 0, UUID: "GPU-aa"}, {Index: 1, UUID: "GPU-bb"}, {Index: 11}}}
	for visible, want := range map[string]int{"": 3, "0": 1, "1, 0": 2, "GPU-b": 1, "-1": 0, "none": 0, "2": 0} {
		if got := len(newGPUs("", n, visible).Devices); got != want {
			t.Errorf("%q: %d devices, want %d", visible, got, want)
		}
	}
	if got := (&GPUs{}).Read(t.Context()); got != nil {
		t.Errorf("GPUs where there are none: %v", got)
	}
}

func TestParseSMI(t *testing.T) {
	t.Parallel()
	devices, now := parseSMI("0, 87, 40123, 310.52, 141000, GPU-aa, NVIDIA H200, SXM\n1, [N/A], 12, [N/A], 24000, GPU-bb, X\nrubbish\n")
	wantDevices := []Device{{0, "GPU-aa", "NVIDIA H200, SXM", amount(141000)}, {1, "GPU-bb", "X", amount(24000)}}
	if diff := cmp.Diff(wantDevices, devices); diff != "" {
		t.Errorf("devices (-want +got):\n%s", diff)
	}
	want := []GPU{{Index: 0, Use: amount(0.87), Memory: amount(40123), Power: amount(310.52)}, {Index: 1, Memory: amount(12)}}
	if diff := cmp.Diff(want, now); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

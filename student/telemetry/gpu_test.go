package telemetry

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func amount(x float64) *float64 { return &x }

// fakeSMI writes a program that answers as nvidia-smi does: the devices at once, and with --loop
// the moments, after which it runs next.
func fakeSMI(t *testing.T, devices, moments, next string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell for the substitute of nvidia-smi")
	}
	path := filepath.Join(t.TempDir(), "nvidia-smi")
	script := "#!/bin/sh\ncase \"$*\" in\n*--loop*) cat <<'END'\n" + moments + "END\n" + next + " ;;\n*) cat <<'END'\n" + devices + "END\n;;\nesac\n"
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

const twoDevices = "0, 141000, GPU-aa, NVIDIA H200, SXM\n1, 24000, GPU-bb, X\n"

// readings waits until each of the n listed GPUs has a reading, and fails the test if another
// number is listed. Until then the readings are unknown.
func readings(t *testing.T, g *GPUs, n int) []GPU {
	t.Helper()
	for {
		now := g.Read()
		if len(now) != n {
			t.Fatalf("%d GPUs are there, want %d", len(now), n)
		}
		if !slices.ContainsFunc(now, func(one GPU) bool { return one.Memory == nil }) {
			return now
		}
		select {
		case <-t.Context().Done():
			t.Fatal("got no reading")
		case <-time.After(time.Millisecond):
		}
	}
}

func TestGPUsAreReadFromOneProgram(t *testing.T) {
	t.Parallel()
	g := &GPUs{program: fakeSMI(t, twoDevices, "0, 87, 40123, 310.52\n1, [N/A], 12, [N/A]\n", "exec sleep 600"), now: time.Now}
	g.open(t.Context(), "")
	defer g.Close()
	devices := []Device{{0, "GPU-aa", "NVIDIA H200, SXM", amount(141000)}, {1, "GPU-bb", "X", amount(24000)}}
	if diff := cmp.Diff(devices, g.Devices); diff != "" || g.Source != "nvidia-smi" {
		t.Errorf("source %q, devices (-want +got):\n%s", g.Source, diff)
	}
	want := []GPU{{Index: 0, Use: amount(0.87), Memory: amount(40123), Power: amount(310.52)}, {Index: 1, Memory: amount(12)}}
	if diff := cmp.Diff(want, readings(t, g, 2)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestOldMomentsAreUnknown holds that readings are unknown after the driver hangs or the program
// dies, although there were readings before.
func TestOldMomentsAreUnknown(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	g := &GPUs{Devices: []Device{{Index: 0}}, now: func() time.Time { return now }, last: map[int]moment{}}
	g.note(strings.NewReader("0, 0, 0, 0\n"))
	zero := []GPU{{Use: amount(0), Memory: amount(0), Power: amount(0)}}
	if diff := cmp.Diff(zero, g.Read()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if now = now.Add(fresh + time.Second); len(g.Read()) != 0 {
		t.Errorf("an old reading is returned: %v", g.Read())
	}
}

func TestAProgramThatDiesEndsWithoutAWord(t *testing.T) {
	t.Parallel()
	for name, g := range map[string]*GPUs{
		"dies":          {program: fakeSMI(t, twoDevices, "0, 87, 40123, 310.52\n1, 5, 12, 9\n", "exit 9")},
		"is killed":     {program: fakeSMI(t, twoDevices, "0, 87, 40123, 310.52\n1, 5, 12, 9\n", "kill -9 $$")},
		"floods a line": {program: fakeSMI(t, twoDevices, "0, 87, 40123, 310.52\n1, 5, 12, 9\n", "exec yes x | tr -d '\\n'")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g.now = time.Now
			g.open(t.Context(), "")
			readings(t, g, 2)
			g.Close()
		})
	}
}

func TestNoGPUs(t *testing.T) {
	t.Parallel()
	for name, program := range map[string]string{
		"no program": filepath.Join(t.TempDir(), "nvidia-smi"),
		"no driver":  fakeSMI(t, "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver, for now.\n", "", ""),
		"no device":  fakeSMI(t, "No devices were found\n", "", ""),
		"no answer":  fakeSMI(t, "", "", ""),
	} {
		g := &GPUs{program: program, now: time.Now}
		g.open(t.Context(), "")
		if g.Source != "" || g.Devices != nil || g.Read() != nil {
			t.Errorf("%s: %+v", name, g)
		}
		g.Close()
	}
}

func TestVisibleDevices(t *testing.T) {
	t.Parallel()
	for visible, want := range map[string]int{"": 3, "0": 1, "1, 0": 2, "GPU-b": 1, "-1": 0, "none": 0, "2": 0} {
		n := 0
		for _, d := range []Device{{Index: 0, UUID: "GPU-aa"}, {Index: 1, UUID: "GPU-bb"}, {Index: 11}} {
			if seen(d, visible) {
				n++
			}
		}
		if n != want {
			t.Errorf("%q: %d devices, want %d", visible, n, want)
		}
	}
}

// TestParseGPU holds that a missing value is nil: with MIG a GPU reports no utilisation, in some
// containers no memory, and a failing driver writes words.
func TestParseGPU(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]*GPU{
		"0, 87, 40123, 310.52":                        {Use: amount(0.87), Memory: amount(40123), Power: amount(310.52)},
		"3, 0, 0, 61.20\r":                            {Index: 3, Use: amount(0), Memory: amount(0), Power: amount(61.2)},
		"0, [N/A], [N/A], 75.51":                      {Power: amount(75.51)},
		"0, [N/A], [Insufficient Permissions], [N/A]": {},
		"1, [Not Supported], 12, [Not Supported]":     {Index: 1, Memory: amount(12)},
		"1, [Unknown Error], [GPU is lost], ERR!":     {Index: 1},
		"2, NaN, +Inf, -":                             {Index: 2},
		"":                                            nil,
		"0, 87":                                       nil,
		"-1, 1, 1, 1":                                 nil,
		"64, 1, 1, 1":                                 nil,
		"index, utilization.gpu [%], memory.used [MiB], power":   nil,
		"Unable to determine the device handle for GPU, a, b, c": nil,
	} {
		got, ok := parseGPU(line)
		if ok != (want != nil) || ok && cmp.Diff(*want, got) != "" {
			t.Errorf("%q: %+v, %v", line, got, ok)
		}
	}
}

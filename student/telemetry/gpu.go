package telemetry

import (
	"bufio"
	"context"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/trajectory-arena/arena/internal/stats"
	"github.com/trajectory-arena/arena/internal/webclient"
)

// GPU is the state of one GPU at one point in time.
type GPU struct {
	Index int `json:"index"`
	// Use is the share of time with a kernel running, 0 to 1; Memory is in MiB, Power in
	// watts. Nil if the driver does not report it.
	Use    *float64 `json:"use"`
	Memory *float64 `json:"memory_mib"`
	Power  *float64 `json:"power_w"`
}

// Device is the fixed description of a GPU.
type Device struct {
	Index int    `json:"index"`
	UUID  string `json:"uuid,omitempty"`
	Name  string `json:"name,omitempty"`
	// Memory is the total memory in MiB.
	Memory *float64 `json:"memory_mib"`
}

// GPUs are the GPUs that a model server on this machine can use. The zero value has none.
// nvidia-smi lists them once, then keeps running and reports every second, since starting it
// takes a second or more on machines with several GPUs.
type GPUs struct {
	// Source is "nvidia-smi", or empty if that program does not exist or finds no GPU.
	Source  string
	Devices []Device

	program string
	now     func() time.Time

	mu    sync.Mutex
	last  map[int]moment
	close func()
}

// OpenGPUs finds the GPUs and watches them until ctx ends or Close is called.
// visible is the value of CUDA_VISIBLE_DEVICES: the devices that it leaves out
// are not those of the server; empty means all.
func OpenGPUs(ctx context.Context, visible string) *GPUs {
	g := &GPUs{program: "nvidia-smi", now: time.Now} //nolint:forbidigo // a measurement is of time
	g.open(ctx, visible)
	return g
}

func (g *GPUs) open(ctx context.Context, visible string) {
	if devices := g.devices(ctx); len(devices) > 0 {
		g.watch(ctx)
		g.Source = "nvidia-smi"
		g.Devices = slices.DeleteFunc(devices, func(d Device) bool {
			return !seen(d, visible)
		})
	}
}

// seen reports whether a process with this value of CUDA_VISIBLE_DEVICES (visible) can use a
// device. The value lists indices or the first characters of UUIDs; an empty value includes all
// devices. An entry that matches no device is ignored, although the driver would also ignore all
// entries after it.
func seen(d Device, visible string) bool {
	if visible == "" {
		return true
	}
	return slices.ContainsFunc(strings.Split(visible, ","), func(entry string) bool {
		entry = strings.TrimSpace(entry)
		i, err := strconv.Atoi(entry)
		return err == nil && i == d.Index || strings.HasPrefix(entry, "GPU-") && strings.HasPrefix(d.UUID, entry)
	})
}

// Read returns the newest sample of each device that the driver still reports; a device
// without a sample is returned without values.
func (g *GPUs) Read() (gpus []GPU) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, d := range g.Devices {
		m, ok := g.last[d.Index]
		if m.Index = d.Index; !ok || g.now().Sub(m.sampledAt) <= fresh {
			gpus = append(gpus, m.GPU)
		}
	}
	return gpus
}

// Close ends the watch.
func (g *GPUs) Close() {
	if g.close != nil {
		g.close()
	}
}

type moment struct {
	GPU
	sampledAt time.Time
}

const (
	// fresh is the age up to which a sample of the GPUs is used. Samples arrive every second, so
	// three missing ones mean that the driver hangs or nvidia-smi died.
	fresh = 4 * time.Second
	// restart is the time to wait before nvidia-smi is started again after it has ended.
	restart = 10 * time.Second
	// maxGPUs is the maximum number of GPUs that are recorded, in case of a broken driver; a
	// machine has at most 16.
	maxGPUs = 64
	// maxSMILine is the maximum length in bytes of a line of nvidia-smi's reports. A usual line has about
	// twenty: "0, 87, 12345, 310.52".
	maxSMILine = 64 << 10
)

func (g *GPUs) command(ctx context.Context, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, g.program, append(args, "--format=csv,noheader,nounits")...)
	c.WaitDelay = time.Second
	return c
}

// devices returns the GPUs that nvidia-smi lists; nil if the program does not exist or finds no
// GPU.
func (g *GPUs) devices(ctx context.Context) (devices []Device) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	out, err := g.command(ctx, "--query-gpu=index,memory.total,uuid,name").Output()
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(out)) {
		if d, ok := parseDevice(line); ok && len(devices) < maxGPUs {
			devices = append(devices, d)
		}
	}
	return devices
}

func (g *GPUs) watch(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	g.last = map[int]moment{}
	var running sync.WaitGroup
	g.close = func() {
		cancel()
		running.Wait()
	}
	running.Go(func() {
		for ctx.Err() == nil {
			g.run(ctx)
			_ = webclient.Sleep(ctx, restart) // the loop sees why it ended
		}
	})
}

// run starts nvidia-smi and records its reports until it ends. If nvidia-smi cannot start or ends,
// there is no error: the reports that were recorded become too old to be used.
func (g *GPUs) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := g.command(ctx, "--query-gpu=index,utilization.gpu,memory.used,power.draw", "--loop=1")
	out, err := c.StdoutPipe()
	if err == nil && c.Start() == nil {
		g.note(out)
		cancel() // a line too long to read may have ended the reading
		_ = c.Wait()
	}
}

func (g *GPUs) note(text io.Reader) {
	scanner := bufio.NewScanner(text)
	scanner.Buffer(nil, maxSMILine)
	for scanner.Scan() {
		one, ok := parseGPU(scanner.Text())
		if !ok {
			continue
		}
		g.mu.Lock()
		g.last[one.Index] = moment{one, g.now()}
		g.mu.Unlock()
	}
}

// parseDevice parses a line of nvidia-smi with index, memory in MiB, UUID and name. It returns
// false for any other line.
func parseDevice(line string) (Device, bool) {
	cells, index, ok := cellsOf(line)
	return Device{
		Index:  index,
		Memory: cell(cells[1]),
		UUID:   strings.TrimSpace(cells[2]),
		Name:   strings.TrimSpace(cells[3]),
	}, ok
}

// parseGPU parses a line of nvidia-smi with index, utilization in per cent, memory in MiB and power
// in watts. It returns false for any other line.
func parseGPU(line string) (GPU, bool) {
	cells, index, ok := cellsOf(line)
	g := GPU{
		Index:  index,
		Use:    cell(cells[1]),
		Memory: cell(cells[2]),
		Power:  cell(cells[3]),
	}
	if g.Use != nil {
		*g.Use /= 100
	}
	return g, ok
}

// cellsOf splits a line of nvidia-smi into four cells, the first of which is the index of a GPU. ok
// is false for other lines, such as a message of the driver.
func cellsOf(line string) (cells [4]string, index int, ok bool) {
	n := copy(cells[:], strings.SplitN(
		strings.TrimSpace(line),
		",",
		len(cells),
	))
	index, err := strconv.Atoi(strings.TrimSpace(cells[0]))
	return cells, index, err == nil && index >= 0 && index < maxGPUs && n == len(cells)
}

// cell parses a finite number. It returns nil for any other text, such as [N/A].
func cell(s string) *float64 {
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil {
		return nil
	}
	return stats.FiniteOrNil(v)
}

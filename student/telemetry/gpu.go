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

// GPU is one GPU at one moment.
type GPU struct {
	Index int `json:"index"`
	// Use is the share of time with a kernel running, 0 to 1; Memory is in MiB, Power in
	// watts. Nil if the driver does not report it.
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

// GPUs are the GPUs that a model server on this machine can use. The zero value has none.
// nvidia-smi lists them once, then keeps running and reports every second, since starting it
// takes a second or more on machines with several GPUs.
type GPUs struct {
	// Source is "nvidia-smi", or empty where it is not there or finds none.
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

// seen reads CUDA_VISIBLE_DEVICES: indices or beginnings of UUIDs. The driver
// stops at the first entry that names no device; for telling which GPUs are
// meant it is enough that such an entry names none.
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
	// fresh is how long a sample is valid: three missing ones mean that the driver hangs or
	// the program died.
	fresh = 4 * time.Second
	// restart is the time after which a program that ended is started again.
	restart = 10 * time.Second
	// maxGPUs bounds what a broken driver can make us keep; a machine has 16 at
	// most.
	maxGPUs = 64
	// maxSMILine bounds a line; one has a hundred bytes.
	maxSMILine = 64 << 10
)

func (g *GPUs) command(ctx context.Context, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, g.program, append(args, "--format=csv,noheader,nounits")...)
	c.WaitDelay = time.Second
	return c
}

// devices returns the devices, nil if the program does not exist or finds no GPU.
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

// run reads the program's reports until it ends. Its end is no error of the run: its reports
// expire.
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

// parseDevice reads a line of index, MiB, UUID and name.
func parseDevice(line string) (Device, bool) {
	cells, index, ok := cellsOf(line)
	return Device{
		Index:  index,
		Memory: cell(cells[1]),
		UUID:   strings.TrimSpace(cells[2]),
		Name:   strings.TrimSpace(cells[3]),
	}, ok
}

// parseGPU reads a line of index, per cent, MiB and watts.
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

// cellsOf splits a line into four cells, of which the first is a GPU's index; ok is false
// for other lines, such as a message of the driver.
func cellsOf(line string) (cells [4]string, index int, ok bool) {
	n := copy(cells[:], strings.SplitN(
		strings.TrimSpace(line),
		",",
		len(cells),
	))
	index, err := strconv.Atoi(strings.TrimSpace(cells[0]))
	return cells, index, err == nil && index >= 0 && index < maxGPUs && n == len(cells)
}

// cell returns a finite number, or nil for other texts such as [N/A].
func cell(s string) *float64 {
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil {
		return nil
	}
	return stats.FiniteOrNil(v)
}

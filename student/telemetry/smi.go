package telemetry

import (
	"bufio"
	"context"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// smi is nvidia-smi: asked once which devices there are, then left running to
// tell every second what they do, since starting it takes a second or more on
// machines with several GPUs.
type smi struct {
	program string
	now     func() time.Time

	mu    sync.Mutex
	last  map[int]moment
	close func()
}

type moment struct {
	GPU
	at time.Time
}

const (
	// fresh is how long a moment is believed: three that did not come mean that
	// the driver hangs or the program died.
	fresh = 4 * time.Second
	// restart is the time after which a program that ended is started again.
	restart = 10 * time.Second
	// maxGPUs bounds what a broken driver can make us keep; a machine has 16 at
	// most.
	maxGPUs = 64
	// maxSMILine bounds a line; one has a hundred bytes.
	maxSMILine = 64 << 10
)

func (s *smi) command(ctx context.Context, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, s.program, append(args, "--format=csv,noheader,nounits")...)
	c.WaitDelay = time.Second
	return c
}

// devices is nil where the program is not there or finds no GPU.
func (s *smi) devices(ctx context.Context) (all []Device) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	out, err := s.command(ctx, "--query-gpu=index,memory.total,uuid,name").Output()
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(out)) {
		if d, ok := parseDevice(line); ok && len(all) < maxGPUs {
			all = append(all, d)
		}
	}
	return all
}

func (s *smi) watch(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	s.last = map[int]moment{}
	var running sync.WaitGroup
	s.close = func() {
		cancel()
		running.Wait()
	}
	running.Go(func() {
		for ctx.Err() == nil {
			s.run(ctx)
			select {
			case <-ctx.Done():
			case <-time.After(restart):
			}
		}
	})
}

// run notes what the program tells until it ends. That it ends is no error of
// the run that is watched: what it told grows old and is unknown then.
func (s *smi) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	c := s.command(ctx, "--query-gpu=index,utilization.gpu,memory.used,power.draw", "--loop=1")
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err == nil {
		s.note(out)
		cancel() // a line too long to read may have ended the reading
		_ = c.Wait()
	}
	cancel()
}

func (s *smi) note(text io.Reader) {
	in := bufio.NewScanner(text)
	in.Buffer(nil, maxSMILine)
	for in.Scan() {
		g, ok := parseGPU(in.Text())
		if !ok {
			continue
		}
		s.mu.Lock()
		s.last[g.Index] = moment{g, s.now()}
		s.mu.Unlock()
	}
}

// newest gives what was told last of a GPU, while that is fresh.
func (s *smi) newest(index int) (GPU, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, told := s.last[index]
	return m.GPU, told && s.now().Sub(m.at) <= fresh
}

// parseDevice reads a line of index, MiB, UUID and name.
func parseDevice(line string) (Device, bool) {
	cells, index, ok := cellsOf(line)
	if !ok {
		return Device{}, false
	}
	return Device{Index: index, Memory: cell(cells[1]), UUID: strings.TrimSpace(cells[2]), Name: strings.TrimSpace(cells[3])}, true
}

// parseGPU reads a line of index, per cent, MiB and watts.
func parseGPU(line string) (GPU, bool) {
	cells, index, ok := cellsOf(line)
	if !ok {
		return GPU{}, false
	}
	g := GPU{Index: index, Use: cell(cells[1]), Memory: cell(cells[2]), Power: cell(cells[3])}
	if g.Use != nil {
		*g.Use /= 100
	}
	return g, true
}

// cellsOf cuts a line into four cells, of which the first is a GPU's index; what
// is no such line, as a message of the driver, is not ok.
func cellsOf(line string) (cells []string, index int, ok bool) {
	const n = 4
	cells = strings.SplitN(strings.TrimSpace(line), ",", n)
	if len(cells) != n {
		return nil, 0, false
	}
	index, err := strconv.Atoi(strings.TrimSpace(cells[0]))
	return cells, index, err == nil && index >= 0 && index < maxGPUs
}

// cell is nil for what is no finite number, such as [N/A].
func cell(s string) *float64 {
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || v-v != 0 {
		return nil
	}
	return &v
}

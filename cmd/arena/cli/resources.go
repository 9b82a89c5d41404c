package cli

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
)

type profiler struct {
	cpu    string
	memory string
	file   *os.File
}

func (p *profiler) flags(root *cobra.Command) {
	root.PersistentFlags().StringVar(&p.cpu, "cpuprofile", "", "write a CPU profile to this file")
	root.PersistentFlags().StringVar(&p.memory, "memprofile", "", "write a heap profile to this file at the end")
	for _, name := range []string{"cpuprofile", "memprofile"} {
		root.PersistentFlags().Lookup(name).Annotations = map[string][]string{noteWrites: nil}
	}
}

func (p *profiler) start() error {
	if p.cpu == "" {
		return nil
	}
	f, err := os.Create(p.cpu)
	if err != nil {
		return Failed(fmt.Errorf("create CPU profile: %w", err), "give --cpuprofile a file that can be written")
	}
	p.file = f
	return pprof.StartCPUProfile(f)
}

// stop ends the profiles; err is the run's own error and comes first.
func (p *profiler) stop(err error) error {
	if p.file != nil {
		pprof.StopCPUProfile()
		err = cmp.Or(err, p.file.Close())
	}
	if p.memory == "" || err != nil {
		return err
	}
	f, err := os.Create(p.memory)
	if err != nil {
		return Failed(fmt.Errorf("create heap profile: %w", err), "give --memprofile a file that can be written")
	}
	runtime.GC()
	return cmp.Or(pprof.WriteHeapProfile(f), f.Close())
}

// BuildHeapGrowth is how far the heap of a build may grow between two collections, in
// per cent. A build makes and drops some hundred kilobytes for every attempt and keeps
// little of it, so the collector may wait until the heap is nine times what
// lives: it runs 16 times on a day of 2 GB, 31 times with four times the growth
// and over a hundred times by its default. The limit keeps the program's memory
// under 1 GiB all the same.
const BuildHeapGrowth = 800

// HeapLimit is what a build's heap is kept to, GroupHeapLimit that of a process which only
// groups: of half a million attempts 730 MB live, and below that it would do nothing but collect.
const (
	HeapLimit      = 700 << 20
	GroupHeapLimit = 900 << 20
)

// leastAddresses is what the address space may be limited to: Go reserves far
// more than it uses, and dies without a word of ours where it gets less.
const leastAddresses = 3 << 30

// enoughAddresses refuses to start where the runtime would die half-way.
func enoughAddresses(given uint64) error {
	if given >= leastAddresses {
		return nil
	}
	return Failed(fmt.Errorf("the address space is limited to %.1f GiB, and the program reserves up to %d", float64(given)/(1<<30), leastAddresses>>30),
		"raise the limit (ulimit -v unlimited), and bound memory by a cgroup or GOMEMLIMIT")
}

// addressSpace is how many bytes of addresses the process may reserve.
func addressSpace() uint64 {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &l); err != nil {
		return math.MaxUint64
	}
	return uint64(l.Cur) //nolint:unconvert // signed on some systems
}

// GrowHeap lets the heap grow by so many per cent of what lives between two
// collections, unless the user's environment says otherwise.
func GrowHeap(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}

// LimitHeap makes the collector work harder before the heap passes a limit in bytes,
// unless the user's environment has another.
func LimitHeap(limit int64) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit)
	}
}

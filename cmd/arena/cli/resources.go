package cli

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
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

// stop ends the CPU profile and, if err is nil, writes the heap profile. err is the error of the
// run; if it is not nil, stop returns it instead of an error of the profiles.
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
	if err := pprof.WriteHeapProfile(f); err != nil {
		return err
	}
	return f.Close()
}

// HeapLimit is the soft memory limit in bytes of commands that read and write rows.
const HeapLimit = 700 << 20

// A build collects garbage when the heap has grown by mostGrowth percent, or when all memory reaches
// buildMemory bytes or 1.4 times what is in use. A build allocates some hundred kilobytes for
// every attempt and keeps few of them, so that the usual growth of 100 % would collect often.
const (
	mostGrowth  = 800
	buildMemory = 260 << 20
)

// FitHeap sets the soft memory limit of a build by the memory in use, now and after each garbage
// collection.
func FitHeap() {
	GrowHeap(mostGrowth)
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	LimitHeap(int64(max(buildMemory, live[0].Value.Uint64()/5*7))) //nolint:gosec // far less than 2^63
	sentinel := new([16]byte)                                      // the next collection frees it
	runtime.AddCleanup(sentinel, func(struct{}) { FitHeap() }, struct{}{})
}

// minAddressSpace is the smallest limit of the address space, in bytes, with which the Go
// runtime starts reliably. The runtime reserves far more addresses than it uses.
const minAddressSpace = 3 << 30

// checkAddressSpace returns an error if limit, the maximum size of the address space in bytes,
// is below minAddressSpace. The program could otherwise fail later.
func checkAddressSpace(limit uint64) error {
	if limit >= minAddressSpace {
		return nil
	}
	return Failed(fmt.Errorf("the address space is limited to %.1f GiB, and the program reserves up to %d", float64(limit)/(1<<30), minAddressSpace>>30),
		"raise the limit (ulimit -v unlimited), and bound memory by a cgroup or GOMEMLIMIT")
}

// addressSpace returns the limit of the process's address space in bytes. It returns the maximum
// uint64 if the limit cannot be read.
func addressSpace() uint64 {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &l); err != nil {
		return math.MaxUint64
	}
	return uint64(l.Cur) //nolint:unconvert // signed on some systems
}

// GrowHeap sets the heap growth between two garbage collections in percent. It does nothing if
// GOGC is set.
func GrowHeap(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}

// LimitHeap sets the soft memory limit in bytes, above which garbage is collected more often. It
// does nothing if GOMEMLIMIT is set.
func LimitHeap(limit int64) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit)
	}
}

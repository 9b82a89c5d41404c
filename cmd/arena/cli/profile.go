package cli

import (
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"

	"github.com/spf13/cobra"
)

// profiler writes the profiles that a run was asked for.
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
		if closing := p.file.Close(); err == nil && closing != nil {
			err = Failed(fmt.Errorf("close CPU profile: %w", closing), "")
		}
	}
	if p.memory == "" || err != nil {
		return err
	}
	return writeHeap(p.memory)
}

func writeHeap(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return Failed(fmt.Errorf("create heap profile: %w", err), "give --memprofile a file that can be written")
	}
	runtime.GC()
	err = pprof.WriteHeapProfile(f)
	if closing := f.Close(); err == nil {
		err = closing
	}
	return err
}

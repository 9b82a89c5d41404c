package pipeline

import (
	"context"
	"fmt"
	"strings"

	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/pipeline/block"
)

// Forecast is what a run would do.
type Forecast struct {
	Inputs   int
	Bytes    int64
	Problems int
	Clusters map[guard.Pool]int
	// Blocks counts inputs by what would be done about their block.
	Blocks map[block.Status]int
}

// Forecast looks at the inputs without working on them.
func (r *Run) Forecast(ctx context.Context) (*Forecast, error) {
	o, err := r.open(ctx, r.Sources)
	if err != nil {
		return nil, err
	}
	defer o.close()
	f := &Forecast{Inputs: len(o.day.Inputs), Problems: len(o.day.Problems.All), Clusters: map[guard.Pool]int{}, Blocks: map[block.Status]int{}}
	for _, in := range o.inputs {
		f.Bytes += in.bytes
		s, err := block.State(o.FS, in.dir, in.key)
		if err != nil {
			return nil, err
		}
		f.Blocks[s]++
	}
	for _, c := range o.protect.State.Clusters {
		f.Clusters[c.Pool]++
	}
	return f, nil
}

// String says it for people.
func (f *Forecast) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "would read %d inputs (%.1f MB as stored) with %d problems; clusters: train %d, eval %d, never-touch %d\n",
		f.Inputs, float64(f.Bytes)/1e6, f.Problems, f.Clusters[guard.PoolTrain], f.Clusters[guard.PoolEval], f.Clusters[guard.PoolNeverTouch])
	for s := block.Missing; s <= block.Equal; s++ {
		if n := f.Blocks[s]; n > 0 {
			verb := "work on"
			if s == block.Equal {
				verb = "take as they are"
			}
			fmt.Fprintf(&b, "  %s %d: %s\n", verb, n, s)
		}
	}
	b.WriteString("nothing was written\n")
	return b.String()
}

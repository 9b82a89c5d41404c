package filters_test

import (
	"fmt"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters"
)

// attemptOf is a kept attempt of a good agent that searches and looks n times.
func attemptOf(tb testing.TB, style string, n int) *arena.Trace {
	tb.Helper()
	w := newWorld(7)
	r := &recorder{w: w, task: w.task(0), now: start, limit: 4000, style: style}
	var chosen string
	for i := range n {
		products := ids(turnPlain(r, "Looking for it.", find(fmt.Sprintf("%s %s", nouns[i%len(nouns)], r.task.needs[0].wants[0])))[0])
		chosen = products[min(i%3, len(products)-1)]
		turnPlain(r, talks(r, "A closer look.", products), view(chosen))
	}
	turnPlain(r, "That one.", recommend(chosen), finish())
	return r.trace("agent")
}

// BenchmarkKept runs a kept attempt of two lengths through the filter: normal form, evidence,
// verdict. A step more needs no allocation.
func BenchmarkKept(b *testing.B) {
	f := newFilter(b)
	for _, style := range []string{"list", "native"} {
		for _, turns := range []int{4, 12} {
			b.Run(fmt.Sprintf("%s/steps=%d", style, 2*turns+1), func(b *testing.B) {
				t := attemptOf(b, style, turns)
				b.SetBytes(traceBytes(t))
				b.ReportAllocs()
				for b.Loop() {
					d := filters.Normalise(t)
					if s, _ := f.Check(t, &d); !s.Keep {
						b.Fatal(s.Reasons)
					}
				}
			})
		}
	}
}

func traceBytes(t *arena.Trace) (n int64) {
	for _, s := range t.Steps {
		n += int64(len(s.Content) + len(s.Think) + len(s.Raw))
		for _, c := range s.Calls {
			n += int64(len(c.Arguments) + len(c.Result))
		}
		for _, p := range s.Proxy {
			n += int64(len(p.Response) + len(p.Params) + p.Length + 1)
		}
	}
	return n
}

package filters_test

import (
	"testing"

	"github.com/trajectory-arena/arena/filters"
)

// BenchmarkKept is the whole way of a kept attempt through the filter: normal
// form, evidence, verdict. The bytes are those of the attempt's calls and log.
func BenchmarkKept(b *testing.B) {
	var kept []labelled
	size := int64(0)
	for _, j := range judgeDay(b, playAll(1)[:tasksPerAgent*8]) {
		if j.after.Keep {
			kept = append(kept, j.labelled)
			size += traceBytes(j.labelled)
		}
	}
	f, err := filters.New(filters.Defaults())
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(size / int64(len(kept)))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		t := kept[i%len(kept)].trace
		d := filters.Normalise(t)
		f.Check(t, &d)
	}
}

func traceBytes(l labelled) (n int64) {
	for _, s := range l.trace.Steps {
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

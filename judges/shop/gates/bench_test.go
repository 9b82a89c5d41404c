package gates_test

import (
	"path/filepath"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/longtest"
	"github.com/trajectory-arena/arena/judges/shop/gates"
)

// BenchmarkJudge judges the attempts of the shared day if it is available, and the cases of
// testdata otherwise. Bytes are those of thinking and results.
func BenchmarkJudge(b *testing.B) {
	type pair struct {
		t *arena.Trace
		d *arena.Dialogue
	}
	var pairs []pair
	size := 0
	add := func(t *arena.Trace, d *arena.Dialogue) {
		pairs = append(pairs, pair{t, d})
		for i := range d.Turns {
			size += len(d.Turns[i].Think)
			for k := range d.Turns[i].Calls {
				size += len(d.Turns[i].Calls[k].Result)
			}
		}
	}
	files, _ := filepath.Glob(filepath.Join(longtest.SharedFolder(), "data", "day", "traces", "run=*", "output.jsonl.gz"))
	for _, file := range files {
		for _, line := range lines(b, file) {
			add(attempt(b, line))
		}
	}
	if len(pairs) == 0 {
		for _, c := range readCases(b, "testdata/cases.txt", readGoods(b, "testdata/world.txt")) {
			add(c.trace, c.dialogue)
		}
	}
	b.SetBytes(int64(size / len(pairs)))
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		gates.Judge(pairs[i%len(pairs)].t, pairs[i%len(pairs)].d)
	}
}

package cli

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// TestMemoryOfABuildFollowsWhatIsInUse checks that the limit is buildMemory while little is in use,
// rises when much is, and falls again, since a build with few rows after a large one is the rule.
func TestMemoryOfABuildFollowsWhatIsInUse(t *testing.T) {
	for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
		t.Setenv(name, "")
	}
	FitHeap()
	waitForLimit(t, buildMemory, buildMemory)
	const large = 400 << 20
	used := make([]byte, large)
	waitForLimit(t, large/5*7, large/5*8)
	runtime.KeepAlive(used)
	used = nil
	waitForLimit(t, buildMemory, buildMemory)
	if growth := debug.SetGCPercent(mostGrowth); growth != mostGrowth {
		t.Errorf("growth of the heap: %d %%, want %d", growth, mostGrowth)
	}
}

// waitForLimit collects garbage until the soft memory limit is between low and high, since a
// collection sets the limit some time after it ends.
func waitForLimit(t *testing.T, low, high int64) {
	t.Helper()
	for range 500 {
		runtime.GC()
		if limit := debug.SetMemoryLimit(-1); low <= limit && limit <= high {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("limit %d, want %d to %d (none: %d)", debug.SetMemoryLimit(-1), low, high, int64(math.MaxInt64))
}

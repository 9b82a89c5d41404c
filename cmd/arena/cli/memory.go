package cli

import (
	"os"
	"runtime/debug"
)

// A build makes and drops some hundred kilobytes for every attempt and keeps
// little of it, so the collector may wait until the heap is nine times what
// lives: it runs 16 times on a day of 2 GB, 31 times with four times the growth
// and over a hundred times by its default. The limit keeps the program's memory
// under 1 GiB all the same.
const (
	buildHeapGrowth = 800
	heapLimit       = 700 << 20
)

// TuneBuildHeap sets both, unless the user's environment says otherwise.
func TuneBuildHeap() {
	GrowHeap(buildHeapGrowth)
	LimitHeap()
}

// GrowHeap lets the heap grow by so many per cent of what lives between two
// collections, unless the user's environment says otherwise.
func GrowHeap(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}

// LimitHeap makes the collector work harder before the heap passes the limit,
// unless the user's environment has another.
func LimitHeap() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(heapLimit)
	}
}

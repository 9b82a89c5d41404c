package main

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

// tuneBuildHeap sets both, unless the user's environment says otherwise.
func tuneBuildHeap() {
	growHeap(buildHeapGrowth)
	limitHeap()
}

// growHeap lets the heap grow by so many per cent of what lives between two
// collections, unless the user's environment says otherwise.
func growHeap(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}

// limitHeap makes the collector work harder before the heap passes the limit,
// unless the user's environment has another.
func limitHeap() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(heapLimit)
	}
}

// Package slicesx has functions on slices, and on the keys of maps as slices, that the standard
// library does not have.
package slicesx

import (
	"cmp"
	"maps"
	"slices"
	"sort"
)

// Map returns the results of f for all items, in order. It returns nil if there are no items.
func Map[T, U any](items []T, f func(T) U) []U {
	if len(items) == 0 {
		return nil
	}
	out := make([]U, 0, len(items))
	for _, item := range items {
		out = append(out, f(item))
	}
	return out
}

// FilterMap returns the results of f for those items for which f returns true, in order. It
// returns nil if there are none.
func FilterMap[T, U any](items []T, f func(T) (U, bool)) []U {
	var out []U
	for _, item := range items {
		if result, ok := f(item); ok {
			out = append(out, result)
		}
	}
	return out
}

// AppendUnique appends item unless items already contains it.
func AppendUnique[T comparable](items []T, item T) []T {
	if slices.Contains(items, item) {
		return items
	}
	return append(items, item)
}

// SortedKeys returns the keys of m in ascending order, nil if there are none.
func SortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// Set returns a map in which every item is true.
func Set[T comparable](items []T) map[T]bool {
	set := make(map[T]bool, len(items))
	for _, item := range items {
		set[item] = true
	}
	return set
}

// CountFunc returns the number of items for which match returns true.
func CountFunc[T any](items []T, match func(*T) bool) int {
	n := 0
	for i := range items {
		if match(&items[i]) {
			n++
		}
	}
	return n
}

// SortFunc sorts items as slices.SortFunc does. Items that are equal under compare come in the same
// order with both. The compiler makes a copy of slices.SortFunc for each type of structs, which
// adds 20 KB or more to the program; it is worth that only where much of a command's time is
// sorting.
func SortFunc[T any](items []T, compare func(a, b T) int) {
	sort.Slice(items, func(i, j int) bool {
		return compare(items[i], items[j]) < 0
	})
}

// SortStableFunc sorts items as slices.SortStableFunc does, and keeps the order of items that are
// equal under compare. SortFunc says why it exists.
func SortStableFunc[T any](items []T, compare func(a, b T) int) {
	sort.SliceStable(items, func(i, j int) bool {
		return compare(items[i], items[j]) < 0
	})
}

// SortByKey sorts items by their keys, the smallest first, and keeps the order of items with equal
// keys.
func SortByKey[T any, K cmp.Ordered](items []T, key func(T) K) {
	sort.SliceStable(items, func(i, j int) bool {
		return cmp.Less(key(items[i]), key(items[j]))
	})
}

// Extended returns items with at least the element at index i. New elements are zero.
func Extended[T any](items []T, i int) []T {
	if n := i + 1 - len(items); n > 0 {
		items = append(items, make([]T, n)...)
	}
	return items
}

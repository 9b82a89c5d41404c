// Package list makes one list of another.
package list

import "slices"

// Of is what of makes of each of the items, in their order; nil for none.
func Of[T, U any](items []T, of func(T) U) (out []U) {
	out = slices.Grow(out, len(items))
	for _, item := range items {
		out = append(out, of(item))
	}
	return out
}

// Some is what of makes of those of the items that it takes, in their order; nil for none.
func Some[T, U any](items []T, of func(T) (U, bool)) (out []U) {
	for _, item := range items {
		if made, taken := of(item); taken {
			out = append(out, made)
		}
	}
	return out
}

// Once is the items with one more, unless it is among them.
func Once[T comparable](items []T, item T) []T {
	if slices.Contains(items, item) {
		return items
	}
	return append(items, item)
}

// Count is how many of the items are so.
func Count[T any](items []T, so func(*T) bool) (n int) {
	for i := range items {
		if so(&items[i]) {
			n++
		}
	}
	return n
}

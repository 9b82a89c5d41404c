// Package text holds what several rooms do with plain text.
package text

import "unicode/utf8"

// Clip is s, or its first n characters where it has more.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// ClipBytes is s, or as many whole characters of it as n bytes hold.
func ClipBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

package redact

import "strings"

// replaceJSON puts placeholders into the strings of a JSON value that findings
// reach into, and strings of placeholders in place of such numbers. Quotes,
// brackets and words stay, and so it stays JSON.
func replaceJSON(text string, found []Finding) string {
	var b strings.Builder
	at := 0
	for i := 0; i < len(text) && len(found) > 0; {
		if found[0].End <= i {
			found = found[1:]
			continue
		}
		switch c := text[i]; {
		case c == '"':
			end := stringEnd(text, i)
			b.WriteString(text[at : i+1])
			writeString(&b, text, span{i + 1, end}, found)
			at, i = end, end+1
		case c == '-' || digit(c):
			end := i + 1
			for end < len(text) && (digit(text[end]) || strings.IndexByte("+-.eE", text[end]) >= 0) {
				end++
			}
			if found[0].Start < end {
				b.WriteString(text[at:i] + `"` + Placeholder(found[0].Kind) + `"`)
				at = end
			}
			i = end
		default:
			i++
		}
	}
	b.WriteString(text[at:])
	return b.String()
}

func stringEnd(text string, open int) int {
	i := open + 1
	for i < len(text) && text[i] != '"' {
		i += escapeLen(text, i)
	}
	return min(i, len(text))
}

// escapeLen is how many bytes of a JSON string belong together at a place: an
// escape, both halves of a surrogate pair, or one byte.
func escapeLen(text string, at int) int {
	if text[at] != '\\' || at+1 >= len(text) {
		return 1
	}
	if text[at+1] != 'u' {
		return 2
	}
	_, end := unicodeEscape(text, at, at+1)
	return max(end-at, 2)
}

// writeString writes the inside of a string with a placeholder for each finding
// that reaches into it.
func writeString(b *strings.Builder, text string, in span, found []Finding) {
	at := in.start
	for _, f := range found {
		if f.Start >= in.end {
			break
		}
		if f.End <= at {
			continue
		}
		start, end := in.cut(text, at, max(f.Start, at), false), in.cut(text, at, min(f.End, in.end), true)
		b.WriteString(text[at:start])
		b.WriteString(Placeholder(f.Kind))
		at = end
	}
	b.WriteString(text[at:in.end])
}

// cut is the place itself, or, where it lies within an escape, where the escape
// begins or ends.
func (s span) cut(text string, from, place int, after bool) int {
	for i := from; i < s.end; {
		n := escapeLen(text, i)
		if i == place || i+n > place && !after {
			return i
		}
		i += n
		if i >= place && after {
			return i
		}
	}
	return s.end
}

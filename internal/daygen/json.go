package daygen

import (
	"strconv"
	"strings"

	"github.com/trajectory-arena/arena/internal/python"
)

// The sandbox writes JSON as Python does: a blank after each comma and colon,
// and every character outside ASCII as an escape.

// object renders alternating names and values, which are rendered already.
func object(pairs ...string) string {
	items := make([]string, len(pairs)/2)
	for i := range items {
		items[i] = str(pairs[2*i]) + ": " + pairs[2*i+1]
	}
	return "{" + strings.Join(items, ", ") + "}"
}

// list renders the items, which are rendered already.
func list(items ...string) string { return "[" + strings.Join(items, ", ") + "]" }

func texts(items []string) string {
	quoted := make([]string, len(items))
	for i, item := range items {
		quoted[i] = str(item)
	}
	return list(quoted...)
}

func str(s string) string { return python.Dumps(python.String(s)) }

func num(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

func whole(n int) string { return strconv.Itoa(n) }

package choose

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/trajectory-arena/arena/corpus"
)

// PrintFunnel writes a funnel as a table for people: the reasons of each
// stage by count, the largest first.
func PrintFunnel(w io.Writer, funnel []corpus.Stage) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "stage\tin\tfailed\tdropped\tout\treasons")
	for _, s := range funnel {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\n", s.Name, thousands(s.In), thousands(s.Failed),
			thousands(s.In-s.Failed-s.Out), thousands(s.Out), reasons(s.Failures, s.Dropped))
	}
	_ = tw.Flush() // words for people: a closed terminal is no failure of the run
}

func reasons(counts ...map[string]int64) string {
	var words []string
	for _, by := range counts {
		mine := slices.SortedFunc(maps.Keys(by), func(a, b string) int {
			return cmp.Or(cmp.Compare(by[b], by[a]), strings.Compare(a, b))
		})
		for _, word := range mine {
			words = append(words, word+" "+thousands(by[word]))
		}
	}
	return strings.Join(words, ", ")
}

func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

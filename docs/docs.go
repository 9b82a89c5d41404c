// Package docs holds pages that the program itself shows.
package docs

import (
	_ "embed"
	"strings"
)

// Reasons is the page of all reasons for which a record or a row is left out.
//
//go:embed reasons.md
var Reasons string

// columns is the text of the page that explains the columns of a corpus's tables.
//
//go:embed columns.md
var columns string

// outcome is the text of the page that explains by which rules an attempt is successful.
//
//go:embed outcome.md
var outcome string

// ColumnMeanings returns the meanings of the columns of the ledger's tables, by the names
// that expressions over the ledger use.
func ColumnMeanings() map[string]string {
	all := map[string]string{}
	_, scores, _ := strings.Cut(outcome, "\n| score | meaning |\n")
	scores, _, _ = strings.Cut(scores, "\n\n")
	for line := range strings.Lines(scores) {
		if cells := strings.SplitN(strings.Trim(strings.TrimSpace(line), "| "), " | ", 2); len(cells) == 2 {
			all[strings.Trim(cells[0], "`")] = cells[1]
		}
	}
	prefix := ""
	tables := columns[strings.Index(columns, "\n## tables/attempts"):]
	for line := range strings.Lines(tables) {
		if table, is := strings.CutPrefix(line, "## tables/"); is {
			prefix = map[string]string{"judgements": "judge_", "leaks": "leak_"}[strings.TrimSpace(table)]
		}
		cells := strings.SplitN(strings.Trim(strings.TrimSpace(line), "| "), " | ", 3)
		if len(cells) < 3 {
			continue
		}
		for i, name := range strings.Split(cells[0], "`") {
			if _, known := all[prefix+name]; i%2 == 1 && !known {
				all[prefix+name] = cells[2]
			}
		}
	}
	all["judge"] = all["judge_judge"]
	return all
}

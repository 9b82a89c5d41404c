package figures_test

import (
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/corpus/figures"
)

// TestFiguresAreOfTheRows by nearest rank, the same whether rows are counted together
// or apart; what configs have in common stands once, and names keep to their cells.
func TestFiguresAreOfTheRows(t *testing.T) {
	t.Parallel()
	var whole, a, b figures.Figures
	for i := range 22 {
		for _, config := range []string{"sft", "text"} {
			r := figures.Row{Tokens: int64(10 * (i + 1)), Counter: "bytes4", Task: "shop|er", Agent: string(rune('a' + i%2)), Model: figures.NoModel}
			whole.Add(config, "train", r)
			if i%3 == 0 {
				a.Add(config, "train", r)
			} else {
				b.Add(config, "train", r)
			}
		}
	}
	whole.Add("rl", "eval", figures.Row{Task: "voucher", Difficulty: "hard"})
	b.Add("rl", "eval", figures.Row{Task: "voucher", Difficulty: "hard"})
	a.Join(&b)
	body := whole.Section().Body
	if got := a.Section().Body; got != body {
		t.Errorf("joined:\n%s\ntogether:\n%s", got, body)
	}
	for _, want := range []string{
		"| sft | train | 22 | 2530 | 110 | 210 | bytes4 |\n", "| rl | eval | 1 | | | | |\n",
		`| sft, text | train | shop\|er 22 (100.0 %) |` + "\n", "| sft, text | train | a 11 (50.0 %), b 11 (50.0 %) |\n", "| rl | eval | hard 1 (100.0 %) |\n",
		"| config | split | rows by model |\n|---|---|---|\n| sft, text | train | not named 22 (100.0 %) |\n",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %q in\n%s", want, body)
		}
	}
	for _, c := range [][3]int64{{22, 90, 19}, {7, 90, 6}, {10, 90, 8}, {1, 50, 0}, {4, 50, 1}} {
		if got := figures.Rank(c[0], c[1]); got != c[2] {
			t.Errorf("%d %% of %d values: position %d, want %d", c[1], c[0], got, c[2])
		}
	}
}

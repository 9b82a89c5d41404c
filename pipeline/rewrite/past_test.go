package rewrite

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
)

// TestPromptsHoldNothingLater holds that no prompt, for writing or for choosing, has a result of
// its own step or of a later one, or a thought of the log.
func TestPromptsHoldNothingLater(t *testing.T) {
	t.Parallel()
	var turns []arena.Turn
	for i := range 6 {
		turns = append(turns, arena.Turn{Think: fmt.Sprint("PROGRAM", i), Text: fmt.Sprint("ALOUD", i), Calls: []arena.Call{
			{
				Name:      "find_product",
				Arguments: arena.Raw(fmt.Sprintf(`{"q":"ARGUMENT%d"}`, i)),
				Result:    arena.Raw(fmt.Sprintf(`"RESULT%d"`, i)),
			},
		}})
	}
	p := past{request: "the request"}
	for i, turn := range turns {
		next := newMove(turn.Calls)
		writes := p.toWrite(next)
		chooses := p.toChoose("a thought", []move{next, "other()\n"})
		for k := range turns {
			for _, prompt := range []string{writes, chooses} {
				if has := strings.Contains(prompt, fmt.Sprint("RESULT", k)); has != (k < i) {
					t.Errorf("step %d: result %d is shown: %v", i, k, has)
				}
				if has := strings.Contains(prompt, fmt.Sprint("ARGUMENT", k)); has != (k <= i) {
					t.Errorf("step %d: call %d is shown: %v", i, k, has)
				}
				if strings.Contains(prompt, "PROGRAM") || strings.Contains(prompt, "ALOUD") {
					t.Errorf("step %d: words of the program are shown", i)
				}
			}
		}
		p = p.next(fmt.Sprint("thought", i), turn.Calls)
	}
}

// TestUnheldNamesItsSource holds that the data of a thought are in the preceding texts, or that the
// result names their source.
func TestUnheldNamesItsSource(t *testing.T) {
	t.Parallel()
	call := arena.Turn{Calls: []arena.Call{{
		Name:      "find_product",
		Arguments: `{"q":"lamp"}`,
		Result:    `[{"product_id":"1111111","title":"Zati brass lamp","price":93.99}]`,
	}}}
	later := []arena.Turn{{Calls: []arena.Call{{
		Name:      "find_product",
		Arguments: `{"q":"lamp","page":2}`,
		Result:    `[{"product_id":"2222222","title":"Mota lamp","price":41.5}]`,
	}}}}
	problem := &arena.Problem{Rewards: []arena.Reward{{
		ProductID: "3333333",
		Raw:       `{"product_id":"3333333"}`,
	}}}
	p := past{request: "A lamp for less than 500 PHP, please."}.next("", call.Calls)
	for thought, want := range map[string]string{
		"1111111 at 93.99 is below 500; is there another?": "",
		"2222222 will be cheaper.":                         reasonLater,
		"3333333 is the one.":                              reasonGold,
		"It should cost 77.25 somewhere.":                  reasonInvented,
	} {
		if got := p.unsupportedReason(thought, newMove(later[0].Calls), later, problem); got != want {
			t.Errorf("%q: %q, want %q", thought, got, want)
		}
	}
	if got := (past{request: p.request}).unsupportedReason("1111111 is the one.", newMove(call.Calls), []arena.Turn{call}, problem); got != reasonLater {
		t.Errorf("before any result: %q", got)
	}
}

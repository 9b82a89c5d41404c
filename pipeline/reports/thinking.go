package reports

import (
	"fmt"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/pipeline/block"
)

// Thinking says how many attempts have thinking that a model said, as far as their logs can
// tell.
type Thinking struct {
	// Read counts the attempts with a dialogue, Kept those of them that are rows of config
	// sft.
	Read ThinkingCounts `json:"read"`
	Kept ThinkingCounts `json:"kept"`
}

// ThinkingCounts counts attempts by whose their thinking is.
type ThinkingCounts struct {
	Attempts int `json:"attempts"`
	// Unsaid counts those whose thinking stands in no reply of the log: their rows have no
	// thinking, and they have no grade. Unmeasured counts those whose log cannot tell, and Open those
	// of them that have thinking: their logs lack replies, or parts of them.
	Unsaid     int `json:"thinking_unsaid"`
	Unmeasured int `json:"unmeasured"`
	Open       int `json:"open"`
}

// add adds an attempt to the counts of attempts by whether a model wrote their thinking. It ignores
// an attempt without a dialogue. isKept reports whether the attempt is a row of config sft, for
// which there are separate counts.
func (t *Thinking) add(x *block.Entry, isKept bool) {
	if !x.HasDialogue {
		return
	}
	t.Read.add(x)
	if isKept {
		t.Kept.add(x)
	}
}

func (c *ThinkingCounts) add(x *block.Entry) {
	c.Attempts++
	if x.Structure.ThinkingUnsaid == nil {
		c.Unmeasured++
	}
	if x.Origin == arena.OriginOpen {
		c.Open++
	}
	if x.Structure.ThinkingStripped {
		c.Unsaid++
	}
}

// text returns the dataset card's paragraph on how many attempts have thinking that no model wrote.
func (t *Thinking) text() string {
	k := t.Kept
	return fmt.Sprintf(
		"\nOnly thinking that a model wrote is graded and kept. Of the %d attempts in config sft, %d have no grade and their thinking was removed, because no model reply in their log contains it (thinking_unsaid; %d of all %d attempts with a dialogue). For %d (%.1f %%) the log cannot show it: %d have thinking and a log that lacks replies or parts of them, the others no sentence of four words.\n",
		k.Attempts,
		k.Unsaid,
		t.Read.Unsaid,
		t.Read.Attempts,
		k.Unmeasured,
		100*float64(k.Unmeasured)/float64(max(k.Attempts, 1)),
		k.Open,
	)
}
